"""How relevant each evidence window is to a statement: the share of the statement's informative content it has."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from rag_guard.text.corpus import Corpus
from rag_guard.text.quantities import Quantity
from rag_guard.text.words import Word

_CONTEXT_CREDIT = 0.7  # a word found only in the heading, key or table header of a window
_NEIGHBOUR_CREDIT = 0.5  # a word found only in the sentence before or after
_QUANTITY_WEIGHT = 1.0
_PROMISING = 64


@dataclass(frozen=True)
class RankedWindow:
    """A window and how much of the statement it covers.

    Attributes:
        window: index into ``corpus.windows``.
        relevance: idf-weighted coverage of the statement's content words and quantities, in [0, 1].
        own: the part of ``relevance`` that the window's own text gives, without context and neighbours.
    """

    window: int
    relevance: float
    own: float


def rank_windows(
    words: Sequence[Word],
    quantities: Sequence[Quantity],
    corpus: Corpus,
    *,
    extra: Sequence[str] = (),
    limit: int = 6,
) -> list[RankedWindow]:
    """The ``limit`` most relevant windows for a statement, best first.

    Args:
        words: the statement's words; those inside a quantity are judged by the quantity's value instead.
        extra: further stems that belong to the statement (what its pronouns stand for); they count half.

    Ties are broken by the windows' texts, never by position, so that document order cannot change a verdict.
    """
    inside = [(quantity.start, quantity.end) for quantity in quantities]
    weights: dict[str, float] = {}
    for word in words:
        if not word.is_function and not any(s <= word.start and word.end <= e for s, e in inside):
            weights[word.stem] = corpus.idf(word.stem)
    for stem in extra:
        weights.setdefault(stem, corpus.idf(stem) / 2)
    total = sum(weights.values()) + _QUANTITY_WEIGHT * len(quantities)
    if not total:
        return []

    own: dict[int, float] = {}
    found: dict[int, set[str]] = {}
    for stem, weight in weights.items():
        for index in corpus.postings.get(stem, ()):
            own[index] = own.get(index, 0.0) + weight
            found.setdefault(index, set()).add(stem)
    for quantity in quantities:
        for index in corpus.windows_agreeing(quantity):
            own[index] = own.get(index, 0.0) + _QUANTITY_WEIGHT
            found.setdefault(index, set())

    # What context and neighbours add is worked out for the windows that can still come out on top.
    promising = own
    if len(own) > _PROMISING:
        floor = heapq.nlargest(_PROMISING, own.values())[-1]
        promising = {index: score for index, score in own.items() if score >= floor}
    ranked = []
    for index, score in promising.items():
        missing = weights.keys() - found[index]
        bonus = 0.0
        if missing:
            context = corpus.context_stems[index]
            near = corpus.neighbour_stems(index)
            for stem in missing:
                if stem in context:
                    bonus += weights[stem] * _CONTEXT_CREDIT
                elif stem in near:
                    bonus += weights[stem] * _NEIGHBOUR_CREDIT
        ranked.append(RankedWindow(index, min((score + bonus) / total, 1.0), min(score / total, 1.0)))
    ranked.sort(key=lambda item: (-round(item.relevance, 9), -round(item.own, 9), corpus.window_text(item.window)))
    return ranked[:limit]
