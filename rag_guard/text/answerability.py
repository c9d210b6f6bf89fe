"""Do the documents answer a question? Made for one use: to tell a false abstention from an honest one.

Conservative on purpose, since an alarm at an honest "I don't know" is worse than a missed false one: a window
answers only if it has every content word of the question, and something new of the type that it asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from rag_guard.text.corpus import Corpus
from rag_guard.text.lexicons.cues import Lexicon, candidates
from rag_guard.text.quantities import Quantity
from rag_guard.text.words import Word, find_words

AnswerType = Literal["how_many", "when", "who", "where"]

_TYPES: tuple[AnswerType, ...] = ("when", "how_many", "where", "who")
_TIMES = frozenset({"date", "time"})
_AMOUNTS = frozenset({"number", "percent", "money", "measure", "fraction", "ratio"})
# Content words that a question for a person or a place must have; one alone is a topic only.
_FEWEST_SHARED = 2
# How many words from a number the thing it counts may stand.
_COUNT_REACH = 4
# A window that asks answers nothing.
_NO_STATEMENT = regex.compile(r"[?？؟]\W*\Z")


@dataclass(frozen=True)
class DocumentedAnswer:
    """A window ``documents[document].text[start:end]`` that answers, and in it the answer itself.

    Attributes:
        type: what the question asks for.
        coverage: the share of the question's content words that the window has, in [0, 1].
    """

    document: int
    start: int
    end: int
    answer_start: int
    answer_end: int
    type: AnswerType
    coverage: float


def documents_answer(question: str, corpus: Corpus) -> DocumentedAnswer | None:
    """The documents' answer to ``question``, the shortest window first, or None if none is certain.

    Reads questions for an amount, a time, a person or a place in the languages that have cue lexicons.
    Questions for a thing, a reason or a manner, and those for yes or no, have no telling type: None.
    """
    asked = _read_question(question, corpus.language)
    if asked is None:
        return None
    kind, content, norms, counted = asked
    answers: list[DocumentedAnswer] = []
    for index, window in enumerate(corpus.windows):
        own = corpus.stems[index]
        if not content <= (own | corpus.context_stems[index]) or not content & own:
            continue
        if _NO_STATEMENT.search(corpus.window_text(index)):
            continue
        words = corpus.window_words[index]
        found = _find_answer(kind, words, corpus.window_quantities[index], norms, counted, corpus)
        if found is not None:
            answers.append(DocumentedAnswer(window.document, window.start, window.end, *found, kind, 1.0))
    return min(answers, key=lambda answer: answer.end - answer.start, default=None)


def _read_question(question: str, language: str | None) -> tuple[AnswerType, set[str], set[str], str | None] | None:
    """The type asked for, the content stems, the normal forms of all words, the stem of what is counted."""
    for lexicon in candidates(language, question):
        kinds = [(kind, place) for kind in _TYPES if (place := _find_cue(question, lexicon, kind)) is not None]
        if not kinds:
            continue
        # "Where does the man who ... live?": the first question word counts, and the longest at its place.
        kind, (start, end) = min(kinds, key=lambda item: (item[1][0], item[1][0] - item[1][1]))
        words = find_words(question, language)
        content = {word.stem for word in words if not word.is_function and not start <= word.start < end}
        behind = next((word for word in words if word.start >= end), None)
        counted = behind.stem if kind == "how_many" and behind is not None and not behind.is_function else None
        if len(content) < (1 if kind in ("how_many", "when") else _FEWEST_SHARED):
            return None
        return kind, content, {word.norm for word in words}, counted
    return None


def _find_cue(question: str, lexicon: Lexicon, kind: str) -> tuple[int, int] | None:
    """The first question word of a kind; in languages with spaces only whole words."""
    text = question.casefold()
    best: tuple[int, int] | None = None
    for entry in lexicon.cues(kind).entries:
        place = text.find(entry)
        while place >= 0:
            end = place + len(entry)
            whole = not (text[place - 1 : place].isalnum() or text[end : end + 1].isalnum())
            if whole or not lexicon.spaced:
                if best is None or (place, -end) < (best[0], -best[1]):
                    best = (place, end)
                break
            place = text.find(entry, end)
    return best


def _find_answer(
    kind: AnswerType,
    words: Sequence[Word],
    quantities: Sequence[Quantity],
    norms: set[str],
    counted: str | None,
    corpus: Corpus,
) -> tuple[int, int] | None:
    """The first part of a window that is new to the question and of the type asked for."""
    if kind in ("how_many", "when"):
        wanted = _TIMES if kind == "when" else _AMOUNTS
        for quantity in quantities:
            inside = [word.norm for word in words if quantity.start <= word.start < quantity.end]
            if quantity.kind not in wanted or norms.intersection(inside):
                continue
            if quantity.kind != "number" or counted is None or _counts(quantity, counted, words):
                return quantity.start, quantity.end
        return None
    new = [
        word.norm not in norms
        and not word.is_function
        and not any(quantity.start <= word.start < quantity.end for quantity in quantities)
        for word in words
    ]
    for place, word in enumerate(words):
        if new[place] and _is_name(word, place, corpus):
            # The whole run of capitals is the name; one that opens the sentence only joins it.
            first = place - 1 if place == 1 and new[0] and words[0].text[0].isupper() else place
            last = place
            while last + 1 < len(words) and new[last + 1] and words[last + 1].text[0].isupper():
                last += 1
            return words[first].start, words[last].end
    return None


def _counts(quantity: Quantity, counted: str, words: Sequence[Word]) -> bool:
    """Whether a bare number stands close to the thing it should count."""
    behind = [word.stem for word in words if word.start >= quantity.end][:_COUNT_REACH]
    before = [word.stem for word in words if word.end <= quantity.start][-_COUNT_REACH:]
    return counted in behind or counted in before


def _is_name(word: Word, place: int, corpus: Corpus) -> bool:
    """Whether a word looks like a name: a capital inside a sentence, or everywhere in the documents."""
    return word.text[0].isupper() and (place > 0 or corpus.is_cased_name(word.norm))
