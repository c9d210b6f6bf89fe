"""The field's measures of hallucination detection, each defined as the benchmark that uses it defines it.

Example level: an answer is positive if it has any hallucinated span (RAGTruth, Niu et al., ACL 2024). Token
level: a token is a word of the answer, positive if it overlaps a hallucinated span (CORTEX reports average
precision and AUROC of tokens and of answers, the latter with the answer's highest token score). Span level:
overlap of characters, summed over all answers (RAGTruth and LettuceDetect). Mu-SHROOM: intersection over
union and rank correlation of characters.

Measures that a sample cannot define, such as the AUROC of one class, are None, never a number that looks like
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

CALIBRATION_BINS = 15
BOOTSTRAP_RESAMPLES = 1000
_TIE_DECIMALS = 8

Spans = Sequence[tuple[int, int]]


class Scores(NamedTuple):
    """Precision, recall and their harmonic mean, each in [0, 1] and 0 where its denominator is 0."""

    precision: float
    recall: float
    f1: float


class Overlap(NamedTuple):
    """Characters that gold and predicted spans share, characters predicted, and characters in gold spans."""

    shared: float
    predicted: float
    gold: float


class Threshold(NamedTuple):
    """A decision threshold (positive at and above it) and the F1 it gives on the sample it was chosen on."""

    value: float
    f1: float


def scores_of_counts(shared: float, predicted: float, gold: float) -> Scores:
    """Precision ``shared / predicted``, recall ``shared / gold`` and their F1."""
    precision = shared / predicted if predicted else 0.0
    recall = shared / gold if gold else 0.0
    total = precision + recall
    return Scores(precision, recall, 2 * precision * recall / total if total else 0.0)


def example_scores(gold: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> Scores:
    """Scores of the positive class; ``gold`` and ``predicted`` are (n,) booleans."""
    truth, guess = np.asarray(gold, bool), np.asarray(predicted, bool)
    weight = np.ones(len(truth)) if weights is None else np.asarray(weights, float)
    return scores_of_counts(float(weight[truth & guess].sum()), float(weight[guess].sum()), float(weight[truth].sum()))


def all_positive_f1(gold: ArrayLike) -> float:
    """F1 of calling every answer hallucinated: the line any detector must beat."""
    truth = np.asarray(gold, bool)
    return example_scores(truth, np.ones(len(truth), bool)).f1


def auroc(gold: ArrayLike, risks: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """Area under the ROC curve; None unless ``gold`` has both classes (with weight).

    The share of pairs of a positive and a negative in which the positive has the higher risk, ties counting
    half (Mann-Whitney). Counted here because the bootstrap needs it thousands of times.
    """
    truth, risk = np.asarray(gold, bool), np.asarray(risks, float)
    weight = np.ones(len(truth)) if weights is None else np.asarray(weights, float)
    values, index = np.unique(risk, return_inverse=True)
    positive = np.bincount(index, weight * truth, len(values))
    negative = np.bincount(index, weight * ~truth, len(values))
    pairs = positive.sum() * negative.sum()
    if not pairs:
        return None
    return float(positive @ (negative.cumsum() - negative / 2) / pairs)


def average_precision(gold: ArrayLike, risks: ArrayLike) -> float | None:
    """Average precision ``sum_k (R_k - R_(k-1)) P_k`` without interpolation; None if nothing is positive."""
    from sklearn.metrics import average_precision_score

    truth = np.asarray(gold, bool)
    return float(average_precision_score(truth, np.asarray(risks, float))) if truth.any() else None


def token_labels(tokens: ArrayLike, spans: Spans) -> NDArray[np.bool_]:
    """Which of the ``tokens``, (n, 2) offsets, share at least one character with one of the ``spans``."""
    offsets = np.asarray(tokens, np.int64).reshape(-1, 2)
    positive = np.zeros(len(offsets), bool)
    for start, end in spans:
        positive |= (offsets[:, 0] < end) & (offsets[:, 1] > start)
    return positive


def character_overlap(gold: Spans, predicted: Spans) -> Overlap:
    """Characters shared by the spans of one answer, counted over all pairs, with both totals.

    As the public evaluation of LettuceDetect does it (``evaluate_detector_char_level`` in
    ``lettucedetect/models/evaluator.py``): totals are sums of span lengths, so a character under two gold
    spans counts twice. In RAGTruth's test split that is so in 14 of 2,700 answers.
    """
    shared = sum(max(0, min(e, end) - max(s, start)) for s, e in gold for start, end in predicted)
    return Overlap(shared, sum(end - start for start, end in predicted), sum(end - start for start, end in gold))


def span_scores(overlaps: Iterable[Overlap], weights: ArrayLike | None = None) -> Scores:
    """Character-level precision, recall and F1 over all answers together (micro), as LettuceDetect."""
    totals = np.array([*overlaps], float).reshape(-1, 3)
    if weights is not None:
        totals = totals * np.asarray(weights, float)[:, None]
    return scores_of_counts(*totals.sum(axis=0).tolist())


def expected_calibration_error(gold: ArrayLike, risks: ArrayLike, bins: int = CALIBRATION_BINS) -> float | None:
    """Expected calibration error over ``bins`` bins of equal width (Guo et al., ICML 2017); None if empty.

    The risk is read as the probability of the positive class, so a bin's gap is between its mean risk and its
    share of positives, and the error is the mean gap weighted by the number of items. Bins are ``(k/bins,
    (k+1)/bins]``, and the first has 0 too.
    """
    truth, risk = np.asarray(gold, float), np.asarray(risks, float)
    if not len(truth):
        return None
    index = np.clip(np.ceil(risk * bins).astype(int) - 1, 0, bins - 1)
    gaps = np.bincount(index, weights=truth - risk, minlength=bins)
    return float(np.abs(gaps).sum() / len(truth))


def span_iou(gold: Spans, predicted: Spans) -> float:
    """Intersection over union of one answer's characters; 1.0 if neither has any (Mu-SHROOM's scorer)."""
    truth = {index for start, end in gold for index in range(start, end)}
    guess = {index for start, end in predicted for index in range(start, end)}
    union = truth | guess
    return len(truth & guess) / len(union) if union else 1.0


def soft_correlation(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Spearman correlation of two (n_characters,) series of probabilities, as Mu-SHROOM's scorer defines it.

    Where at least one series is constant, after rounding to 8 decimals, correlation is undefined and the
    score is 1.0 if both have as many distinct values (so both are constant), else 0.0. An empty answer scores
    1.0.
    """
    from scipy.stats import spearmanr

    truth, guess = np.asarray(gold, float), np.asarray(predicted, float)
    if not len(truth):
        return 1.0
    distinct = [len(np.unique(np.round(series, _TIE_DECIMALS))) for series in (truth, guess)]
    if 1 in distinct:
        return float(distinct[0] == distinct[1])
    return float(spearmanr(truth, guess).statistic)


