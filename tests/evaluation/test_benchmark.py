"""Scoring labelled rows with a guard, keeping results on disk, and the figures that come out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from rag_guard import InvalidInputError
from rag_guard.cli import app
from rag_guard.evaluation.benchmark import (
    REFIND_IOU,
    Outcome,
    evaluate,
    evaluate_mushroom,
    held_out_thresholds,
    select_rows,
)
from rag_guard.evaluation.rows import LabelledExample, LabelSpan
from rag_guard.evaluation.scoring import GuardConfig, ScoreCache, Scored, Scorer, batches, score_rows
from rag_guard.schema import Document
from rag_guard.text.words import find_words
from tests.evaluation.unseen_words import UnseenWords

DETECTOR = "tests.evaluation.unseen_words:UnseenWords"
CONFIG = GuardConfig(detector=DETECTOR)
DOCUMENT = "The hall seats 600 people and opened in 1990."


def row(identifier, answer, *wrong, group=None, task=None, documents=(DOCUMENT,), **fields):
    labels = tuple(LabelSpan(answer.index(text), answer.index(text) + len(text), "made up") for text in wrong)
    return LabelledExample(
        id=str(identifier),
        answer=answer,
        documents=tuple(Document(text=text) for text in documents),
        question=None,
        labels=labels,
        hallucinated=bool(labels),
        group=group or str(identifier),
        task=task,
        **fields,
    )


ROWS = [
    row(1, "The hall seats 900 people.", "900", task="a", model="x"),
    row(2, "The hall seats 600 people.", task="a", model="y"),
    row(3, "The hall opened in 1990.", "1990", task="b", model="x"),
    row(4, "The hall opened in 1890.", task="b", model="y"),
    row(5, "The hall seats 600 people.", task="b", model="y", documents=()),
]


@pytest.fixture
def scorer():
    return Scorer(CONFIG)


def outcomes(rows, scorer):
    return [Outcome(r, s) for r, s in zip(rows, scorer.score(rows), strict=True)]


def test_a_score_has_one_risk_per_word_and_the_reports_spans(scorer):
    flagged, clean, *_, no_context = scorer.score(ROWS)
    assert flagged.status == "hallucinated"
    assert [ROWS[0].answer[start:end] for start, end in flagged.spans] == ["900"]
    assert flagged.risks == (0.1, 0.1, 0.1, 0.9, 0.1)
    assert flagged.score == 0.9
    assert (clean.status, clean.spans, max(clean.risks)) == ("supported", (), 0.1)
    assert (no_context.status, no_context.score, set(no_context.risks)) == ("no_context", 0.0, {0.0})
    assert len(no_context.risks) == len(find_words(ROWS[4].answer))


def test_figures_follow_from_the_rows(scorer):
    figures = evaluate(outcomes(ROWS, scorer), resamples=50)
    overall = figures["overall"]
    # Flagged: rows 1 and 4; hallucinated: rows 1 and 3.
    assert (overall["example_f1"], overall["example_precision"], overall["example_recall"]) == (0.5, 0.5, 0.5)
    assert overall["example_accuracy"] == 3 / 5
    assert overall["false_alarm_rate"] == pytest.approx(1 / 3)
    assert overall["all_positive_f1"] == pytest.approx(2 * (2 / 5) / (1 + 2 / 5))
    # Characters: 3 of 7 flagged and of 7 labelled ("900" of "900" + "1890", "900" + "1990").
    assert (overall["span_precision"], overall["span_recall"]) == (pytest.approx(3 / 7), pytest.approx(3 / 7))
    # Answer risks .9 .1 | .1 .9 0: five of six pairs of a positive and a negative, ties counting half.
    assert overall["example_auroc"] == pytest.approx((0.5 + 1 + 1 + 0 + 0.5 + 1) / 6)
    assert overall["statuses"] == {"supported": 2, "hallucinated": 2, "no_context": 1}
    assert set(figures) == {"a", "b", "overall", "models", "label_types"}
    assert (figures["a"]["rows"], figures["a"]["example_f1"]) == (2, 1.0)
    assert figures["b"]["example_f1"] == 0.0
    assert figures["models"]["x"]["rows"] == 2
    assert figures["label_types"] == {
        "made up": {"spans": 2, "span_recall": 0.5, "character_recall": pytest.approx(3 / 7)}
    }
    low, high = overall["intervals"]["example_f1"]
    assert low <= 0.5 <= high


def test_answers_labelled_as_a_whole_have_no_figures_of_spans(scorer):
    whole = [
        row(1, "The hall seats 900 people."),
        row(2, "The hall seats 600 people."),
    ]
    whole = [
        LabelledExample(**{**vars(r), "labels": None, "hallucinated": r.id == "1", "labels_complete": False})
        for r in whole
    ]
    overall = evaluate(outcomes(whole, scorer), resamples=10)["overall"]
    assert overall["example_f1"] == 1.0
    assert overall["span_f1"] is overall["token_ap"] is overall["token_auroc"] is overall["token_ece"] is None
    assert overall["intervals"]["span_f1"] is None


def test_mushroom_figures_average_languages_not_rows(scorer):
    rows = [
        row(1, "The hall seats 900 people.", "900", language="en", soft_labels=((15, 18, 1.0),)),
        row(2, "The hall seats 600 people.", language="en", soft_labels=()),
        row(3, "The hall seats 600 people.", "600", language="zz", soft_labels=((15, 18, 0.5),)),
    ]
    figures = evaluate_mushroom(outcomes(rows, scorer), resamples=10)
    assert figures["en"]["iou"] == pytest.approx(1.0)
    assert figures["zz"]["iou"] == 0.0
    assert figures["en"]["all_characters_iou"] == pytest.approx((3 / 26 + 0) / 2)
    assert figures["mean"] | {"iou": 1.0, "languages": ["en"]} == figures["mean"]
    assert figures["mean_all"]["iou"] == pytest.approx(0.5)
    assert 0 < figures["en"]["soft_correlation"] <= 1


def test_mushroom_mean_of_refind_is_its_published_mean():
    assert float(np.mean(list(REFIND_IOU.values()))) == pytest.approx(0.3633, abs=5e-5)


def test_held_out_thresholds_are_found_for_answers_and_words(scorer):
    found = held_out_thresholds(outcomes(ROWS[:2], scorer))
    assert found == {"example": {"value": 0.9, "f1": 1.0}, "token": {"value": 0.9, "f1": 1.0}}


def test_batches_keep_the_answers_to_one_source_together():
    rows = [row(i, "a", group=str(i % 5)) for i in range(30)]
    made = list(batches(rows, 8))
    assert sorted(r.id for batch in made for r in batch) == sorted(r.id for r in rows)
    assert all(len(batch) == 6 and len({r.group for r in batch}) == 1 for batch in made)
    assert [len(batch) for batch in batches([row(i, "a", group="g") for i in range(5)], 2)] == [2, 2, 1]


def test_a_stopped_run_goes_on_where_it_was(tmp_path, scorer, monkeypatch):
    first, _ = score_rows(ROWS[:3], CONFIG, scorer, ScoreCache(tmp_path, "d", scorer))
    scored = []
    score = Scorer.score
    monkeypatch.setattr(Scorer, "score", lambda self, rows: scored.extend(rows) or score(self, rows))
    cache = ScoreCache(tmp_path, "d", scorer)
    # An interruption in the middle of a line must cost that line only.
    text = cache.path.read_text(encoding="utf-8")
    cache.path.write_text(text[:-20], encoding="utf-8")
    done = []
    again, _ = score_rows(ROWS, CONFIG, scorer, ScoreCache(tmp_path, "d", scorer), advance=done.append)
    assert again[:3] == first
    assert {r.id for r in scored} == {"3", "4", "5"}
    assert sum(done) == len(ROWS)
    third, _ = score_rows(ROWS, CONFIG, scorer, ScoreCache(tmp_path, "d", scorer))
    assert third == again
    assert len(scored) == 3


def test_old_results_are_not_used_for_another_row_guard_or_when_unwanted(tmp_path, scorer):
    score_rows(ROWS, CONFIG, scorer, ScoreCache(tmp_path, "d", scorer))
    cache = ScoreCache(tmp_path, "d", scorer)
    assert cache.get(ROWS[0]) is not None
    assert cache.get(row(1, "The hall seats 901 people.")) is None
    assert cache.get(row(1, ROWS[0].answer, documents=("Another.",))) is None
    stricter = Scorer(GuardConfig(detector=DETECTOR, threshold=0.95))
    assert ScoreCache(tmp_path, "d", stricter).path != cache.path
    assert ScoreCache(tmp_path, "e", scorer).path != cache.path
    assert ScoreCache(tmp_path, "d", scorer, fresh=True).get(ROWS[0]) is None


def test_a_failing_answer_fails_alone_and_is_not_kept(tmp_path, scorer):
    rows = [*ROWS[:2], row(9, "The hall will explode.")]
    cache = ScoreCache(tmp_path, "d", scorer)
    results, _ = score_rows(rows, CONFIG, scorer, cache)
    assert [result.status for result in results] == ["hallucinated", "supported", "error"]
    assert "asked to fail" in results[2].error
    assert ScoreCache(tmp_path, "d", scorer).get(rows[2]) is None


@pytest.mark.slow
def test_worker_processes_give_the_same_results(tmp_path, scorer):
    rows = [row(i, f"The hall seats {590 + i} people.", group=str(i // 3)) for i in range(12)]
    here, _ = score_rows(rows, CONFIG, scorer, ScoreCache(tmp_path / "1", "d", scorer))
    there, _ = score_rows(rows, CONFIG, scorer, ScoreCache(tmp_path / "2", "d", scorer), processes=2, batch_size=3)
    assert there == here


def test_rows_are_drawn_by_source_and_checked():
    rows = [row(i, "a", group=str(i // 6), task="ab"[i % 2]) for i in range(60)]
    drawn = select_rows(rows, limit=12)
    assert len(drawn) == 12
    assert len({r.group for r in drawn}) == 2
    assert {r.id for r in drawn} == {r.id for r in select_rows(reversed(rows), limit=12)}
    assert {r.task for r in select_rows(rows, tasks=["B"])} == {"b"}
    with pytest.raises(InvalidInputError, match="task is 'c'; the tasks in this split are a, b"):
        select_rows(rows, tasks=["c"])
    with pytest.raises(InvalidInputError, match="ids must be unique"):
        select_rows([rows[0], rows[0]])
    with pytest.raises(InvalidInputError, match="limit is 0"):
        select_rows(rows, limit=0)
    unlabelled = LabelledExample(**{**vars(rows[0]), "labels": None, "hallucinated": None})
    with pytest.raises(InvalidInputError, match=r"row '0' has neither labels nor hallucinated"):
        select_rows([unlabelled])


def test_guards_are_made_by_name():
    assert Scorer(CONFIG).detectors == [{"name": "unseen-words", "version": "1", "threshold": 0.5}]
    with pytest.raises(InvalidInputError, match="exclude each other"):
        GuardConfig(preset="fast", detector=DETECTOR).build()
    with pytest.raises(InvalidInputError, match="'none' is not known; choose one of"):
        GuardConfig(detector="none").build()
    with pytest.raises(InvalidInputError, match="cannot be imported"):
        GuardConfig(detector="tests.evaluation.unseen_words:Nothing").build()


def test_outcomes_without_verdict_flag_nothing():
    outcome = Outcome(ROWS[0], Scored("abstained", 0.0, (), (0.0,) * 5))
    assert (outcome.flagged, outcome.score) == (False, 0.0)


def write_rows(path):
    path.write_text(
        "".join(
            json.dumps(
                {
                    "id": r.id,
                    "answer": r.answer,
                    "documents": [document.text for document in r.documents],
                    "labels": [{"start": label.start, "end": label.end} for label in r.labels],
                    "task": r.task,
                }
            )
            + "\n"
            for r in ROWS
        ),
        encoding="utf-8",
    )
    return path


def test_bench_command_prints_a_table_and_writes_every_figure(tmp_path):
    path = write_rows(tmp_path / "mine.jsonl")
    arguments = ["bench", str(path), "--detector", DETECTOR, "--cache", str(tmp_path), "--resamples", "20"]
    result = CliRunner().invoke(
        app, [*arguments, "--json", str(tmp_path / "out.json"), "--latency-rows", "2"], env={"COLUMNS": "200"}
    )
    assert result.exit_code == 0, result.output
    assert "overall" in result.output
    assert "statuses: hallucinated 2, supported 2, no_context 1" in result.output
    figures = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert (figures["dataset"], figures["split"], figures["rows"]) == ("mine.jsonl", "test", 5)
    assert figures["detector"] == DETECTOR
    keys = {
        "example_f1", "example_precision", "example_recall", "example_auroc", "span_f1", "token_ap",
        "token_auroc", "answer_ap", "ece", "all_positive_f1", "median_ms", "peak_rss_mb",
    }  # fmt: skip
    assert keys <= set(figures["overall"])
    assert keys <= set(figures["a"])
    assert figures["overall"]["median_ms"] > 0
    assert {"python", "rag_guard", "code"} <= set(figures["versions"])
    assert figures["batch_ms_per_answer"] > 0
    assert figures["command"].startswith("rag-guard")


def test_bench_command_names_thresholds_on_other_splits_than_test(tmp_path):
    path = write_rows(tmp_path / "mine.jsonl")
    result = CliRunner().invoke(
        app, ["bench", str(path), "--detector", DETECTOR, "--cache", str(tmp_path), "--split", "train"]
    )
    assert result.exit_code == 0, result.output
    assert "best example threshold here: 0.100 (F1 66.7)" in result.output


def test_bench_command_fails_if_a_check_did(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '{"answer": "It will explode.", "documents": ["It stands."], "labels": [{"start": 8, "end": 15}]}\n',
        encoding="utf-8",
    )
    arguments = ["bench", str(path), "--detector", DETECTOR, "--cache", str(tmp_path), "--resamples", "5"]
    result = CliRunner().invoke(app, [*arguments, "--json", str(tmp_path / "out.json")])
    assert result.exit_code == 1
    assert "1 checks failed, first row 1" in result.output
    assert json.loads((tmp_path / "out.json").read_text())["overall"]["statuses"] == {"error": 1}


def test_bench_command_names_what_is_wrong(tmp_path):
    result = CliRunner().invoke(app, ["bench", "ragtruth", "--data", str(tmp_path / "none")])
    assert isinstance(result.exception, InvalidInputError)
    assert "which is no folder" in str(result.exception)


def test_the_test_detector_is_a_detector():
    from rag_guard.detectors.base import Detector

    assert isinstance(UnseenWords(), Detector)
