"""The self-test of ``rag-guard doctor``: one document, a right and a wrong answer for each kind of error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rag_guard.detectors.base import Detector
from rag_guard.errors import InvalidInputError, RagGuardError
from rag_guard.schema import Document, Example, Report, Status
from rag_guard.text.analysis import Analysis
from rag_guard.text.corpus_cache import corpus_for

DOCUMENT = (
    "The lighthouse on Tervo Point is 31 m high. It was designed by Ilse Brandt and lit for the first time "
    "on 4 May 1911. Visitors cannot climb the tower, but the museum in the keeper's house is open all year."
)


@dataclass(frozen=True)
class Pair:
    """Two answers to one question; the document supports the first alone."""

    kind: str
    question: str
    right: str
    wrong: str


PAIRS = (
    Pair(
        "number",
        "How high is the lighthouse on Tervo Point?",
        "The lighthouse on Tervo Point is 31 m high.",
        "The lighthouse on Tervo Point is 47 m high.",
    ),
    Pair(
        "name",
        "Who designed the lighthouse?",
        "The lighthouse was designed by Ilse Brandt.",
        "The lighthouse was designed by Marco Selvi.",
    ),
    Pair(
        "date",
        "When was the lighthouse first lit?",
        "It was lit for the first time on 4 May 1911.",
        "It was lit for the first time on 12 August 1934.",
    ),
    Pair(
        "negation",
        "Can visitors climb the tower?",
        "Visitors cannot climb the tower.",
        "Visitors can climb the tower.",
    ),
    Pair(
        "addition",
        "What is in the keeper's house?",
        "The museum in the keeper's house is open all year.",
        "The museum in the keeper's house is open all year and shows a collection of Roman coins.",
    ),
)


def run_self_test(preset: str | None = None) -> dict[str, Any]:
    """Run a preset's detectors, each alone and then as the guard combines them.

    Returns ``passed``, ``error`` (why the detectors could not be loaded), one object per detector
    (``separated``: pairs in which the wrong answer has more risk; ``correct``: verdicts that are right at
    the detector's own threshold) and one per kind of error with the guard's two statuses. It passes if the
    guard is right on all answers and all detectors separate all pairs.
    """
    from rag_guard.guard import HallucinationGuard

    try:
        guard = HallucinationGuard(preset=preset)
    except InvalidInputError:
        raise
    except (ImportError, OSError, RagGuardError) as error:
        told = f"{type(error).__name__}: {error}"
        return {"passed": False, "preset": preset, "error": told, "detectors": [], "cases": []}
    detectors = [_test_detector(detector) for detector in guard.detectors]
    answers = [(pair, answer) for pair in PAIRS for answer in (pair.right, pair.wrong)]
    reports = guard.check_batch(
        [Example(answer=answer, documents=[DOCUMENT], question=pair.question) for pair, answer in answers]
    )
    cases = [_case(pair, *reports[2 * n : 2 * n + 2]) for n, pair in enumerate(PAIRS)]
    passed = all(item["passed"] for item in (*detectors, *cases))
    return {"passed": passed, "preset": guard.preset, "error": None, "detectors": detectors, "cases": cases}


def _case(pair: Pair, right: Report, wrong: Report) -> dict[str, Any]:
    return {
        "kind": pair.kind,
        "right": right.status.value,
        "wrong": wrong.status.value,
        "passed": right.status is Status.SUPPORTED and wrong.status is Status.HALLUCINATED,
        "error": right.error or wrong.error,
    }


def _test_detector(detector: Detector) -> dict[str, Any]:
    documents = (Document(text=DOCUMENT),)
    corpus = corpus_for(documents)
    analyses = [
        Analysis(answer, documents, pair.question, corpus) for pair in PAIRS for answer in (pair.right, pair.wrong)
    ]
    result: dict[str, Any] = {
        "name": detector.name,
        "version": detector.version,
        "threshold": detector.threshold,
        "pairs": len(PAIRS),
        "separated": 0,
        "correct": 0,
        "passed": False,
        "error": None,
    }
    try:
        detections = detector.detect(analyses)
    except Exception as error:  # whatever a detector breaks on, the doctor is there to tell it
        return {**result, "error": f"{type(error).__name__}: {error}"}
    risks = [float(detection.tokens.risks.max(initial=0.0)) for detection in detections]
    right, wrong = risks[::2], risks[1::2]
    separated = sum(bad > good for good, bad in zip(right, wrong, strict=True))
    correct = sum(risk < detector.threshold for risk in right)
    correct += sum(risk >= detector.threshold for risk in wrong)
    return {**result, "separated": separated, "correct": correct, "passed": separated == len(PAIRS)}
