"""Differences between an answer read with its documents and read without them (CORTEX)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def residual(delta: NDArray[np.float32], attention: NDArray[np.float32]) -> NDArray[np.float32]:
    """What of ``delta`` (n, width) does not arrive through earlier answer tokens: ``delta - attention @
    delta``.

    ``attention`` is (n, n), strictly lower triangular, each row summing to 1 or 0; so the residual of the
    first token is its delta.
    """
    result: NDArray[np.float32] = delta - attention @ delta
    return result
