"""Steps 4 and 5 of EAEV: stability, entities, the final risk, and the trace behind each of them."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from rag_guard import Example, HallucinationGuard, Report
from rag_guard.detectors.entity_alignment import EntityAlignment
from rag_guard.detectors.entity_alignment.scoring import (
    BETA,
    KAPPA,
    TAU,
    TOP_K,
    WEIGHTS,
    entity_scores,
    positive_alignment,
    rescaled_stability,
    risk,
)
from rag_guard.detectors.entity_alignment.stability import LEAVE_ONE_OUT, PERTURBATIONS, PerturbedWindows

TOWER = "The Harbour Tower is 88 m tall and was finished in 1903 by Nils Berg."
CLINIC = "Rina Okafor founded the Larkfield clinic in 1998. It has 24 beds."
ANSWER = "The Harbour Tower is 98 m tall. Rina Okafor founded the clinic in 1998. She likes bright sailing boats."


def mentions_of(report: Report) -> dict:
    return {mention.text: mention for entity in report.entities for mention in entity.mentions}


# --- formulas -------------------------------------------------------------------------------------------------------


def test_weights_of_each_type_sum_to_one():
    assert {kind: pytest.approx(sum(weights)) for kind, weights in WEIGHTS.items()} == {"ENT": 1, "NUM": 1, "NP": 1}


@pytest.mark.parametrize("kind", ["ENT", "NUM", "NP"])
def test_s_pos_is_the_weighted_sum_of_the_three_alignments(kind):
    w_id, w_sem, w_con = WEIGHTS[kind]
    assert positive_alignment(kind, 0.5, 0.25, 1.0) == pytest.approx(0.5 * w_id + 0.25 * w_sem + w_con)
    assert positive_alignment(kind, 0.5, -1.0, 1.0) == pytest.approx(0.5 * w_id + w_con)
    assert positive_alignment(kind, 1.0, 1.0, 1.0) == pytest.approx(1.0)


def test_an_entity_takes_the_mean_of_its_best_alignments_and_the_worst_of_the_rest():
    assert TOP_K == 3
    es_pos, es_neg, ecrs_min, escm = entity_scores(
        [0.2, 0.9, 0.6, 0.3, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.5, 0.1, 0.3]
    )
    assert es_pos == pytest.approx((0.9 + 0.6 + 0.3) / 3)
    assert (es_neg, ecrs_min) == (1.0, 0.1)
    assert escm == pytest.approx(0.6 - BETA * 1.0)
    assert entity_scores([0.4], [0.0], [0.4]) == pytest.approx((0.4, 0.0, 0.4, 0.4))


def test_the_risk_is_one_minus_sigmoid_times_stability():
    for escm, ecrs in [(0.9, 0.9), (0.34, 1.0), (-0.5, 0.2), (1.0, 0.0)]:
        stability = min(max(rescaled_stability(ecrs), 0.0), 1.0)
        assert risk(escm, ecrs) == pytest.approx(1 - stability / (1 + math.exp(-KAPPA * (escm - TAU))))
    assert risk(TAU, 1.0) == pytest.approx(0.5)


def test_risk_falls_with_alignment_and_with_stability_and_stays_in_range():
    grid = np.linspace(-1, 1, 21)
    values = np.array([[risk(escm, ecrs) for ecrs in grid] for escm in grid])
    assert values.min() >= 0.0
    assert values.max() <= 1.0
    assert (np.diff(values, axis=0) <= 0).all()
    assert (np.diff(values, axis=1) <= 0).all()


def test_stability_is_rescaled_to_the_unit_interval():
    assert rescaled_stability(1.0) == 1.0
    assert rescaled_stability(-9.0) == 0.0
    assert 0 < rescaled_stability(0.0) < rescaled_stability(0.5) < 1


def test_entities_of_a_report_follow_from_their_mentions(fast):
    report = fast.check(ANSWER, [TOWER, CLINIC])
    assert len(report.entities) > 5
    for entity in report.entities:
        own = entity.mentions
        es_pos, es_neg, ecrs_min, escm = entity_scores(
            [m.s_pos for m in own], [m.s_neg for m in own], [m.crs_min for m in own]
        )
        assert (entity.es_pos, entity.es_neg) == (pytest.approx(es_pos), es_neg)
        assert (entity.ecrs_min, entity.escm) == (pytest.approx(ecrs_min), pytest.approx(escm))
        assert entity.risk == pytest.approx(risk(escm, ecrs_min))
        for m in own:
            assert m.s_pos == pytest.approx(positive_alignment(m.type, m.identity, m.semantic, m.consistency))
            assert m.risk == pytest.approx(risk(m.s_pos - m.s_neg, m.crs_min))
            assert m.crs_delta == pytest.approx(m.s_pos - m.crs_min)
            assert m.crs_delta >= 0
            assert (m.s_neg == 1.0) is (m.conflict is not None)


def test_mentions_of_one_canonical_form_are_one_entity(fast):
    report = fast.check("Nils Berg was there. NILS BERG finished it in 1903, in 1903.", [TOWER])
    by_name = {(entity.canonical, entity.type): len(entity.mentions) for entity in report.entities}
    assert by_name[("nils berg", "ENT")] == 2
    assert by_name[("1903", "NUM")] == 2


# --- stability ------------------------------------------------------------------------------------------------------


def test_without_a_second_window_a_mention_is_less_stable(fast):
    alone = mentions_of(fast.check("Nils Berg finished the tower.", ["Nils Berg finished the tower."]))
    twice = mentions_of(
        fast.check(
            "Nils Berg finished the tower.",
            ["Nils Berg finished the tower.", "That Nils Berg finished the tower is known."],
        )
    )
    assert alone["Nils Berg"].s_pos == pytest.approx(twice["Nils Berg"].s_pos, abs=0.2)
    assert alone["Nils Berg"].crs_delta > 0
    assert alone["Nils Berg"].deciding_perturbation == LEAVE_ONE_OUT
    assert twice["Nils Berg"].crs_min > alone["Nils Berg"].crs_min
    assert twice["Nils Berg"].risk < alone["Nils Berg"].risk


def test_a_number_that_one_window_states_is_less_stable(fast):
    once = mentions_of(fast.check("It has 24 beds.", [CLINIC]))["24"]
    twice = mentions_of(fast.check("It has 24 beds.", [CLINIC, "The ward of 24 beds is full."]))["24"]
    assert once.deciding_perturbation == LEAVE_ONE_OUT
    assert twice.crs_delta < once.crs_delta


def test_there_are_four_perturbations_and_reports_name_only_these(fast):
    names = {LEAVE_ONE_OUT, *PERTURBATIONS}
    assert names == {
        "leave_out_best_window", "normalise_punctuation_and_case", "compress_whitespace", "alphanumerics_only",
    }  # fmt: skip
    found = {m.deciding_perturbation for m in mentions_of(fast.check(ANSWER, [TOWER, CLINIC])).values()}
    assert found <= names | {None}


@pytest.mark.parametrize(
    ("perturbation", "mention", "window"),
    [
        ("normalise_punctuation_and_case", "WI-FI", "free wi fi here"),
        ("compress_whitespace", "old  mill", "the old\n\tmill"),
        ("alphanumerics_only", "Wi-Fi", "free WiFi here"),
        ("alphanumerics_only", "...", "anything"),
    ],
)
def test_a_perturbation_forgets_what_it_is_named_for(perturbation, mention, window):
    assert PerturbedWindows().identity(mention, window, perturbation) == 1.0


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_no_perturbation_makes_other_words_equal(perturbation):
    assert PerturbedWindows().identity("Okafor", "The tower is tall.", perturbation) < 0.6


# --- traces ---------------------------------------------------------------------------------------------------------


def test_every_mention_leads_to_a_window_and_a_signal(fast):
    report = fast.check(ANSWER, [TOWER, CLINIC])
    found = [mention for entity in report.entities for mention in entity.mentions]
    for mention in found:
        assert report.answer[mention.start : mention.end] == mention.text
        assert mention.signal in {"identity", "semantic", "consistency", "stability", "conflict"}
        assert mention.evidence is not None
        text = report.documents[mention.evidence.document].text
        assert text[mention.evidence.start : mention.evidence.end] == mention.evidence.quote
    by_text = {mention.text: mention for mention in found}
    assert (by_text["98 m"].signal, by_text["98 m"].conflict) == ("conflict", "value")
    assert "88 m" in by_text["98 m"].evidence.quote
    assert by_text["sailing"].signal in {"identity", "semantic"}
    assert by_text["sailing"].conflict is None


def test_the_trace_of_a_contradiction_points_at_what_the_documents_say(fast):
    (span,) = fast.check("The Harbour Tower is 98 m tall.", [CLINIC, TOWER]).spans
    assert [(e.document, e.quote) for e in span.evidence] == [(1, "88 m")]
    assert "88 m" in span.explanation
    assert span.votes == {"entity_alignment": span.score}


# --- the same every time ----------------------------------------------------------------------------------------------


def bare(report: Report) -> Report:
    return report.model_copy(update={"timings_ms": {}})


ANSWERS = [
    ANSWER,
    "Larkfield has 42 beds.",
    "Das Haus ist alt.",
    "1967",
    "The tower was finished in 1903. It isn't tall.",
    "東京タワーは88メートルです。",
]


def test_two_runs_give_equal_reports():
    first = HallucinationGuard(detectors=[EntityAlignment(embedder=None, classifier="rules")])
    second = HallucinationGuard(detectors=[EntityAlignment(embedder=None, classifier="rules")])
    for answer in ANSWERS:
        report = bare(first.check(answer, [TOWER, CLINIC]))
        assert bare(first.check(answer, [TOWER, CLINIC])) == report
        assert bare(second.check(answer, [TOWER, CLINIC])) == report


def test_a_batch_gives_what_single_calls_give(fast):
    examples = [Example(answer=answer, documents=[TOWER, CLINIC]) for answer in ANSWERS]
    random.Random(3).shuffle(examples)
    together = fast.check_batch(examples)
    assert [bare(report) for report in together] == [
        bare(fast.check(example.answer, example.documents)) for example in examples
    ]


def test_the_order_of_documents_and_unrelated_ones_change_no_signal(fast):
    def signals(documents):
        return {
            text: (mention.risk, mention.signal, mention.conflict, mention.evidence and mention.evidence.quote)
            for text, mention in mentions_of(fast.check("The Harbour Tower is 98 m tall.", documents)).items()
        }

    expected = signals([TOWER, CLINIC])
    assert signals([CLINIC, TOWER]) == expected
    assert signals([TOWER, CLINIC, TOWER]) == expected
    spans = fast.check(
        "The Harbour Tower is 98 m tall.", [TOWER, CLINIC, "Owls hunt silently.", "Moss has spores."]
    ).spans
    assert [(s.text, s.label, s.expected) for s in spans] == [("98", "contradicted", "88 m")]
