"""Context sensitivity: does a token become likelier once the model sees the documents?

``CSR(t_i) = log p(t_i | D, q, t_<i) / (log p(t_i | q, t_<i) + eps)`` after REFIND (Lee and Yu, SemEval-2025
task 3): small where the documents make a token likelier, around 1 where they change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_guard.decoding.smoothing import LabelPersistence
from rag_guard.detectors.answer_scorer import AnswerScorer, token_risks
from rag_guard.detectors.base import Detection
from rag_guard.errors import InvalidInputError
from rag_guard.models.generator_logprobs import GeneratedTokens, align_log_probs
from rag_guard.text.analysis import Analysis

EPSILON = 1e-8
DEFAULT_DELTA = 0.8
"""Best token F1 of the paper's rule for the default model on held-out RAGTruth QA training groups."""
_CSR_CAP = 1e6
_WINDOWS = (1, 5, 15, 41)

Rule = Literal["calibrated", "refind"]


def context_sensitivity_ratio(
    with_documents: ArrayLike, without_documents: ArrayLike, epsilon: float = EPSILON
) -> NDArray[np.float64]:
    """CSR of every token from its log-probabilities (n,) with and without the documents; (n,), in [0, inf).

    Where the token is certain without the documents (p -> 1) the paper's denominator vanishes and would
    then turn its sign. It is held at ``-epsilon``: a token that is certain in both views gets 0, and one
    that only the documents make uncertain gets a large positive ratio. Everywhere else this is the paper's
    quotient to the last digit.

    Raises:
        InvalidInputError: a log-probability is NaN or above 0, or the lengths differ.
    """
    above = np.asarray(with_documents, dtype=np.float64)
    below = np.asarray(without_documents, dtype=np.float64)
    if above.shape != below.shape:
        raise InvalidInputError(f"with_documents has shape {above.shape}, without_documents {below.shape}")
    for name, values in (("with_documents", above), ("without_documents", below)):
        if values.size and not np.max(values) <= 0.0:
            raise InvalidInputError(f"{name} has {np.max(values)}; log-probabilities are at most 0")
    # A probability of 0 is taken as the smallest that a float holds, so that no quotient is NaN.
    above, below = np.maximum(above, -745.0), np.maximum(below, -745.0)
    ratio: NDArray[np.float64] = above / np.minimum(below + epsilon, -epsilon)
    return np.abs(ratio)


@dataclass(frozen=True)
class TokenSignals:
    """Per answer token, with and without documents: log-probability, entropy and rank, each (n,)."""

    log_probs: NDArray[np.float64]
    entropies: NDArray[np.float64]
    ranks: NDArray[np.float64]
    bare_log_probs: NDArray[np.float64]
    bare_entropies: NDArray[np.float64]
    bare_ranks: NDArray[np.float64]

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """The signals of single tokens, by name."""
        with_nll, bare_nll = -self.log_probs, -self.bare_log_probs
        return {
            "log_ratio": self.log_probs - self.bare_log_probs,
            "log_csr": np.log((with_nll + 1e-3) / (bare_nll + 1e-3)),
            "nll": with_nll,
            "bare_nll": bare_nll,
            "entropy_change": self.entropies - self.bare_entropies,
            "entropy": self.entropies,
            "rank_change": np.log1p(self.ranks) - np.log1p(self.bare_ranks),
        }

    def features(self) -> NDArray[np.float64]:
        """(n, :func:`feature_names`): every signal averaged over centred windows of tokens, then less the
        answer's own mean."""
        parts: list[NDArray[np.float64]] = []
        for values in self.columns().values():
            parts.extend(moving_average(values, window) for window in _WINDOWS)
            parts.append(moving_average(values, 15) - (values.mean() if len(values) else 0.0))
        return np.stack(parts, axis=1)


def feature_names() -> list[str]:
    """Names of the columns of :meth:`TokenSignals.features`."""
    zero = np.zeros(0)
    signals = TokenSignals(zero, zero, zero, zero, zero, zero).columns()
    kinds = [*(f"mean_{window}" for window in _WINDOWS), "local"]
    return [f"{signal}:{kind}" for signal in signals for kind in kinds]


