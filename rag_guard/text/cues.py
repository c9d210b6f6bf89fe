"""Read a sentence as a row of cues: which words have a function in the lexicon, and which carry content."""

from __future__ import annotations

from enum import Flag, auto
from functools import lru_cache
from typing import NamedTuple

import regex

from rag_guard.text.lexicons.cues import Cues, Lexicon
from rag_guard.text.words import find_words


class Function(Flag):
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


class Token(NamedTuple):
    """One word or phrase of a sentence with all of its possible functions."""

    start: int
    end: int
    functions: Function


_FIELDS = {
    Function.COURTESY: "courtesy",
    Function.LEAD_IN: "lead_ins",
    Function.GLUE: "glue",
    Function.SOURCE: "sources",
    Function.FRAMING: "framing",
    Function.SPEAKER: "speakers",
    Function.NEGATION: "negations",
    Function.INABILITY: "inability",
    Function.UNKNOWING: "unknowing",
    Function.KNOWLEDGE: "knowledge",
    Function.OWN_KNOWLEDGE: "own_knowledge",
    Function.INFORMATION: "information",
    Function.ASSISTANCE: "assistance",
    Function.VERDICT: "verdicts",
}


def read_tokens(text: str, lexicon: Lexicon) -> list[Token]:
    """The tokens of ``text``, phrases of the lexicon as one token each, with offsets into ``text``."""
    reader = _reader(lexicon.language)
    return reader.read_spaced(text) if lexicon.spaced else reader.read_unspaced(text)


class _Reader:
    def __init__(self, lexicon: Lexicon) -> None:
        self.elisions = lexicon.elisions
        self.cues: list[tuple[Function, Cues]] = [
            (function, lexicon.cues(name)) for function, name in _FIELDS.items() if getattr(lexicon, name)
        ]
        self.words: dict[str, Function] = {}
        phrases: dict[tuple[str, ...], Function] = {}
        entries: dict[str, Function] = {}
        for function, cues in self.cues:
            for word in cues.words:
                self.words[word] = self.words.get(word, Function.NONE) | function
            for phrase in cues.phrases:
                key = tuple(phrase.split(" "))
                phrases[key] = phrases.get(key, Function.NONE) | function
            for entry in cues.entries:
                entries[entry] = entries.get(entry, Function.NONE) | function
        self.prefixes = [(cues.prefixes, function) for function, cues in self.cues if cues.prefixes]
        self.phrases: dict[str, list[tuple[tuple[str, ...], Function]]] = {}
        for key in sorted(phrases, key=len, reverse=True):
            self.phrases.setdefault(key[0], []).append((key, phrases[key]))
        self.entries = entries
        alternatives = "|".join(map(regex.escape, sorted(entries, key=len, reverse=True)))
        self.pattern = regex.compile(rf"(?P<cue>{alternatives})|\p{{Han}}|[\p{{L}}\p{{N}}\p{{M}}--\p{{Han}}]+", regex.V1)

    def read_spaced(self, text: str) -> list[Token]:
        items: list[tuple[int, int, str]] = []
        for word in find_words(text):
            if self.elisions and "'" in word.norm:
                items += [(word.start, word.end, part) for part in word.norm.split("'") if part]
            else:
                items.append((word.start, word.end, word.norm))
        tokens: list[Token] = []
        index = 0
        while index < len(items):
            start, end, norm = items[index]
            for key, functions in self.phrases.get(norm, ()):
                if tuple(item[2] for item in items[index : index + len(key)]) == key:
                    tokens.append(Token(start, items[index + len(key) - 1][1], functions))
                    index += len(key)
                    break
            else:
                tokens.append(Token(start, end, self.functions(norm)))
                index += 1
        return tokens

    def read_unspaced(self, text: str) -> list[Token]:
        return [
            Token(
                match.start(),
                match.end(),
                self.entries[match.group()] if match.group("cue") is not None else Function.NONE,
            )
            for match in self.pattern.finditer(text)
        ]

    def functions(self, norm: str) -> Function:
        found = self.words.get(norm, Function.NONE)
        for prefixes, function in self.prefixes:
            if norm.startswith(prefixes):
                found |= function
        return found


@lru_cache(maxsize=None)
def _reader(language: str) -> _Reader:
    from rag_guard.text.lexicons.cues import lexicon

    found = lexicon(language)
    assert found is not None
    return _Reader(found)
