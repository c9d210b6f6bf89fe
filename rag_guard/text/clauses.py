"""Where a sentence falls into clauses that stand alone; conservative: a wrong cut makes half claims."""

from __future__ import annotations

import regex

from rag_guard.text.lexicons.cues import Lexicon
from rag_guard.text.words import normalize

_SEMICOLON = regex.compile(r"[;；]\s*")
_COMMA = regex.compile(r"[,،，]\s*")
_WORDS = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.\-]*")
_BRACKETS = regex.compile(r"[()\[\]{}（）“”«»「」\"`]")
_OPENERS = "([{（“«「"
_CLOSERS = ")]}）”»」"
_LOOK_AHEAD = 140
_SHORTEST_CLAUSE = 3
# How far behind a conjunction its finite verb may stand, in words.
_VERB_REACH = 7


def clause_cuts(text: str, start: int, end: int, lexicons: tuple[Lexicon, ...]) -> list[tuple[int, int]]:
    """Ranges of the separators between independent clauses of ``text[start:end]``, in order.

    A semicolon separates in any language. A comma does before a conjunction that is followed by a new subject
    and a finite verb ("..., but it is ..."), and behind a concessive clause that opens the sentence
    ("Although ..., ..."). Nothing inside brackets or quotes is cut.
    """
    commas = [match.span() for match in _COMMA.finditer(text, start, end)]
    cuts = [match.span() for match in _SEMICOLON.finditer(text, start, end)]
    if not commas and not cuts:
        return []
    for position, comma in enumerate(commas):
        words = _words(text, comma[1], min(end, comma[1] + _LOOK_AHEAD))
        if len(words) < _SHORTEST_CLAUSE:
            continue
        if any(_opens_clause(words, lexicon) for lexicon in lexicons) or (
            position == 0 and any(_is_concessive(text, start, comma[0], lexicon) for lexicon in lexicons)
        ):
            cuts.append(comma)
    return [cut for cut in sorted(cuts) if _is_top_level(text, start, cut[0])]


def _opens_clause(words: list[str], lexicon: Lexicon) -> bool:
    """Whether a conjunction comes first, and then a subject with its finite verb."""
    if words[0] not in lexicon.cues("adversatives") and words[0] not in lexicon.cues("conjunctions"):
        return False
    auxiliaries = lexicon.cues("auxiliaries")
    if words[1] in lexicon.cues("subjects"):
        return len(words) > _SHORTEST_CLAUSE
    verb = next((place for place, word in enumerate(words[1:_VERB_REACH], 1) if word in auxiliaries), 0)
    # "and rooms that are large" has a verb, but not as its own.
    relative = lexicon.cues("complementizers"), lexicon.cues("who"), lexicon.cues("what")
    return verb >= 2 and not any(word in cues for word in words[1:verb] for cues in relative)


def _is_concessive(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    words = _words(text, start, end)
    if len(words) < _SHORTEST_CLAUSE:
        return False
    cues = lexicon.cues("concessives")
    return words[0] in cues or any(" ".join(words[:size]) in cues.phrases for size in (2, 3))


def _is_top_level(text: str, start: int, position: int) -> bool:
    depth = 0
    quoted = False
    for match in _BRACKETS.finditer(text, start, position):
        mark = match.group()
        if mark in _OPENERS:
            depth += 1
        elif mark in _CLOSERS:
            depth = max(0, depth - 1)
        else:
            quoted = not quoted
    return depth == 0 and not quoted


def _words(text: str, start: int, end: int) -> list[str]:
    return [normalize(match.group()) for match in _WORDS.finditer(text, start, end)]
