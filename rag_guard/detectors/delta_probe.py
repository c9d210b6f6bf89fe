"""The delta probe: how documents change a causal LM's reading of the answer, classified token by token
(CORTEX).

The answer is read twice, with the documents and without them. Where a token rests on the documents its
hidden state moves, ``delta_i = h_i^ref - h_i^noref``; the contextual residual ``c_i = delta_i - sum_{j<i}
w_ij delta_j`` is what of that does not merely arrive through earlier answer tokens. A small classifier
reads both, and label persistence smooths its risks.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_guard.decoding.smoothing import LabelPersistence
from rag_guard.detectors.answer_scorer import AnswerScorer, token_risks
from rag_guard.detectors.base import Detection
from rag_guard.detectors.context_sensitivity import centred
from rag_guard.detectors.contrast import contrast_inputs
from rag_guard.errors import InvalidInputError
from rag_guard.text.analysis import Analysis

if TYPE_CHECKING:
    from rag_guard.detectors.probe import Probe

SHIPPED_PROBE = "delta_probe_smollm2_135m.safetensors"


class DeltaProbe:
    """Flags tokens by how the documents change their representation.

    Over several context windows a token takes its lowest risk: a window that supports it is enough.

    Args:
        scorer: the causal LM, possibly shared with other detectors; None makes one with the default model.
        probe: a trained probe or the file of one; None takes the shipped one, made for the default model.
        persistence: the label chain; None takes the one that the probe was fitted with.

    Risks are on a scale where 0.5 is the threshold that was chosen on held-out training groups.

    Raises:
        InvalidInputError: the file is no probe.
    """

    name = "delta_probe"
    version = "1"
    threshold = 0.5

    def __init__(
        self,
        scorer: AnswerScorer | None = None,
        *,
        probe: Probe | str | Path | None = None,
        persistence: LabelPersistence | None = None,
    ) -> None:
        self.scorer = scorer or AnswerScorer()
        self._source = probe
        self._probe: Probe | None = None
        self._persistence = persistence
        self._lock = threading.Lock()
        if scorer is not None:
            # Others may use it first: it must know by then what this detector needs, or it reads the batch twice.
            self._read_probe()

    @property
    def probe(self) -> Probe:
        """The classifier; read from its file on first use."""
        return self._read_probe()

    def _read_probe(self) -> Probe:
        with self._lock:
            if self._probe is None:
                from rag_guard.detectors.probe import Probe

                source = self._source
                if source is None:
                    source = Path(str(resources.files("rag_guard.detectors") / "weights" / SHIPPED_PROBE))
                probe = source if isinstance(source, Probe) else Probe.load(source)
                self.scorer.require(layers=probe.config.layers, attention_layer=probe.config.residual_layer)
                self._probe = probe
            return self._probe

    def detect(self, analyses: Sequence[Analysis]) -> list[Detection]:
        """Judge a batch.

        Raises:
            InvalidInputError: the probe was made for another model's states.
        """
        probe = self.probe
        config = probe.config
        width = self.scorer.model.width
        if width != config.width:
            raise InvalidInputError(
                f"the probe reads states of {config.model} (width {config.width}), and the loaded model "
                f"has width {width}; load that one, or train a probe with `rag-guard train delta-probe`"
            )
        scored = self.scorer.score(analyses)
        inputs = [
            contrast_inputs(view, answer.without, config.inputs) for answer in scored for view in answer.with_documents
        ]
        raw = iter(probe.risks(inputs))
        risks = [np.minimum.reduce([next(raw) for _ in answer.with_documents]) for answer in scored]
        chain = self._persistence or LabelPersistence(config.stay, config.stay_hallucinated, config.base_rate)
        return [
            Detection(token_risks(answer.tokens.offsets, centred(smoothed, config.threshold)))
            for answer, smoothed in zip(scored, chain.smooth(risks), strict=True)
        ]
