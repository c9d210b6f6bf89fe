"""Entity alignment and evidence verification (EAEV) as a detector.

Every factual commitment of the answer (ENT, NUM, NP) is aligned with the documents by identity, meaning and quantity;
a conflict in the same slot counts against it; small perturbations of the evidence test how firm the alignment is;
mentions of one entity are aggregated. Nothing is learnt, and each risk can be traced to a window and a signal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rag_guard.detectors.base import Detection
from rag_guard.detectors.entity_alignment.alignment import Aligner
from rag_guard.detectors.entity_alignment.judging import AnswerJudge
from rag_guard.detectors.entity_alignment.mentions import extract_mentions
from rag_guard.detectors.entity_alignment.similarity import WordSimilarity
from rag_guard.detectors.entity_alignment.stability import PerturbedWindows
from rag_guard.detectors.entity_alignment.word_classes import RuleClassifier, TaggedClassifier, WordClassifier
from rag_guard.errors import ModelNotFoundError
from rag_guard.models.embedder import Embedder, has_embeddings, load_embedder
from rag_guard.models.linguistic import load_pipeline
from rag_guard.text.analysis import Analysis


class EntityAlignment:
    """The EAEV detector.

    Args:
        embedder: ``"auto"`` takes the catalog's embedder where it is installed; None uses word relations and spelling
            only; or any :class:`~rag_guard.models.embedder.Embedder`.
        classifier: ``"auto"`` takes spaCy where a model is installed; ``"rules"`` never; or any classifier.
        threshold: the risk from which this detector alone flags a word.
    """

    name = "entity_alignment"
    version = "1"

    def __init__(
        self,
        embedder: Embedder | Literal["auto"] | None = "auto",
        classifier: WordClassifier | Literal["auto", "rules"] = "auto",
        threshold: float = 0.5,
    ) -> None:
        self._embedder = embedder
        self._classifier = classifier
        self.threshold = threshold

    def detect(self, analyses: Sequence[Analysis]) -> list[Detection]:
        """See :class:`~rag_guard.detectors.base.Detector`."""
        classifier = self._classifier_or_fallback()
        classes = classifier.classify(analyses)
        aligners = [Aligner(a, extract_mentions(a, c)) for a, c in zip(analyses, classes, strict=True)]
        similarity = WordSimilarity(self._embedder_or_none())
        similarity.prepare(
            norm
            for aligner in aligners
            for word, candidates in aligner.unresolved()
            for norm in (word.norm, *(candidate.norm for candidate in candidates))
        )
        perturbed = PerturbedWindows()
        return [
            AnswerJudge(aligner, own, similarity, perturbed).detection(_warnings(aligner.analysis, classifier))
            for aligner, own in zip(aligners, classes, strict=True)
        ]

    def _embedder_or_none(self) -> Embedder | None:
        if not isinstance(self._embedder, str):
            return self._embedder
        if not has_embeddings():
            return None
        try:
            return load_embedder()
        except ModelNotFoundError:
            return None

    def _classifier_or_fallback(self) -> WordClassifier:
        if not isinstance(self._classifier, str):
            return self._classifier
        pipeline = load_pipeline("en") if self._classifier == "auto" else None
        return TaggedClassifier(pipeline) if pipeline is not None else RuleClassifier()


def _warnings(analysis: Analysis, classifier: WordClassifier) -> tuple[str, ...]:
    language = analysis.language
    if language in classifier.languages:
        return ()
    what = f"language {language!r}" if language else "the answer, whose language could not be told"
    return (f"no linguistic model was used for {what}: mentions were found by capitals and word lists",)
