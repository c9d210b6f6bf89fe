"""P(support) of claims, its calibration, and judges that took no part in a repair."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from rag_guard import Example, HallucinationGuard, InvalidInputError
from rag_guard.repair import Repair
from rag_guard.repair.verifier import Verifier

needs_sklearn = pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="scikit-learn is not installed")

DOCUMENT = "The fee is 5 EUR. Children enter free. The gate opens at 9."
ANSWER = "The fee is 6 EUR. Children enter free. Dragons guard the vault."


@pytest.fixture(scope="module")
def report():
    return HallucinationGuard("fast").check(ANSWER, [DOCUMENT])


def test_support_is_what_the_detectors_leave(report):
    (support,) = Verifier().support([report])
    assert support == pytest.approx([1 - claim.score for claim in report.claims])
    assert Verifier().refuted([report]) == [{0, 2}]


@needs_sklearn
def test_the_model_sees_each_claim_once_with_its_evidence(report):
    asked = []

    def model(prompts):
        asked.extend(prompts)
        return [0.9, 0.8, 0.1]

    assert Verifier("model", model=model).refuted([report]) == [{2}]
    assert len(asked) == 3
    assert "The fee is 5 EUR." in asked[0]
    both = Verifier("both", model=model).support([report])[0]
    assert both[1] == pytest.approx((1 - report.claims[1].score + 0.8) / 2)


@needs_sklearn
def test_a_claim_that_the_verifier_supports_is_left_alone():
    repair = Repair("remove", verifier=Verifier("model", model=lambda prompts: [0.9, 0.9, 0.1]))
    report = HallucinationGuard("fast", policy="repair", repair=repair).check(ANSWER, [DOCUMENT])
    assert report.repaired == "The fee is 6 EUR. Children enter free."


@needs_sklearn
def test_evidence_is_quoted_by_exact_offsets(report):
    from rag_guard.repair.evidence import tfidf_evidence

    for claim, evidence in zip(report.claims, tfidf_evidence(report, report.claims), strict=True):
        for item in evidence:
            assert DOCUMENT[item.start : item.end] == item.quote
        if claim.text.startswith("The fee"):
            assert evidence[0].quote == "The fee is 5 EUR."


def test_calibration_reaches_the_wanted_precision(report):
    scores = np.array([1 - claim.score for claim in report.claims])
    labels = [(scores > scores.min()).astype(float)]
    verifier = Verifier().calibrate([report], labels, precision=1.0)
    (refuted,) = verifier.refuted([report])
    assert refuted == {int(scores.argmin())}
    assert Verifier().calibrate([report], [np.ones(3)], precision=0.9).refuted([report]) == [set()]


def test_bad_arguments_are_refused(report):
    for make in (
        lambda: Verifier("votes"),
        lambda: Verifier(threshold=2),
        lambda: Verifier(top_k=0),
        lambda: Verifier().calibrate([report], [[1.0]], 0.5),
        lambda: Verifier().calibrate([report], [[1.0] * 3], 0.0),
    ):
        with pytest.raises(InvalidInputError):
            make()


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ImportError, match="pip install"):
        Verifier("model")


@needs_sklearn
def test_judges_and_their_agreement():
    from rag_guard.detectors.entity_alignment import EntityAlignment
    from rag_guard.repair.judge import agreement, detector_judge, model_judge

    examples = [Example(answer=a, documents=[DOCUMENT]) for a in ("The fee is 6 EUR.", "The fee is 5 EUR.", "")]
    by_detector = detector_judge(EntityAlignment(embedder=None, classifier="rules"))(examples)
    assert by_detector == [True, False, None]
    by_model = model_judge(lambda prompt: "Yes." if '"The fee is 6' in prompt else "No")(examples)
    assert by_model == [True, False, False]
    both = agreement(by_detector, by_model)
    assert (both.kappa, both.share, both.count) == (1.0, 1.0, 2)
    assert agreement([True, False, True, False], [True, True, False, False]).kappa == 0.0
    assert agreement([None], [True]).count == 0
    assert model_judge(lambda prompt: "Perhaps")(examples[:1]) == [None]
    with pytest.raises(InvalidInputError):
        agreement([True], [])


@pytest.mark.slow
def test_the_local_model_answers_offline():
    pytest.importorskip("transformers")
    from rag_guard import ModelNotFoundError
    from rag_guard.models.generation import load_generator

    try:
        generator = load_generator()
    except ModelNotFoundError:
        pytest.skip("the local model is not installed")
    alone = [generator.yes_probabilities([prompt])[0] for prompt in ("Is fire hot?", "Can a fish read Latin books?")]
    together = generator.yes_probabilities(["Is fire hot?", "Can a fish read Latin books?"])
    assert together == pytest.approx(alone, abs=0.05)  # bfloat16, and padding changes the order of sums
    assert all(0.0 <= value <= 1.0 for value in together)
    report = HallucinationGuard("fast", policy="repair", repair="rewrite").check("The fee is 6 EUR.", [DOCUMENT])
    assert report.repaired is not None
    assert report.recheck is not None
    assert report.recheck.status == "supported"
