"""The ratio at its limits, the two rules, and log-probabilities that a generator brings along."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_guard.detectors.answer_scorer import AnswerScorer, token_risks
from rag_guard.detectors.context_sensitivity import (
    EPSILON,
    Calibration,
    ContextSensitivity,
    centred,
    context_sensitivity_ratio,
    feature_names,
    moving_average,
)
from rag_guard.documents import as_documents
from rag_guard.errors import InvalidInputError
from rag_guard.models.generator_logprobs import GeneratedTokens, align_log_probs, read_generated_tokens
from rag_guard.text.analysis import Analysis
from rag_guard.text.corpus_cache import corpus_for

log_probability = st.floats(-200.0, 0.0)


def analysis(answer, documents=("The tower stands in Paris.",), question="where is it"):
    texts = as_documents(list(documents))
    return Analysis(answer, texts, question, corpus_for(texts))


def test_ratio_is_the_papers_quotient():
    ratio = context_sensitivity_ratio([-1.0, -4.0], [-2.0, -0.5])
    np.testing.assert_allclose(ratio, [-1.0 / (-2.0 + EPSILON), -4.0 / (-0.5 + EPSILON)], rtol=1e-15)


@given(log_probability, log_probability)
def test_ratio_is_never_nan_negative_or_infinite(above, below):
    (ratio,) = context_sensitivity_ratio([above], [below])
    assert np.isfinite(ratio)
    assert ratio >= 0.0


@pytest.mark.parametrize("certain", [0.0, -1e-12, -1e-8, -1.9e-8])
def test_a_token_certain_without_documents_has_a_limit_and_keeps_its_sign(certain):
    both, doubted = context_sensitivity_ratio([0.0, -3.0], [certain, certain])
    assert both == 0.0
    assert doubted == pytest.approx(3.0 / EPSILON)


def test_a_token_certain_with_documents_has_ratio_zero():
    assert context_sensitivity_ratio([0.0], [-5.0])[0] == 0.0


def test_probability_zero_in_both_views_is_no_change():
    assert context_sensitivity_ratio([-np.inf], [-np.inf])[0] == pytest.approx(1.0)


@given(log_probability, st.floats(-200.0, -1e-6), st.floats(-200.0, -1e-6))
def test_ratio_falls_as_documents_help_more(above, below, lower):
    low, high = sorted((below, lower))
    assert context_sensitivity_ratio([above], [low])[0] <= context_sensitivity_ratio([above], [high])[0]


@pytest.mark.parametrize("values", [[0.1], [float("nan")]])
def test_what_is_no_log_probability_is_refused(values):
    with pytest.raises(InvalidInputError, match="without_documents"):
        context_sensitivity_ratio([-1.0], values)


@given(st.lists(st.floats(-5, 5), max_size=30), st.sampled_from([1, 3, 5, 15]))
def test_moving_average_is_the_mean_of_the_positions_that_exist(values, window):
    got = moving_average(np.array(values), window)
    half = window // 2
    expected = [np.mean(values[max(0, i - half) : i + half + 1]) for i in range(len(values))]
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_papers_rule_flags_where_the_ratio_reaches_delta(make_lm):
    scorer = AnswerScorer(make_lm())
    items = [analysis("The tower stands in Paris."), analysis("🧬 in Rome, 1999")]
    for delta in (0.8, 1.0, 1.3):
        for item, detection in zip(
            items, ContextSensitivity(scorer, rule="refind", delta=delta).detect(items), strict=True
        ):
            (scored,) = scorer.score([item])
            ratio = context_sensitivity_ratio(
                scored.with_documents[0].log_probs.astype(float), scored.without.log_probs.astype(float)
            )
            expected = token_risks(scored.tokens.offsets, (ratio >= delta).astype(float)).risks
            np.testing.assert_array_equal(detection.tokens.risks >= 0.5, expected == 1.0)


def test_calibrated_rule_reads_the_answers_signals_and_stays_in_range(make_lm):
    size = len(feature_names())
    calibration = Calibration(np.zeros(size), np.ones(size), np.full(size, 0.3), 0.0, 0.4, 0.9)
    detector = ContextSensitivity(AnswerScorer(make_lm()), calibration=calibration)
    items = [analysis("The tower stands in Paris, I think."), analysis("x"), analysis("", ())]
    together = detector.detect(items)
    for item, detection in zip(items, together, strict=True):
        assert ((detection.tokens.risks >= 0) & (detection.tokens.risks <= 1)).all()
        (alone,) = detector.detect([item])
        np.testing.assert_allclose(alone.tokens.risks, detection.tokens.risks, atol=1e-4)
    assert len(together[2].tokens.risks) == 0
    assert Calibration.from_json(calibration.to_json()).threshold == 0.4


def test_centred_risks_have_their_threshold_at_one_half():
    assert centred(np.array([0.2]), 0.2)[0] == pytest.approx(0.5)
    assert (np.diff(centred(np.linspace(0, 1, 50), 0.2)) >= 0).all()


def test_two_detectors_on_one_scorer_cost_one_pass(make_lm):
    lm = make_lm(prefix_cache_bytes=0)
    scorer = AnswerScorer(lm)
    first, second = (
        ContextSensitivity(scorer, rule="refind"),
        ContextSensitivity(scorer, rule="refind", delta=2),
    )
    items = [analysis("In Paris.")]
    first.detect(items)
    forwards = lm.counters.forwards
    second.detect(items)
    assert lm.counters.forwards == forwards == 1


ANSWER = "Café 🧬 in Paris."
PIECES = [("Caf", -0.5), ("é", -1.0), (" 🧬", -4.0), (" in", -0.25), (" Paris", -2.0), (".", -0.125)]


@pytest.mark.parametrize(
    "response",
    [
        PIECES,
        {"logprobs": {"content": [{"token": t, "logprob": p, "bytes": list(t.encode())} for t, p in PIECES]}},
        SimpleNamespace(
            content=ANSWER,
            response_metadata={"logprobs": {"content": [{"token": t, "logprob": p} for t, p in PIECES]}},
        ),
        SimpleNamespace(additional_kwargs={"logprobs": {"content": [{"token": t, "logprob": p} for t, p in PIECES]}}),
        {"choices": [{"logprobs": {"tokens": [t for t, _ in PIECES], "token_logprobs": [p for _, p in PIECES]}}]},
        SimpleNamespace(logprobs=[{7: SimpleNamespace(logprob=p, decoded_token=t, rank=1)} for t, p in PIECES]),
    ],
    ids=["pairs", "chat", "langchain", "llama_index", "completion", "vllm"],
)
def test_log_probabilities_are_found_in_every_usual_shape(response):
    tokens = read_generated_tokens(response)
    assert b"".join(tokens.pieces).decode() == ANSWER
    assert tokens.log_probs == tuple(p for _, p in PIECES)


@pytest.mark.parametrize("response", [None, {}, {"logprobs": None}, SimpleNamespace(content="hi"), "text", []])
def test_a_response_without_log_probabilities_gives_none(response):
    assert read_generated_tokens(response) is None


def test_aligned_log_probabilities_keep_the_sum_over_shared_boundaries():
    tokens = read_generated_tokens(PIECES)
    offsets = np.array([[0, 4], [5, 6], [5, 6], [7, 9], [10, 12], [12, 15], [15, 16]])
    aligned = align_log_probs(ANSWER, tokens, offsets)
    assert aligned[0] == pytest.approx(-1.5)
    assert aligned[1] == aligned[2]
    assert aligned[1] + aligned[2] == pytest.approx(-4.0)
    assert aligned[4] + aligned[5] == pytest.approx(-2.0)
    assert aligned.sum() == pytest.approx(sum(p for _, p in PIECES))


@given(st.text(min_size=1, max_size=12), st.data())
def test_any_two_segmentations_of_a_text_have_the_same_total(text, data):
    raw = text.encode("utf-8", "surrogatepass")
    cuts = sorted(data.draw(st.sets(st.integers(1, max(len(raw) - 1, 1)), max_size=4)))
    edges = [0, *[cut for cut in cuts if cut < len(raw)], len(raw)]
    pieces = tuple(raw[a:b] for a, b in itertools.pairwise(edges))
    generated = GeneratedTokens(pieces, tuple(-0.1 * (i + 1) for i in range(len(pieces))))
    middle = len(text) // 2
    offsets = np.array([pair for pair in ([0, middle], [middle, len(text)]) if pair[0] < pair[1]])
    aligned = align_log_probs(text, generated, offsets)
    assert (aligned <= 0).all()
    assert aligned.sum() == pytest.approx(sum(generated.log_probs))


def test_end_marks_and_white_space_around_the_answer_are_passed_over():
    generated = GeneratedTokens((b" ", b"Paris", b"<|end|>"), (-9.0, -1.0, -9.0))
    assert align_log_probs("Paris", generated, np.array([[0, 5]])).tolist() == [-1.0]


def test_tokens_of_another_text_are_refused():
    with pytest.raises(InvalidInputError, match="do not spell the answer"):
        align_log_probs("Rome", GeneratedTokens((b"Paris",), (-1.0,)), np.array([[0, 4]]))


def test_generated_log_probabilities_save_the_pass_with_documents(make_lm):
    lm = make_lm(prefix_cache_bytes=0)
    detector = ContextSensitivity(AnswerScorer(lm), rule="refind")
    item = analysis("In Paris.", ["word " * 30])
    (scored,) = detector.scorer.score([item])
    own = scored.with_documents[0].log_probs
    (usual,) = detector.detect([item])
    rows = lm.counters.rows
    pieces = GeneratedTokens(
        tuple("In Paris."[a:b].encode() for a, b in scored.tokens.offsets.tolist()),
        tuple(float(value) for value in own),
    )
    (given_,) = detector.detect([item], [pieces])
    assert lm.counters.rows - rows < 40
    np.testing.assert_allclose(given_.tokens.risks, usual.tokens.risks, atol=1e-4)
