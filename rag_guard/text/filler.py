"""Filler: greetings, offers, lead-ins and hedges, told by the content that a sentence lacks."""

from __future__ import annotations

import regex

from rag_guard.text.cues import Function, iterate_tokens, read_tokens
from rag_guard.text.lexicons.cues import Lexicon

_DIGIT = regex.compile(r"\p{N}")
_PREFIX_END = regex.compile(r"[,:!，：！、،—–]\s*")
_TRIGGERS = int(Function.COURTESY | Function.LEAD_IN | Function.FRAMING | Function.SOURCE)
_ALLOWED = int(
    _TRIGGERS
    | Function.GLUE
    | Function.SPEAKER
    | Function.ASSISTANCE
    | Function.CONJUNCTION
    | Function.COMPLEMENTIZER
    | Function.HESITATION
)
_NEGATIVE = int(Function.NEGATION | Function.INABILITY | Function.UNKNOWING | Function.OWN_KNOWLEDGE)
_COURTESY = int(Function.COURTESY)
_HESITATION = int(Function.HESITATION)
_LONGEST = 40
_LONGEST_LEAD_IN = 14
_LONGEST_PRESENTATION = 240
_LONGEST_PREFIX = 14
_LONGEST_LABEL = 3


def is_filler(sentence: str, lexicons: tuple[Lexicon, ...]) -> bool:
    """Whether nothing in ``sentence`` can be checked: all words are cues, one social or announcing."""
    if _DIGIT.search(sentence):
        return False
    return any(_is_filler(sentence, lexicon) for lexicon in lexicons)


def filler_prefix(sentence: str, lexicons: tuple[Lexicon, ...]) -> int:
    """How many characters at the start of ``sentence`` are filler ("Sure, ", "Based on the passages, ")."""
    position = 0
    while match := _PREFIX_END.search(sentence, position):
        head = sentence[position : match.start()]
        if _DIGIT.search(head) or match.end() >= len(sentence):
            break
        announces = match.group()[0] in ":："
        if not any(_is_prefix(head, lexicon, announces) for lexicon in lexicons):
            break
        position = match.end()
    return position


def is_lead_in(sentence: str, lexicons: tuple[Lexicon, ...], announces: bool) -> bool:
    """Whether a sentence that ends with a colon only announces; ``announces``: something follows it.

    A label of a few words does ("Key features:"), and so does a longer sentence that has an announcing word
    or ends in a function word ("Open a session like this:"), unless it carries a number or a name.
    """
    if not announces:
        return False
    if any(_presents_answer(sentence, lexicon) for lexicon in lexicons):
        return True
    if _DIGIT.search(sentence):
        return False
    words = sentence.split()
    if len(words) > _LONGEST_LEAD_IN or any(word[:1].isupper() and word[1:2].islower() for word in words[1:]):
        return False
    if len(words) <= _LONGEST_LABEL:
        return True
    for lexicon in lexicons:
        tokens = read_tokens(sentence, lexicon)
        if tokens and (
            tokens[-1].functions & Function.GLUE
            or any(token.functions & (Function.LEAD_IN | Function.COURTESY) for token in tokens)
        ):
            return True
    return False


def _presents_answer(sentence: str, lexicon: Lexicon) -> bool:
    """Whether a sentence presents the answer as a text ("Here is a summary of the article in 80 words"): its numbers
    and names are those of the request."""
    if len(sentence) > _LONGEST_PRESENTATION:
        return False
    tokens = read_tokens(sentence, lexicon)
    announcing = [token for token in tokens if token.functions & Function.LEAD_IN]
    opens = bool(tokens) and bool(tokens[0].functions & (Function.LEAD_IN | Function.COURTESY))
    about_text = any(token.functions & Function.SOURCE for token in tokens[1:])
    return opens and len(announcing) + about_text >= 2


def _is_filler(sentence: str, lexicon: Lexicon) -> bool:
    kinds: list[int] = []
    negations: list[int] = []
    for token in iterate_tokens(sentence, lexicon):
        functions = token.functions
        if functions & _NEGATIVE and not functions & _COURTESY:
            negations.append(len(kinds))
        elif not functions & _ALLOWED:
            return False
        kinds.append(functions)
    # "Don't hesitate to ask!" is the one negation among pleasantries; any other abstains or denies.
    if any(not any(near & _HESITATION for near in kinds[max(0, place - 2) : place + 3]) for place in negations):
        return False
    return len(kinds) <= _LONGEST and any(functions & _TRIGGERS for functions in kinds)


def _is_prefix(head: str, lexicon: Lexicon, announces: bool) -> bool:
    """Stricter than for a sentence: assents, frames that name the source, announcements before a colon."""
    if not _is_filler(head, lexicon):
        return False
    tokens = read_tokens(head, lexicon)
    kinds = 0
    for token in tokens:
        kinds |= token.functions
    framed = kinds & Function.SOURCE and kinds & Function.FRAMING
    announced = announces and kinds & Function.LEAD_IN
    return len(tokens) <= _LONGEST_PREFIX and bool(kinds & _COURTESY or framed or announced)
