"""The one protocol every detector follows: analysed examples in, one risk per answer token out, with its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_guard.schema import Entity, Evidence, SpanLabel
from rag_guard.text.analysis import Analysis


@dataclass(frozen=True)
class TokenRisks:
    """Risks of one answer's tokens, in whatever tokens the detector has.

    Attributes:
        offsets: (n, 2) code-point offsets into the answer, sorted, half-open, non-overlapping.
        risks: (n,) in [0, 1].
    """

    offsets: NDArray[np.int64]
    risks: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.offsets.ndim != 2 or self.offsets.shape != (len(self.risks), 2):
            raise ValueError(f"offsets must be ({len(self.risks)}, 2), got {self.offsets.shape}")


@dataclass(frozen=True)
class Finding:
    """A detector's reason for a risk: the answer range it is about, and what the documents have.

    ``expected`` is the documents' own value for the range, where they name one.
    """

    start: int
    end: int
    label: SpanLabel
    score: float
    evidence: tuple[Evidence, ...] = ()
    expected: str | None = None
    explanation: str = ""


@dataclass(frozen=True)
class Detection:
    """What one detector says of one answer."""

    tokens: TokenRisks
    findings: tuple[Finding, ...] = ()
    entities: tuple[Entity, ...] = ()
    warnings: tuple[str, ...] = ()


@runtime_checkable
class Detector(Protocol):
    """A hallucination detector.

    Attributes:
        name: short, stable, used in votes and thresholds.
        version: changes whenever scores change.
        threshold: risk at and above which this detector alone would flag a token.
    """

    name: str
    version: str
    threshold: float

    def detect(self, analyses: Sequence[Analysis]) -> list[Detection]:
        """Judge a batch: one detection per analysis, in order. Must be safe to call from many threads at once."""
        ...
