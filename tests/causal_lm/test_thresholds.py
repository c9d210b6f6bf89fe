"""One threshold for several tasks."""

from __future__ import annotations

import numpy as np
import pytest

from rag_guard.evaluation.rows import LabelledExample, LabelSpan
from rag_guard.training.delta_probe import ProbeData, _task_threshold


def data(tasks, truth):
    rows = [
        LabelledExample(str(i), "a", (), None, (LabelSpan(0, 1),) if bad else (), bool(bad), str(i), task=task)
        for i, (task, bad) in enumerate(zip(tasks, truth, strict=True))
    ]
    size = len(rows)
    empty = np.zeros((size, 1), dtype=np.float16)
    return ProbeData(rows, empty, np.array(truth, bool), np.arange(size + 1), np.zeros((size, 2), dtype=np.int32))


def test_a_task_full_of_hallucinations_does_not_set_the_threshold_alone():
    tasks = ["mostly bad"] * 40 + ["mostly good"] * 20
    truth = [1] * 38 + [0] * 2 + [1] * 4 + [0] * 16
    risks = np.array([0.3] * 10 + [0.9] * 28 + [0.2] * 2 + [0.9] * 4 + [0.4] * 16)
    threshold, mean = _task_threshold(data(tasks, truth), risks)
    assert threshold == pytest.approx(0.9)
    assert mean == pytest.approx((2 * 28 / (28 + 38) + 1.0) / 2)


def test_a_task_without_hallucinations_has_no_say():
    tasks = ["qa"] * 4 + ["clean"] * 4
    truth = [1, 1, 0, 0] + [0] * 4
    threshold, f1 = _task_threshold(data(tasks, truth), np.array([0.8, 0.6, 0.4, 0.2, 0.9, 0.9, 0.9, 0.9]))
    assert (threshold, f1) == (0.6, 1.0)
