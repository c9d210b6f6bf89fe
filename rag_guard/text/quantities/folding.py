"""A shadow of the text, one code point per code point, in which scripts and typography no longer differ.

Every pattern of the scanner runs on the shadow, and because it has the length of the original, an
offset found there is an offset in the original.
"""

from __future__ import annotations

import unicodedata

_SPECIAL = {
    "٫": ".",
    "٬": ",",
    "٪": "%",
    "﹪": "%",
    "’": "'",
    "ʼ": "'",
    "′": "'",
    "″": '"',
    "”": '"',
    "～": "~",
    "〜": "~",
    "∼": "~",
    "−": "-",
    "﹣": "-",
    "￥": "¥",
    "￡": "£",
    "μ": "µ",
    "×": "×",
    # A full-width comma separates clauses, never digits: keep it apart from the comma of 12,500.
    "，": "，",
}


class _FoldTable(dict[int, str]):
    """Folds one code point and remembers it; every value has length one."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        decimal = unicodedata.decimal(char, None)
        category = unicodedata.category(char)
        if char in _SPECIAL:
            folded = _SPECIAL[char]
        elif decimal is not None:
            folded = str(decimal)
        elif category == "Zs":
            folded = " "
        elif category == "Pd":
            folded = "-"
        elif 0xFF01 <= code <= 0xFF5E:
            folded = chr(code - 0xFEE0).lower()
        else:
            lowered = char.lower()
            folded = lowered if len(lowered) == 1 else char
        self[code] = folded
        return folded


_TABLE = _FoldTable()


def fold(text: str) -> str:
    """Return ``text`` in lower case with ASCII digits, spaces and hyphens, its length unchanged."""
    return text.lower() if text.isascii() else text.translate(_TABLE)


def nfc(word: str) -> str:
    """Return the composed form of a word, so that both spellings of an accent meet in a table."""
    return word if word.isascii() else unicodedata.normalize("NFC", word)
