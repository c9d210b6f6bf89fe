"""Learn the calibrated rule of context sensitivity from stored scores of labelled answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_guard.detectors.context_sensitivity import Calibration, TokenSignals
from rag_guard.errors import InvalidInputError
from rag_guard.evaluation.metrics import average_precision, best_threshold, token_labels
from rag_guard.evaluation.rows import LabelledExample
from rag_guard.training.features import AnswerFeatures, read_features

_STAYS = (0.5, 0.8, 0.93, 0.97, 0.993)


def stored_signals(item: AnswerFeatures) -> TokenSignals:
    """Signals of an answer whose features were stored with ``scores``.

    Raises:
        InvalidInputError: they were not.
    """
    if "scores" not in item.arrays:
        raise InvalidInputError(f"the features of {item.id} have no scores; extract them with scores=True")
    return TokenSignals(*item.arrays["scores"].astype(np.float64).T)


def fit_calibration(
    fit: Sequence[LabelledExample], holdout: Sequence[LabelledExample], folder: str | Path, *, seed: int = 0
) -> Calibration:
    """A logistic model fitted on ``fit``, its chain and threshold chosen on ``holdout`` (both with features
    in ``folder``): the chain by token average precision plus example F1, the threshold by example F1.

    Raises:
        InvalidInputError: no features, or none with scores.
    """
    from sklearn.linear_model import LogisticRegression

    features, labels, _, _ = _table(fit, folder)
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    model = LogisticRegression(C=0.1, max_iter=300, random_state=seed)
    model.fit((features - mean) / scale, labels)
    learnt = Calibration(mean, scale, model.coef_[0], float(model.intercept_[0]), 0.5, 0.5)
    held, truth, bounds, positive = _table(holdout, folder)
    raw = np.split(learnt.risks(held), bounds[1:-1])
    best: tuple[float, Calibration] | None = None
    for stay, base_rate in product(_STAYS, (0.5, float(np.clip(truth.mean(), 0.01, 0.5)))):
        candidate = replace(learnt, stay=stay, base_rate=base_rate)
        smoothed = candidate.chain.smooth(raw)
        precision = average_precision(truth, np.concatenate(smoothed)) or 0.0
        threshold, f1 = best_threshold(positive, [values.max(initial=0.0) for values in smoothed])
        if best is None or precision + f1 > best[0]:
            best = (precision + f1, replace(candidate, threshold=threshold))
    assert best is not None
    return best[1]


def _table(
    rows: Sequence[LabelledExample], folder: str | Path
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64], NDArray[np.bool_]]:
    """Features and labels of all tokens, first token of each answer, and which answers are hallucinated."""
    wanted = {row.id: row for row in rows}
    parts: list[NDArray[np.float64]] = []
    labels: list[NDArray[np.bool_]] = []
    positive: list[bool] = []
    for item in read_features(folder, dict.fromkeys(row.group for row in rows)):
        row = wanted.get(item.id)
        if row is None:
            continue
        parts.append(stored_signals(item).features())
        labels.append(token_labels(item.offsets, [(span.start, span.end) for span in row.labels or ()]))
        positive.append(bool(row.hallucinated))
    if not parts:
        raise InvalidInputError(f"{folder} has no features of these rows; extract them first")
    bounds: NDArray[Any] = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return np.concatenate(parts), np.concatenate(labels), bounds.astype(np.int64), np.array(positive)
