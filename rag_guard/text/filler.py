"""Filler: greetings, offers, lead-ins and hedges, told by what a sentence lacks (content) and not by what it says."""

from __future__ import annotations

import regex

from rag_guard.text.cues import Function, Token, read_tokens
from rag_guard.text.lexicons.cues import Lexicon

_DIGIT = regex.compile(r"\p{N}")
_PREFIX_END = regex.compile(r"[,:!，：！、،—–]\s*")
_TRIGGERS = Function.COURTESY | Function.LEAD_IN | Function.FRAMING | Function.SOURCE
_ALLOWED = _TRIGGERS | Function.GLUE | Function.SPEAKER | Function.ASSISTANCE
_NEGATIVE = Function.NEGATION | Function.INABILITY | Function.UNKNOWING | Function.OWN_KNOWLEDGE
_LONGEST = 40
_LONGEST_LEAD_IN = 14
_LONGEST_PREFIX = 14


def is_filler(sentence: str, lexicons: tuple[Lexicon, ...]) -> bool:
    """Whether nothing in ``sentence`` can be checked: every word is a cue, one of them social or announcing."""
    if _DIGIT.search(sentence):
        return False
    return any(_is_filler(read_tokens(sentence, lexicon)) for lexicon in lexicons)


def filler_prefix(sentence: str, lexicons: tuple[Lexicon, ...]) -> int:
    """How many characters at the start of ``sentence`` are filler ("Sure, ", "Based on the passages, "); 0 if none."""
    position = 0
    while match := _PREFIX_END.search(sentence, position):
        head = sentence[position : match.start()]
        if _DIGIT.search(head) or match.end() >= len(sentence):
            break
        if not any(_is_prefix(read_tokens(head, lexicon)) for lexicon in lexicons):
            break
        position = match.end()
    return position


def is_lead_in(sentence: str, lexicons: tuple[Lexicon, ...], announces: bool) -> bool:
    """Whether a sentence that ends with a colon only announces what follows.

    A label of a few words does ("Key features:"), and so does a longer sentence with an announcing word ("Open a
    session like this:"), unless it carries a number or a name.
    """
    if _DIGIT.search(sentence):
        return False
    words = sentence.split()
    if len(words) > _LONGEST_LEAD_IN or any(word[:1].isupper() and word[1:2].islower() for word in words[1:]):
        return False
    if announces and len(words) <= 3:
        return True
    return any(
        token.functions & (Function.LEAD_IN | Function.COURTESY | Function.GLUE)
        for lexicon in lexicons
        for token in read_tokens(sentence, lexicon)[-4:]
    ) and announces


def _is_filler(tokens: list[Token]) -> bool:
    if not 0 < len(tokens) <= _LONGEST:
        return False
    triggered = False
    for token in tokens:
        functions = token.functions
        if not functions & _ALLOWED:
            return False
        # "Can't wait to help!" is filler, "I can't help with that." is a refusal; both are left to the abstentions.
        if functions & _NEGATIVE and not functions & Function.COURTESY:
            return False
        triggered = triggered or bool(functions & _TRIGGERS)
    return triggered


def _is_prefix(tokens: list[Token]) -> bool:
    """Stricter than for a sentence: assents, and frames that name the source."""
    if not 0 < len(tokens) <= _LONGEST_PREFIX or not _is_filler(tokens):
        return False
    kinds = Function.NONE
    for token in tokens:
        kinds |= token.functions
    return bool(kinds & Function.COURTESY) or (
        bool(kinds & Function.SOURCE) and bool(kinds & Function.FRAMING)
    )
