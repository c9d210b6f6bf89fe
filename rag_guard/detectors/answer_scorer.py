"""One causal LM for several detectors: they say what they need, it is computed in one pass, each takes its
part.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rag_guard.detectors.base import TokenRisks
from rag_guard.errors import ModelNotFoundError
from rag_guard.text.analysis import Analysis

if TYPE_CHECKING:
    from rag_guard.models.causal_lm import CausalLM, ScoredAnswer

_KEPT_BATCHES = 2


class AnswerScorer:
    """Scores batches with a causal LM that is loaded on first use.

    Give the same scorer to several detectors, and the second one to see a batch costs no forward pass.

    Args:
        model: a loaded :class:`~rag_guard.models.causal_lm.CausalLM`, or what
            :func:`~rag_guard.models.loading.load_causal_lm` takes as ``source``; None means its default.
        options: passed to :func:`~rag_guard.models.loading.load_causal_lm`.
    """

    def __init__(self, model: CausalLM | str | None = None, **options: Any) -> None:
        self._load: Callable[[], CausalLM] | None = None
        self._model: CausalLM | None = None
        if model is None or isinstance(model, str):
            self._load = lambda: _load(model, options)
        else:
            self._model = model
        self._logits = False
        self._layers: frozenset[int] = frozenset()
        self._attention_layer: int | None = None
        self._lock = threading.RLock()
        self._kept: OrderedDict[Any, list[ScoredAnswer]] = OrderedDict()

    @property
    def model(self) -> CausalLM:
        """The causal LM; loads it if need be."""
        with self._lock:
            if self._model is None and self._load is not None:
                self._model = self._load()
            assert self._model is not None
            return self._model

    def require(self, *, logits: bool = False, layers: Sequence[int] = (), attention_layer: int | None = None) -> None:
        """Add to what every later pass computes.

        Raises:
            ValueError: another detector has asked for the attention of another layer.
        """
        with self._lock:
            if attention_layer is not None:
                if self._attention_layer not in (None, attention_layer):
                    raise ValueError(
                        f"attention of layer {self._attention_layer} is computed already, not of "
                        f"{attention_layer}; give this detector a scorer of its own"
                    )
                self._attention_layer = attention_layer
            self._logits |= logits
            self._layers |= frozenset(layers)
            self._kept.clear()

    def score(self, analyses: Sequence[Analysis]) -> list[ScoredAnswer]:
        """Both views of every answer, with all that :meth:`require` was asked for."""
        from rag_guard.models.causal_lm import ScoreRequest

        requests = [
            ScoreRequest(analysis.answer, tuple(document.text for document in analysis.documents), analysis.question)
            for analysis in analyses
        ]
        key = tuple(requests)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            scored = self.model.score(
                requests,
                logits=self._logits,
                layers=sorted(self._layers),
                attention_layer=self._attention_layer,
            )
            self._kept[key] = scored
            while len(self._kept) > _KEPT_BATCHES:
                self._kept.popitem(last=False)
            return scored

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("an AnswerScorer holds a loaded model and a lock; make a new one in each process")


def _load(source: str | None, options: dict[str, Any]) -> CausalLM:
    try:
        from rag_guard.models.loading import DEFAULT_CAUSAL_LM, load_causal_lm
    except ModuleNotFoundError as error:
        raise ModelNotFoundError(
            f"a causal LM needs {error.name}, which is not installed; pip install 'rag-guard[torch]'"
        ) from error
    return load_causal_lm(source or DEFAULT_CAUSAL_LM, **options)


def token_risks(offsets: NDArray[np.int64], risks: NDArray[np.float64]) -> TokenRisks:
    """Risks of a model's tokens as risks of text: tokens that share a character become one, with their
    highest risk.

    Args:
        offsets: (n, 2), possibly overlapping, as :class:`~rag_guard.models.prompts.TokenizedText` has them.
        risks: (n,) in [0, 1].
    """
    from rag_guard.models.prompts import character_groups

    if not len(risks):
        return TokenRisks(np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    first = np.flatnonzero(np.diff(character_groups(offsets), prepend=-1))
    merged = np.stack([np.minimum.reduceat(offsets[:, 0], first), np.maximum.reduceat(offsets[:, 1], first)], axis=1)
    return TokenRisks(merged.astype(np.int64), np.maximum.reduceat(np.asarray(risks, np.float64), first))
