"""From labelled answers to a trained probe to risks, on a tiny model."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from rag_guard.detectors.answer_scorer import AnswerScorer
from rag_guard.detectors.context_sensitivity import ContextSensitivity
from rag_guard.detectors.contrast import contrast_inputs, residual
from rag_guard.detectors.delta_probe import DeltaProbe
from rag_guard.detectors.probe import Probe, ProbeConfig
from rag_guard.documents import as_documents
from rag_guard.errors import InvalidInputError
from rag_guard.evaluation.rows import LabelledExample, LabelSpan
from rag_guard.schema import Document
from rag_guard.text.analysis import Analysis
from rag_guard.text.corpus_cache import corpus_for
from rag_guard.training.context_sensitivity import fit_calibration
from rag_guard.training.delta_probe import (
    answer_risks,
    evaluate_probe,
    fit_decoding,
    load_probe_data,
    probe_risks,
    train_probe,
)
from rag_guard.training.features import (
    FeatureSpec,
    extract_features,
    feature_file,
    missing_groups,
    read_features,
)

INPUTS = ("delta_2", "residual_2", "with_2")
SPEC = FeatureSpec("tiny", deltas=(2,), views=(2,), residuals=(2,), scores=True)


def labelled(groups=12):
    """Every group: one answer that repeats its document, one that names another year, marked."""
    rows = []
    for number in range(groups):
        year, other = 1800 + 7 * number, 1990 - 3 * number
        documents = (Document(text=f"The tower was finished in {year}."),)
        for kind, stated in (("a", year), ("b", other)):
            answer = f"It was finished in {stated}."
            start = answer.index(str(stated))
            spans = () if kind == "a" else (LabelSpan(start, start + 4),)
            rows.append(
                LabelledExample(
                    f"{number}{kind}", answer, documents, "when", spans, bool(spans), str(number), task="QA"
                )
            )
    return rows


def analysis(row):
    texts = as_documents(list(row.documents))
    return Analysis(row.answer, texts, row.question, corpus_for(texts))


@pytest.fixture(scope="module")
def features(tmp_path_factory, tokenizer):
    from rag_guard.models.causal_lm import CausalLM
    from tests.causal_lm.tiny import tiny_model

    folder = tmp_path_factory.mktemp("features")
    extract_features(labelled(), CausalLM(tiny_model(tokenizer), tokenizer), folder, SPEC)
    return folder


def test_residual_removes_what_earlier_tokens_bring():
    delta = np.array([[1.0], [2.0], [4.0]], dtype=np.float32)
    attention = np.array([[0, 0, 0], [1, 0, 0], [0.25, 0.75, 0]], dtype=np.float32)
    assert residual(delta, attention)[:, 0].tolist() == [1.0, 1.0, 2.25]


def test_stored_features_are_those_of_a_fresh_pass_in_half_precision(features, make_lm):
    rows = labelled()
    lm = make_lm()
    stored = list(read_features(features, dict.fromkeys(row.group for row in rows)))
    assert [item.id for item in stored] == [row.id for row in rows]
    for item, row in zip(stored[:4], rows[:4], strict=True):
        scored = AnswerScorer(lm)
        scored.require(logits=True, layers=[2], attention_layer=2)
        (fresh,) = scored.score([analysis(row)])
        expected = contrast_inputs(fresh.with_documents[0], fresh.without, INPUTS)
        got = np.concatenate([item.arrays[name] for name in INPUTS], axis=1)
        assert got.dtype == np.float16
        np.testing.assert_allclose(got, expected, rtol=2e-3, atol=2e-3)
        np.testing.assert_array_equal(item.offsets, fresh.tokens.offsets)
        np.testing.assert_allclose(item.arrays["scores"][:, 3], fresh.without.log_probs, atol=1e-4, rtol=1e-4)


def test_an_interrupted_extraction_goes_on_where_it_was(tmp_path, make_lm):
    rows, lm = labelled(5), make_lm()

    def stop(done, total, rate):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract_features(rows, lm, tmp_path, SPEC, progress=stop)
    (tmp_path / ".2.safetensors.1.part").write_bytes(b"half a file")
    assert missing_groups(rows, tmp_path, SPEC) == ["2", "3", "4"]
    before = lm.counters.forwards
    assert extract_features(rows, lm, tmp_path, SPEC) == 3
    assert lm.counters.forwards == before + 3
    assert extract_features(rows, lm, tmp_path, SPEC) == 0
    assert load_file(feature_file(tmp_path, "4"))["delta_2"].dtype == np.float16


def test_features_of_another_model_or_layer_are_not_mixed_in(features):
    with pytest.raises(InvalidInputError, match="another folder"):
        missing_groups(labelled(), features, FeatureSpec("other", deltas=(2,), residuals=()))
    with pytest.raises(InvalidInputError, match="another folder"):
        missing_groups(labelled(), features, FeatureSpec("tiny", deltas=(3,), residuals=()))
    assert missing_groups(labelled(), features, FeatureSpec("tiny", deltas=(2,), residuals=())) == []


@pytest.mark.parametrize("head", ["mlp", "convolution"])
def test_a_probe_learns_is_reproducible_and_survives_its_file(features, tmp_path, head):
    data = load_probe_data(labelled(), features, INPUTS)
    config = ProbeConfig("tiny", INPUTS, 32, head=head, hidden=(32, 16))
    probe, again = (train_probe(data, config, epochs=60, batch_tokens=64, seed=3) for _ in range(2))
    for one, other in zip(probe.state_dict().values(), again.state_dict().values(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    probe, _ = fit_decoding(probe, data)
    scores = evaluate_probe(probe, data)
    assert scores["answer_auroc"] > 0.9
    assert scores["example_f1"] > 0.8
    probe.save(tmp_path / "probe.safetensors", "a note")
    loaded = Probe.load(tmp_path / "probe.safetensors")
    assert loaded.config == probe.config
    np.testing.assert_allclose(
        answer_risks(probe_risks(loaded, data)), answer_risks(probe_risks(probe, data)), atol=5e-3
    )


@pytest.mark.parametrize("head", ["mlp", "convolution"])
def test_detector_gives_the_trained_probes_risks_alone_and_in_batches(features, make_lm, head):
    rows = labelled()
    data = load_probe_data(rows, features, INPUTS)
    probe = train_probe(data, ProbeConfig("tiny", INPUTS, 32, head=head, hidden=(32, 16)), epochs=40)
    probe, _ = fit_decoding(probe, data)
    detector = DeltaProbe(AnswerScorer(make_lm()), probe=probe)
    items = [analysis(row) for row in rows]
    items.insert(1, Analysis("", (), None, corpus_for(())))
    together = detector.detect(items)
    for item, detection in zip(items, together, strict=True):
        (alone,) = detector.detect([item])
        np.testing.assert_allclose(alone.tokens.risks, detection.tokens.risks, atol=1e-4)
        assert ((detection.tokens.risks >= 0) & (detection.tokens.risks <= 1)).all()
    del together[1]
    flagged = np.array([bool((d.tokens.risks >= detector.threshold).any()) for d in together])
    expected = evaluate_probe(probe, data)
    truth = data.hallucinated
    assert 2 * (flagged & truth).sum() / (flagged.sum() + truth.sum()) == pytest.approx(expected["example_f1"], abs=0.1)


def test_a_token_takes_the_lowest_risk_of_its_context_windows(make_lm):
    lm = make_lm(positions=64)
    torch.manual_seed(0)
    probe = Probe(ProbeConfig("tiny", ("delta_2",), 32, stay=0.5))
    detector = DeltaProbe(AnswerScorer(lm), probe=probe)
    texts = as_documents([f"The tower number {n} was finished in 18{n}." for n in range(10, 16)])
    item = Analysis("In Paris.", texts, "where", corpus_for(texts))
    (detection,) = detector.detect([item])
    (scored,) = detector.scorer.score([item])
    assert len(scored.with_documents) > 1
    per_window = probe.risks([contrast_inputs(view, scored.without, ("delta_2",)) for view in scored.with_documents])
    np.testing.assert_allclose(detection.tokens.risks, np.min(per_window, axis=0), atol=1e-5)


def test_a_probe_and_context_sensitivity_on_one_scorer_cost_one_pass(make_lm):
    lm = make_lm(prefix_cache_bytes=0)
    scorer = AnswerScorer(lm)
    both = (
        ContextSensitivity(scorer, rule="refind"),
        DeltaProbe(scorer, probe=Probe(ProbeConfig("tiny", INPUTS, 32))),
    )
    for detector in both:
        detector.detect([analysis(labelled(1)[0])])
    assert lm.counters.forwards == 1


def test_a_probe_for_another_width_is_refused(make_lm):
    detector = DeltaProbe(AnswerScorer(make_lm()), probe=Probe(ProbeConfig("big", ("delta_2",), 64)))
    with pytest.raises(InvalidInputError, match="width 64"):
        detector.detect([analysis(labelled(1)[0])])


@pytest.mark.parametrize("inputs", [(), ("delta",), ("hidden_3",)])
def test_inputs_that_no_probe_can_have_are_refused(inputs):
    with pytest.raises(InvalidInputError, match="inputs"):
        ProbeConfig("tiny", inputs, 32)


def test_a_file_that_is_no_probe_is_refused(features):
    with pytest.raises(InvalidInputError, match="no delta probe"):
        Probe.load(feature_file(features, "1"))


def test_calibration_is_learnt_from_stored_scores(features):
    rows = labelled()
    calibration = fit_calibration(rows[:16], rows[16:], features)
    assert 0.0 < calibration.threshold < 1.0
    assert np.isfinite(calibration.weights).all()


def test_train_command_extracts_trains_and_writes_a_probe(tmp_path, tokenizer):
    from typer.testing import CliRunner

    from rag_guard.commands.train import app
    from tests.causal_lm.tiny import tiny_model

    model = tmp_path / "model"
    tiny_model(tokenizer).save_pretrained(model)
    tokenizer.save_pretrained(model)
    data = tmp_path / "rows.jsonl"
    with data.open("w", encoding="utf-8") as out:
        for row in labelled(40):
            record = {
                "id": row.id,
                "answer": row.answer,
                "documents": [row.documents[0].text],
                "question": row.question,
                "group": row.group,
                "split": "train",
                "labels": [{"start": span.start, "end": span.end} for span in row.labels],
            }
            out.write(json.dumps(record) + "\n")
    arguments = [
        *(
            "delta-probe",
            str(data),
            "--features",
            str(tmp_path / "f"),
            "--model",
            str(model),
            "--epochs",
            "2",
        ),
        *("--inputs", "delta_2,residual_2,without_2", "--output", str(tmp_path / "p.safetensors")),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert Probe.load(tmp_path / "p.safetensors").config.inputs == ("delta_2", "residual_2", "without_2")
    again = CliRunner().invoke(app, arguments)
    assert "features of" not in again.output
    assert again.exit_code == 0