def character_probabilities(length: int, spans: Iterable[tuple[int, int, float]]) -> NDArray[np.float64]:
    """(length,) probabilities from ``(start, end, probability)``; later spans overwrite, the rest is 0."""
    series = np.zeros(length)
    for start, end, probability in spans:
        series[start:end] = probability
    return series


def best_threshold(gold: ArrayLike, risks: ArrayLike) -> Threshold:
    """The threshold with the highest F1 of the positive class, the highest such threshold on ties.

    Choose it on held-out training groups only: on a test split the F1 it finds is not a result.

    Raises:
        ValueError: ``gold`` has no positive.
    """
    from sklearn.metrics import precision_recall_curve

    truth = np.asarray(gold, bool)
    if not truth.any():
        raise ValueError("gold has no positive, so no threshold is better than another")
    precision, recall, thresholds = precision_recall_curve(truth, np.asarray(risks, float))
    total = np.maximum(precision + recall, np.finfo(float).tiny)
    f1 = (2 * precision * recall / total)[:-1]
    best = len(f1) - 1 - int(np.argmax(f1[::-1]))
    return Threshold(float(thresholds[best]), float(f1[best]))


def bootstrap_interval(
    groups: Sequence[str],
    statistic: Callable[[NDArray[np.float64]], float | None],
    *,
    resamples: int = BOOTSTRAP_RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of a statistic, resampling whole source groups with replacement.

    Args:
        groups: (n,) the group of each row; rows of one group are drawn together.
        statistic: maps (n,) row weights, how often each row was drawn, to the statistic, or None if it is
        undefined.

    Returns:
        Lower and upper bound, or None if no resample defines the statistic.
    """
    names, index = np.unique(np.asarray(groups), return_inverse=True)
    generator = np.random.default_rng(seed)
    draws = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=resamples)
    values = [value for draw in draws if (value := statistic(draw[index].astype(float))) is not None]
    if not values:
        return None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