def moving_average(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """Mean over the ``window`` (odd) positions around each, over those that exist."""
    if window == 1 or not len(values):
        return values
    total = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    first = np.maximum(at - window // 2, 0)
    last = np.minimum(at + window // 2 + 1, len(values))
    mean: NDArray[np.float64] = (total[last] - total[first]) / (last - first)
    return mean


@dataclass(frozen=True)
class Calibration:
    """A logistic model of risk over :func:`feature_names`.

    Attributes:
        mean, scale, weights: (k,) each.
        intercept: log-odds at the mean.
        threshold: smoothed risk from which a token is flagged, chosen on held-out training groups.
        stay, base_rate: the chain, as in :class:`~rag_guard.decoding.smoothing.LabelPersistence`.
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: float
    threshold: float
    stay: float
    base_rate: float = 0.5

    @property
    def chain(self) -> LabelPersistence:
        """What smooths the risks."""
        return LabelPersistence(self.stay, base_rate=self.base_rate)

    def risks(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) in (0, 1)."""
        odds = ((features - self.mean) / self.scale) @ self.weights + self.intercept
        risks: NDArray[np.float64] = np.exp(-np.logaddexp(0.0, -odds))
        return risks

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(
            {
                "features": feature_names(),
                "mean": self.mean.tolist(),
                "scale": self.scale.tolist(),
                "weights": self.weights.tolist(),
                "intercept": self.intercept,
                "threshold": self.threshold,
                "stay": self.stay,
                "base_rate": self.base_rate,
            },
            indent=1,
        )

    @classmethod
    def from_json(cls, text: str) -> Calibration:
        """The inverse of :meth:`to_json`.

        Raises:
            InvalidInputError: made for other features.
        """
        stored: dict[str, Any] = json.loads(text)
        if stored["features"] != feature_names():
            raise InvalidInputError("this calibration was made for other features; fit it again")
        mean, scale, weights = (np.asarray(stored[name], np.float64) for name in ("mean", "scale", "weights"))
        numbers = (float(stored[name]) for name in ("intercept", "threshold", "stay", "base_rate"))
        return cls(mean, scale, weights, *numbers)


@lru_cache(maxsize=1)
def shipped_calibration() -> Calibration:
    """The one learnt for the default causal LM on RAGTruth training groups."""
    file = resources.files("rag_guard.detectors") / "weights" / "context_sensitivity.json"
    return Calibration.from_json(file.read_text(encoding="utf-8"))


class ContextSensitivity:
    """Flags tokens that the documents do not make likelier.

    Args:
        scorer: the causal LM, possibly shared with other detectors; None makes one with the default model.
        rule: ``"calibrated"``: a logistic model of several contrasts between the two views, smoothed.
            ``"refind"``: the paper's rule, a token is flagged where CSR >= ``delta``.
        delta: the paper's threshold; used by ``"refind"`` only.
        calibration: for ``"calibrated"``; None takes the shipped one, made for the default model.

    Risks are on a scale where 0.5 is the threshold: CSR / (CSR + delta) for ``"refind"``.

    Raises:
        InvalidInputError: unknown rule, or ``delta`` not positive.
    """

    version = "1"
    threshold = 0.5

    def __init__(
        self,
        scorer: AnswerScorer | None = None,
        *,
        rule: Rule = "calibrated",
        delta: float = DEFAULT_DELTA,
        calibration: Calibration | None = None,
    ) -> None:
        if rule not in ("calibrated", "refind"):
            raise InvalidInputError(f"rule={rule!r}; use 'calibrated' or 'refind'")
        if not delta > 0.0:
            raise InvalidInputError(f"delta={delta}; use a positive ratio")
        self.name = "context_sensitivity" if rule == "calibrated" else "context_sensitivity_refind"
        self.rule = rule
        self.delta = delta
        self.scorer = scorer or AnswerScorer()
        self.scorer.require(logits=True)
        self._calibration = calibration

    def detect(
        self, analyses: Sequence[Analysis], generated: Sequence[GeneratedTokens | None] | None = None
    ) -> list[Detection]:
        """Judge a batch.

        Args:
            generated: per answer the log-probabilities that the generator itself returned, or None. They
                stand in for the pass with documents; such an answer is judged by the paper's rule.

        Raises:
            InvalidInputError: ``generated`` has another length than ``analyses``.
        """
        if generated is None:
            return [self._judge(signals, offsets) for signals, offsets in self._signals(analyses)]
        if len(generated) != len(analyses):
            raise InvalidInputError(f"generated has {len(generated)} entries for {len(analyses)} answers; pass as many")
        results: list[Detection | None] = [None] * len(analyses)
        own = [index for index, tokens in enumerate(generated) if tokens is None]
        for index, detection in zip(own, self.detect([analyses[index] for index in own]), strict=True):
            results[index] = detection
        given = [index for index, tokens in enumerate(generated) if tokens is not None]
        for index, detection in zip(
            given,
            self._judge_generated([analyses[i] for i in given], [g for g in generated if g is not None]),
            strict=True,
        ):
            results[index] = detection
        return [result for result in results if result is not None]

    def _signals(self, analyses: Sequence[Analysis]) -> list[tuple[TokenSignals, NDArray[np.int64]]]:
        return [(signals_of(scored), scored.tokens.offsets) for scored in self.scorer.score(analyses)]

    def _judge(self, signals: TokenSignals, offsets: NDArray[np.int64]) -> Detection:
        if self.rule == "refind":
            ratio = context_sensitivity_ratio(signals.log_probs, signals.bare_log_probs)
            return Detection(token_risks(offsets, self._refind(ratio)))
        calibration = self._calibration or shipped_calibration()
        (smoothed,) = calibration.chain.smooth([calibration.risks(signals.features())])
        return Detection(token_risks(offsets, centred(smoothed, calibration.threshold)))

    def _judge_generated(self, analyses: Sequence[Analysis], generated: Sequence[GeneratedTokens]) -> list[Detection]:
        from rag_guard.models.causal_lm import ScoreRequest

        requests = [ScoreRequest(analysis.answer, (), analysis.question) for analysis in analyses]
        results = []
        for analysis, tokens, scored in zip(
            analyses, generated, self.scorer.model.score(requests, with_documents=False), strict=True
        ):
            bare = scored.without.log_probs
            assert bare is not None
            above = align_log_probs(analysis.answer, tokens, scored.tokens.offsets)
            ratio = context_sensitivity_ratio(above, np.minimum(bare, 0.0))
            results.append(Detection(token_risks(scored.tokens.offsets, self._refind(ratio))))
        return results

    def _refind(self, ratio: NDArray[np.float64]) -> NDArray[np.float64]:
        capped = np.minimum(ratio, _CSR_CAP)
        return capped / (capped + self.delta)


def signals_of(scored: Any) -> TokenSignals:
    """Signals of a :class:`~rag_guard.models.causal_lm.ScoredAnswer`.

    Over several context windows a token takes the view in which it is likeliest: one that supports it is
    enough.
    """
    views, bare = scored.with_documents, scored.without
    log_probs = np.stack([view.log_probs for view in views]).astype(np.float64)
    best = log_probs.argmax(axis=0)[None]

    def chosen(name: str) -> NDArray[np.float64]:
        stacked = np.stack([getattr(view, name) for view in views]).astype(np.float64)
        own: NDArray[np.float64] = np.take_along_axis(stacked, best, axis=0)[0]
        return own

    return TokenSignals(
        *(chosen(name) for name in ("log_probs", "entropies", "ranks")),
        *(np.asarray(getattr(bare, name), np.float64) for name in ("log_probs", "entropies", "ranks")),
    )


def centred(risks: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """Risks moved on the log-odds scale so that ``threshold`` becomes 0.5; order and range stay."""
    clipped = np.clip(risks, 1e-9, 1.0 - 1e-9)
    odds = np.log(clipped) - np.log1p(-clipped) - np.log(threshold) + np.log1p(-threshold)
    moved: NDArray[np.float64] = np.exp(-np.logaddexp(0.0, -odds))
    return moved
