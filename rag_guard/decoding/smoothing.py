"""Label persistence: a hallucination is a stretch of tokens, so let neighbours decide together (CORTEX).

A two-state Markov chain (supported, hallucinated) whose label stays the same from one token to the next with
probability ``stay``; each token's raw risk is its emission. The smoothed risk is the posterior given the
whole answer, by forward-backward in log space. For two states every message is one log-odds, so the
recursion is two ``logaddexp`` per token over the whole batch. Works on any detector's risks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_guard.errors import InvalidInputError

STAY_FOR_TOKENS = 0.993
"""The paper's stay probability where tokens are ranked."""
STAY_FOR_ANSWERS = 0.930
"""The paper's stay probability where answers are ranked by their highest token risk."""

_CLIP = 1e-6

Aggregate = Literal["max", "mean", "noisy_or"]


@dataclass(frozen=True)
class LabelPersistence:
    """The chain.

    Attributes:
        stay: probability in (0, 1) that the next token has the same label.
        stay_hallucinated: the same for hallucinated tokens alone; None means ``stay`` holds for both, as in
            the paper.
        base_rate: share of hallucinated tokens that the raw risks already assume, in (0, 1). Their odds are
            divided by it, so that they act as likelihoods; 0.5, the paper's reading, takes the risks as
            likelihoods as they are.

    Raises:
        InvalidInputError: a probability is not strictly between 0 and 1.
    """

    stay: float = STAY_FOR_TOKENS
    stay_hallucinated: float | None = None
    base_rate: float = 0.5

    def __post_init__(self) -> None:
        for name in ("stay", "stay_hallucinated", "base_rate"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < 1.0:
                raise InvalidInputError(f"{name}={value}; use a probability strictly between 0 and 1")

    def smooth(self, risks: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
        """Posterior risks of every answer, each (n,) in [0, 1], shapes as given; an answer may be empty.

        Raises:
            InvalidInputError: a risk is NaN or outside [0, 1].
        """
        sequences = [_checked(values, index) for index, values in enumerate(risks)]
        lengths = [len(values) for values in sequences]
        if not any(lengths):
            return sequences
        # Padding emits nothing (log-odds 0), and a message from nothing says nothing: no mask is needed.
        emissions = np.zeros((max(lengths), len(sequences)))
        shift = _logit(np.asarray(self.base_rate))
        for column, values in enumerate(sequences):
            emissions[: len(values), column] = _logit(np.clip(values, _CLIP, 1.0 - _CLIP)) - shift
        odds = self._forward_backward(emissions)
        return [_expit(odds[:length, column]) for column, length in enumerate(lengths)]

    def _forward_backward(self, emissions: NDArray[np.float64]) -> NDArray[np.float64]:
        staying = self.stay if self.stay_hallucinated is None else self.stay_hallucinated
        stay_0, leave_0 = np.log(self.stay), np.log1p(-self.stay)
        stay_1, leave_1 = np.log(staying), np.log1p(-staying)
        # The chain starts in its own long-run shares, so that no position is special.
        message = np.full(emissions.shape[1], leave_0 - leave_1)
        forward = np.empty_like(emissions)
        for position, emission in enumerate(emissions):
            if position:
                before = forward[position - 1]
                message = np.logaddexp(before + stay_1, leave_0) - np.logaddexp(before + leave_1, stay_0)
            forward[position] = message + emission
        backward = np.zeros_like(emissions)
        for position in range(len(emissions) - 2, -1, -1):
            after = emissions[position + 1] + backward[position + 1]
            backward[position] = np.logaddexp(after + stay_1, leave_1) - np.logaddexp(after + leave_0, stay_0)
        return forward + backward


def smooth(risks: Sequence[ArrayLike], stay: float = STAY_FOR_TOKENS) -> list[NDArray[np.float64]]:
    """Posterior risks of every answer under a symmetric chain; see :class:`LabelPersistence`."""
    return LabelPersistence(stay).smooth(risks)


def fit_persistence(labels: Sequence[ArrayLike], *, symmetric: bool = False) -> LabelPersistence:
    """The chain most likely to have made ``labels`` (per answer 0/1 per token), each transition counted
    once more.

    Args:
        labels: one sequence per answer; sequences shorter than two tokens say nothing.
        symmetric: one stay probability for both states, as in the paper.
    """
    counts = np.ones((2, 2))
    for sequence in labels:
        states = np.asarray(sequence, dtype=np.int64)
        if len(states) > 1:
            np.add.at(counts, (states[:-1], states[1:]), 1)
    if symmetric:
        return LabelPersistence(float(np.trace(counts) / counts.sum()))
    stay, stay_hallucinated = np.diag(counts) / counts.sum(axis=1)
    return LabelPersistence(float(stay), float(stay_hallucinated))


def aggregate(
    offsets: NDArray[np.int64], risks: NDArray[np.float64], ranges: NDArray[np.int64], how: Aggregate = "max"
) -> NDArray[np.float64]:
    """One risk per range (a word, a sentence) from the tokens that overlap it; 0 where none does.

    Args:
        offsets: (n, 2) sorted code-point offsets of the tokens.
        risks: (n,) in [0, 1].
        ranges: (m, 2) code-point ranges.
        how: ``max``; ``mean`` over characters; ``noisy_or``, the probability that any token is hallucinated
            were they independent.

    Raises:
        InvalidInputError: for another ``how``.
    """
    if how not in ("max", "mean", "noisy_or"):
        raise InvalidInputError(f"how={how!r}; use max, mean or noisy_or")
    result = np.zeros(len(ranges))
    if not len(offsets):
        return result
    first = np.searchsorted(offsets[:, 1], ranges[:, 0], side="right")
    last = np.searchsorted(offsets[:, 0], ranges[:, 1], side="left")
    for index, (low, high) in enumerate(zip(first, last, strict=True)):
        if low >= high:
            continue
        own = risks[low:high]
        if how == "max":
            result[index] = own.max()
        elif how == "noisy_or":
            result[index] = 1.0 - np.prod(1.0 - own)
        else:
            start, end = ranges[index]
            shared = np.minimum(offsets[low:high, 1], end) - np.maximum(offsets[low:high, 0], start)
            result[index] = np.average(own, weights=shared) if shared.sum() > 0 else own.mean()
    return result


def _checked(values: ArrayLike, index: int) -> NDArray[np.float64]:
    risks = np.asarray(values, dtype=np.float64).reshape(-1)
    if len(risks) and not (np.min(risks) >= 0.0 and np.max(risks) <= 1.0):
        raise InvalidInputError(f"risks[{index}] ranges over [{np.min(risks)}, {np.max(risks)}]; use risks in [0, 1]")
    return risks


def _logit(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    odds: NDArray[np.float64] = np.log(probability) - np.log1p(-probability)
    return odds


def _expit(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    risks: NDArray[np.float64] = np.exp(-np.logaddexp(0.0, -odds))
    return risks
