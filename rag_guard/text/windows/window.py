"""What a window is, and how the keys of structured documents read as words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

WindowKind = Literal["prose", "row", "record", "code"]
FieldValue = str | float | bool | None


@dataclass(frozen=True)
class Field:
    """One named value of a table row or of a record.

    Attributes:
        name: the words of the last key or of the column header: ``OutdoorSeating`` -> ``outdoor seating``.
        path: the words of all keys from the root, ``name`` being the last.
        start / end: range of the value in the document; for quoted strings the inside of the quotes.
        name_start / name_end: range of the key or of the header cell in the document, without quotes.
        value: str for text (escapes decoded), float for numbers, bool, or None for null, ``-`` and the like.
    """

    name: str
    path: tuple[str, ...]
    start: int
    end: int
    name_start: int
    name_end: int
    value: FieldValue

    @property
    def polarity(self) -> bool | None:
        """True or False where the value is a plain yes or no in whatever spelling, else None."""
        if isinstance(self.value, bool):
            return self.value
        if isinstance(self.value, str):
            return _POLARITY.get(self.value.strip().casefold())
        return None


@dataclass(frozen=True)
class Window:
    """A part of one document that is read as one piece of evidence.

    Attributes:
        document: index of the document.
        start / end: range in the document; never empty. Windows of one document do not overlap.
        kind: ``prose`` is one sentence, ``row`` one row of a table, ``record`` the scalar values of one
        object or of a
            list of ``key: value`` lines, ``code`` a paragraph of a code block.
        path: heading trail (prose, rows and code) and the words of the keys above it (records and the texts
        in them). fields: the named values of a row or a record. context: ranges elsewhere in the document
        that give the window its meaning: headings, the table's header row,
            the keys above it, the names of the records it belongs to.
    """

    document: int
    start: int
    end: int
    kind: WindowKind
    path: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    context: tuple[tuple[int, int], ...] = ()


_POLARITY = {
    **dict.fromkeys(("yes", "y", "true", "✓", "✔", "✔️", "✅", "☑"), True),
    **dict.fromkeys(("no", "n", "false", "✗", "✘", "✕", "❌", "none"), False),
}

_WORD = re.compile(r"[^\W_]+|[%€$£¥°]")
_UPPER = re.compile(r"[A-ZÀ-ÖØ-Þ]")
_CAMEL = re.compile(
    r"(?<=[^\W\d_A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ])"  # outdoor|Seating
    r"|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][^\W\d_A-ZÀ-ÖØ-Þ])"  # HTTP|Server
    r"|(?<=\d)(?=[A-ZÀ-ÖØ-Þ][a-z])"  # top10|Items
)


@lru_cache(maxsize=4096)
def split_identifier(name: str) -> str:
    """The lower-case words of a key in camelCase, snake_case, kebab-case or plain words.

    >>> split_identifier("RestaurantsGoodForGroups")
    'restaurants good for groups'
    >>> split_identifier("height_m"), split_identifier("HTTPServer"), split_identifier("WiFi")
    ('height m', 'http server', 'wifi')
    """
    words: list[str] = []
    for match in _WORD.finditer(name):
        words.extend(_split_camel_case(match.group()))
    return " ".join(words).lower() if words else name.strip().lower()


def _split_camel_case(word: str) -> list[str]:
    if not _UPPER.search(word, 1):
        return [word]
    pieces: list[str] = []
    for piece in _CAMEL.split(word):
        # "iPhone" and "WiFi" are one word each: a split after a lone letter, or between two
        # capitalised pairs, is none.
        if pieces and (
            (len(pieces[-1]) == 1 and pieces[-1].islower())
            or (len(pieces[-1]) == 2 and len(piece) == 2 and pieces[-1].istitle() and piece.istitle())
        ):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces
