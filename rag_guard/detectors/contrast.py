"""Differences between an answer read with its documents and read without them (CORTEX)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rag_guard.models.causal_lm import AnswerView


def residual(delta: NDArray[np.float32], attention: NDArray[np.float32]) -> NDArray[np.float32]:
    """What of ``delta`` (n, width) does not arrive through earlier answer tokens: ``delta - attention @
    delta``.

    ``attention`` is (n, n), strictly lower triangular, each row summing to 1 or 0; so the residual of the
    first token is its delta.
    """
    result: NDArray[np.float32] = delta - attention @ delta
    return result


def contrast_inputs(view: AnswerView, bare: AnswerView, names: Sequence[str]) -> NDArray[np.float32]:
    """The inputs of a probe, side by side: (n, len(names) * width).

    ``delta_<layer>`` is the difference of the two views' states, ``residual_<layer>`` its contextual
    residual, and ``with_<layer>`` and ``without_<layer>`` are the states themselves.
    """
    parts = []
    for name in names:
        kind, _, number = name.rpartition("_")
        layer = int(number)
        if kind == "with":
            parts.append(view.hidden[layer])
        elif kind == "without":
            parts.append(bare.hidden[layer])
        else:
            delta = view.hidden[layer] - bare.hidden[layer]
            if kind == "residual":
                assert view.attention is not None
                delta = residual(delta, view.attention)
            parts.append(delta)
    return np.concatenate(parts, axis=1)
