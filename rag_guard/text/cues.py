"""Read a sentence as a row of cues: which words have a function in the lexicon, and which carry content."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntFlag, auto
from functools import cache, lru_cache
from typing import NamedTuple

import regex

from rag_guard.text.lexicons.cues import Cues, Lexicon, lexicon
from rag_guard.text.words import find_words


class Function(IntFlag):
    """What a word can do in filler and in abstentions; a word without any is content."""

    NONE = 0
    COURTESY = auto()
    LEAD_IN = auto()
    GLUE = auto()
    SOURCE = auto()
    FRAMING = auto()
    SPEAKER = auto()
    NEGATION = auto()
    INABILITY = auto()
    UNKNOWING = auto()
    KNOWLEDGE = auto()
    OWN_KNOWLEDGE = auto()
    INFORMATION = auto()
    ASSISTANCE = auto()
    VERDICT = auto()
    CONJUNCTION = auto()
    COMPLEMENTIZER = auto()
    HESITATION = auto()
    ADDRESSEE = auto()
    SAYING = auto()


class Token(NamedTuple):
    """One word or phrase of a sentence with all of its possible functions (a union of :class:`Function`)."""

    start: int
    end: int
    functions: int


# As plain integers: operations on enum members cost more than all the rest.
_FIELDS = (
    (int(Function.COURTESY), "courtesy"),
    (int(Function.LEAD_IN), "lead_ins"),
    (int(Function.GLUE), "glue"),
    (int(Function.SOURCE), "sources"),
    (int(Function.FRAMING), "framing"),
    (int(Function.SPEAKER), "speakers"),
    (int(Function.NEGATION), "negations"),
    (int(Function.INABILITY), "inability"),
    (int(Function.UNKNOWING), "unknowing"),
    (int(Function.KNOWLEDGE), "knowledge"),
    (int(Function.OWN_KNOWLEDGE), "own_knowledge"),
    (int(Function.INFORMATION), "information"),
    (int(Function.ASSISTANCE), "assistance"),
    (int(Function.VERDICT), "verdicts"),
    (int(Function.CONJUNCTION), "adversatives"),
    (int(Function.CONJUNCTION), "conjunctions"),
    (int(Function.CONJUNCTION), "concessives"),
    (int(Function.COMPLEMENTIZER), "complementizers"),
    (int(Function.HESITATION), "hesitations"),
    (int(Function.ADDRESSEE), "addressees"),
    (int(Function.SAYING), "sayings"),
)


def read_tokens(text: str, lexicon: Lexicon) -> list[Token]:
    """The tokens of ``text``, phrases of the lexicon as one token each, with offsets into ``text``."""
    return list(iterate_tokens(text, lexicon))


def iterate_tokens(text: str, lexicon: Lexicon) -> Iterator[Token]:
    """:func:`read_tokens` one by one, for readers that stop at the first word of content."""
    reader = _reader(lexicon.language)
    return reader.read_spaced(text) if lexicon.spaced else reader.read_unspaced(text)


class _Reader:
    """A lexicon turned into look-up tables."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._elisions = lexicon.elisions
        self._known: dict[str, int] = {}
        self._prefixes: list[tuple[tuple[str, ...], int]] = []
        phrases: dict[tuple[str, ...], int] = {}
        self._entries: dict[str, int] = {}
        for function, name in _FIELDS:
            cues: Cues = lexicon.cues(name)
            for word in cues.words:
                self._known[word] = self._known.get(word, 0) | function
            for phrase in cues.phrases:
                key = tuple(phrase.split(" "))
                phrases[key] = phrases.get(key, 0) | function
            for entry in cues.entries:
                self._entries[entry] = self._entries.get(entry, 0) | function
            if cues.prefixes:
                self._prefixes.append((cues.prefixes, function))
        self._phrases: dict[str, list[tuple[tuple[str, ...], int]]] = {}
        for key in sorted(phrases, key=len, reverse=True):
            self._phrases.setdefault(key[0], []).append((key, phrases[key]))
        alternatives = "|".join(map(regex.escape, sorted(self._entries, key=len, reverse=True)))
        # A cue, or else one ideograph, or else a run of other letters: the longest cue wins.
        self._pattern = regex.compile(
            rf"(?P<cue>{alternatives})|\p{{Han}}|[\p{{L}}\p{{N}}\p{{M}}--\p{{Han}}]+", regex.V1
        )

    def read_spaced(self, text: str) -> Iterator[Token]:
        items = _items(text, self._elisions)
        index = 0
        while index < len(items):
            start, end, norm = items[index]
            for key, functions in self._phrases.get(norm, ()):
                if tuple(item[2] for item in items[index : index + len(key)]) == key:
                    yield Token(start, items[index + len(key) - 1][1], functions)
                    index += len(key)
                    break
            else:
                yield Token(start, end, self._functions(norm))
                index += 1

    def read_unspaced(self, text: str) -> Iterator[Token]:
        for match in self._pattern.finditer(text):
            cue = match.group("cue")
            yield Token(match.start(), match.end(), self._entries[cue] if cue is not None else 0)

    def _functions(self, norm: str) -> int:
        found = self._known.get(norm, 0)
        for prefixes, function in self._prefixes:
            if norm.startswith(prefixes):
                found |= function
        return found


@cache
def _reader(language: str) -> _Reader:
    found = lexicon(language)
    if found is None:
        raise LookupError(f"no lexicon for language={language!r}")
    return _Reader(found)


@lru_cache(maxsize=256)
def _items(text: str, elisions: bool) -> tuple[tuple[int, int, str], ...]:
    """Start, end and normal form of every word; several lexicons read the same sentence."""
    items: list[tuple[int, int, str]] = []
    for word in find_words(text):
        if elisions and "'" in word.norm:
            items += [(word.start, word.end, part) for part in word.norm.split("'") if part]
        else:
            items.append((word.start, word.end, word.norm))
    return tuple(items)
