"""Do the documents answer a question? Made for one use: to tell a false abstention from an honest one.

Conservative on purpose: a window answers only if it has every content word of the question and something new of the
type that the question asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag_guard.text.corpus import Corpus
from rag_guard.text.lexicons.cues import Lexicon, candidates
from rag_guard.text.quantities import Quantity
from rag_guard.text.words import Word, find_words

AnswerType = Literal["how_many", "when", "who", "where", "what"]
_TYPES: tuple[AnswerType, ...] = ("how_many", "when", "who", "where", "what")
_COVERAGE = 1.0


@dataclass(frozen=True)
class DocumentedAnswer:
    """A window ``document[start:end]`` that answers, and in it the answer itself.

    Attributes:
        coverage: the share of the question's content words that the window has, in [0, 1].
    """

    document: int
    start: int
    end: int
    answer_start: int
    answer_end: int
    coverage: float


def documents_answer(question: str, corpus: Corpus) -> DocumentedAnswer | None:
    """The documents' answer to ``question``, or None if none is certain.

    Works for questions about a quantity, a time or a person in languages that have cue lexicons; the other questions
    ("why", yes or no) have no telling type.
    """
    language = corpus.language
    for lexicon in candidates(language, question):
        asked = _asked_type(question, lexicon)
        if asked is not None:
            break
    else:
        return None
    kind, asking = asked
    words = find_words(question, language)
    content = {
        word.stem
        for word in words
        if not word.is_function and not any(s <= word.start and word.end <= e for s, e in asking)
    }
    if not content:
        return None
    known = {word.norm for word in words}
    best: DocumentedAnswer | None = None
    for index, window in enumerate(corpus.windows):
        stems = corpus.stems[index]
        coverage = len(content & stems) / len(content)
        if coverage < _COVERAGE:
            continue
        answer = _answer_in(kind, corpus.window_words[index], corpus.window_quantities[index], known)
        if answer is not None and (best is None or window.end - window.start < best.end - best.start):
            best = DocumentedAnswer(window.document, window.start, window.end, *answer, coverage)
    return best


def _asked_type(question: str, lexicon: Lexicon) -> tuple[AnswerType, list[tuple[int, int]]] | None:
    """The type of answer that a question asks for, and the ranges of its question words."""
    text = question.casefold()
    for kind in _TYPES:
        cues = lexicon.cues(kind)
        for entry in cues.entries:
            place = text.find(entry)
            while place >= 0:
                end = place + len(entry)
                whole = not lexicon.spaced or (
                    not text[place - 1 : place].isalnum() and not text[end : end + 1].isalnum()
                )
                if whole:
                    return kind, [(place, end)]
                place = text.find(entry, end)
    return None


def _answer_in(
    kind: AnswerType, words: list[Word], quantities: list[Quantity], known: set[str]
) -> tuple[int, int] | None:
    if kind in ("how_many", "when"):
        wanted = ("date", "time") if kind == "when" else None
        for quantity in quantities:
            if any(word.norm in known for word in words if quantity.start <= word.start < quantity.end):
                continue
            is_time = quantity.kind in ("date", "time")
            if (wanted is not None) == is_time:
                return quantity.start, quantity.end
        return None
    if kind == "who":
        names = [
            word
            for position, word in enumerate(words)
            if word.text[:1].isupper() and word.norm not in known and not word.is_function and position > 0
        ]
        return (names[0].start, names[-1].end) if names else None
    return None
