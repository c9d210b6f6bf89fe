"""Project every detector's token risks on the answer's words, and combine those that ran into one risk per word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_guard.detectors.base import TokenRisks
from rag_guard.text.words import Word


def project(tokens: TokenRisks, words: Sequence[Word]) -> NDArray[np.float64]:
    """Risks of a detector's own tokens on the answer's words: (n_words,), the maximum over overlapping tokens.

    Words that no token overlaps get 0.
    """
    risks = np.zeros(len(words))
    if not len(tokens.risks) or not words:
        return risks
    starts = np.fromiter((word.start for word in words), np.int64, len(words))
    ends = np.fromiter((word.end for word in words), np.int64, len(words))
    # Both are sorted and non-overlapping, so the words a token overlaps are one run.
    first = np.searchsorted(ends, tokens.offsets[:, 0], side="right")
    last = np.searchsorted(starts, tokens.offsets[:, 1], side="left")
    width = last - first
    for offset in range(int(width.max(initial=0))):
        touches = width > offset
        np.maximum.at(risks, first[touches] + offset, tokens.risks[touches])
    return risks


def combine(votes: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """One risk per word from every detector's: the mean of those that ran, each on its own calibrated scale."""
    return np.asarray(np.mean(np.stack(list(votes.values())), axis=0), dtype=np.float64)
