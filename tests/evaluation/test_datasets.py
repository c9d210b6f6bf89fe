"""Readers of labelled answers, on files written by the tests in the layouts of their publishers."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from rag_guard import InvalidInputError
from rag_guard.evaluation.benchmark import REFIND_IOU
from rag_guard.evaluation.datasets import (
    in_holdout,
    load_dataset,
    read_jsonl,
    read_mushroom,
    read_ragbench,
    read_ragtruth,
    train_holdout,
)
from rag_guard.evaluation.metrics import all_positive_f1, span_iou


def write(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return path


LABEL = {"start": 4, "end": 8, "text": "shop", "label_type": "Evident Conflict", "implicit_true": True}
RESPONSE = {
    "id": "7",
    "source_id": "70",
    "model": "m",
    "labels": [LABEL],
    "split": "test",
    "response": "The shop.",
}


def test_ragtruth_official_layout_joins_sources(tmp_path):
    passages = "passage 1:One.\n\npassage 2:Two.\n\npassage 3:Three.\n\n"
    write(
        tmp_path / "source_info.jsonl",
        {"source_id": "70", "task_type": "QA", "source_info": {"question": "Which?", "passages": passages}},
        {
            "source_id": "71",
            "task_type": "Data2txt",
            "source_info": {"name": "Ann's", "open": None, "wifi": True},
        },
        {"source_id": "72", "task_type": "Summary", "source_info": "A text.\n\nIts end."},
    )
    write(
        tmp_path / "response.jsonl",
        RESPONSE,
        {**RESPONSE, "id": "8", "source_id": "71", "labels": []},
        {**RESPONSE, "id": "9", "source_id": "72", "labels": []},
        {**RESPONSE, "id": "10", "source_id": "72", "split": "train"},
    )
    qa, data, summary = read_ragtruth(tmp_path, "test")
    assert [document.text for document in qa.documents] == ["One.", "Two.", "Three."]
    assert (qa.question, qa.task, qa.group, qa.model, qa.hallucinated) == ("Which?", "QA", "70", "m", True)
    assert (qa.labels[0].start, qa.labels[0].end, qa.labels[0].type) == (4, 8, "Evident Conflict")
    assert qa.labels[0].implicit_true
    assert data.documents[0].text == """{'name': "Ann's", 'open': None, 'wifi': True}"""
    assert (data.hallucinated, data.question) == (False, None)
    assert [document.text for document in summary.documents] == ["A text.\n\nIts end."]


def test_ragtruth_joined_layout_splits_passages_of_questions_only(tmp_path):
    row = {
        "id": "1",
        "source_group": 3,
        "split": "test",
        "model": "m",
        "labels": [],
        "output": "x",
        "query": "q",
    }
    write(
        tmp_path / "ragtruth_qa_test.jsonl.gz",
        {**row, "task_type": "QA", "context": "One.\n\nTwo.\n\nThree."},
    )
    write(tmp_path / "ragtruth_summary_test.jsonl.gz", {**row, "task_type": "Summary", "context": "A.\n\nB."})
    write(tmp_path / "ragtruth_qa_train.jsonl.gz", {**row, "split": "train", "task_type": "QA", "context": "N."})
    qa, summary = load_dataset("ragtruth", tmp_path, "test")
    assert [document.text for document in qa.documents] == ["One.", "Two.", "Three."]
    assert (qa.question, summary.question, qa.group) == ("q", None, "3")
    assert len(summary.documents) == 1


def test_an_unknown_source_is_named(tmp_path):
    write(tmp_path / "source_info.jsonl", {"source_id": "1", "task_type": "QA", "source_info": {}})
    write(tmp_path / "response.jsonl", RESPONSE)
    with pytest.raises(InvalidInputError, match=r"response.jsonl, line 1: source_id is '70'"):
        list(read_ragtruth(tmp_path))


def test_mushroom_rows_keep_soft_labels_and_may_lack_passages(tmp_path):
    row = {
        "id": "tst-en-1",
        "lang": "EN",
        "model_input": "Who?",
        "model_output_text": "Nobody did.",
        "model_id": "m",
        "soft_labels": [{"start": 0, "prob": 0.25, "end": 6}],
        "hard_labels": [[7, 10]],
    }
    write(tmp_path / "en_test.jsonl.gz", {**row, "passages": ["P1", "P2"]})
    write(tmp_path / "mushroom.sv-val.v2.jsonl", {**row, "lang": "SV", "hard_labels": []})
    (test,) = read_mushroom(tmp_path, "test")
    assert (test.task, test.language, test.split, test.question) == ("en", "en", "test", "Who?")
    assert (test.labels[0].start, test.labels[0].end, test.soft_labels) == (7, 10, ((0, 6, 0.25),))
    assert [document.text for document in test.documents] == ["P1", "P2"]
    (val,) = read_mushroom(tmp_path, "val")
    assert (val.documents, val.hallucinated, val.split) == ((), False, "val")


RAGBENCH = {
    "id": "5",
    "subset": "delucionqa",
    "split": "test",
    "question": "Q?",
    "documents": ["D"],
    "response": "Good. Bad.",
    "response_sentences": [
        {"key": "a", "text": "Good.", "start": 0, "end": 5, "unsupported": False},
        {"key": "b", "text": "Bad.", "start": 6, "end": 10, "unsupported": True},
    ],
    "adherence_score": False,
    "unsupported_keys": ["b"],
    "generation_model": "m",
}


def test_ragbench_labels_are_its_unsupported_sentences(tmp_path):
    path = tmp_path / "ragbench_delucionqa_test.jsonl.gz"
    write(path, RAGBENCH, {**RAGBENCH, "adherence_score": True, "unsupported_keys": []})
    bad, good = read_ragbench(tmp_path, "test")
    assert [(label.start, label.end) for label in bad.labels] == [(6, 10)]
    assert (bad.hallucinated, bad.labels_complete, bad.task) == (True, True, "delucionqa")
    assert (good.hallucinated, good.labels) == (False, ())
    assert (bad.id, good.id) == ("delucionqa-test-5", "delucionqa-test-5-2")
    assert bad.group == good.group


def test_ragbench_sentences_without_a_place_leave_the_answer_labelled(tmp_path):
    lost = {"key": "b", "text": "Reworded.", "start": None, "end": None, "unsupported": True}
    row = {**RAGBENCH, "response_sentences": [RAGBENCH["response_sentences"][0], lost]}
    write(tmp_path / "ragbench_delucionqa_test.jsonl.gz", row)
    (bad,) = read_ragbench(tmp_path)
    assert (bad.hallucinated, bad.labels, bad.labels_complete) == (True, (), False)


def test_ragbench_official_columns(tmp_path):
    row = {
        "id": "5",
        "dataset_name": "covidqa_test",
        "question": "Q?",
        "documents": ["D"],
        "response": "Good. Bad. Bad.",
        "response_sentences": [["a", "Good."], ["b", "Bad."], ["c", "Bad."]],
        "adherence_score": False,
        "unsupported_response_sentence_keys": ["c."],
        "generation_model_name": "m",
    }
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    (tmp_path / "covidqa").mkdir()
    parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "covidqa" / "test-00000-of-00001.parquet")
    (bad,) = read_ragbench(tmp_path, "test")
    assert [(label.start, label.end) for label in bad.labels] == [(11, 15)]
    assert (bad.task, bad.split, bad.model) == ("covidqa", "test", "m")


def test_user_rows_take_documents_of_any_form(tmp_path):
    path = write(
        tmp_path / "mine.jsonl",
        {"answer": "abc", "documents": "D"},
        {"answer": "abc", "documents": ["D", {"text": "E", "id": 4, "metadata": {"k": 1}}], "labels": []},
        {"answer": "a🎉c", "documents": [], "labels": [{"start": 1, "end": 3, "text": "🎉c", "type": "t"}]},
        {"answer": "abc", "documents": [], "hallucinated": True, "id": 9, "group": "g"},
        {"answer": "abc", "documents": [], "hallucinated": False},
    )
    plain, rich, emoji, whole, clean = read_jsonl(path)
    assert (plain.labels, plain.hallucinated, plain.documents[0].text, plain.id) == (None, None, "D", "1")
    assert (rich.documents[1].id, dict(rich.documents[1].metadata), rich.hallucinated) == (
        "4",
        {"k": 1},
        False,
    )
    assert (emoji.labels[0].start, emoji.labels[0].end, emoji.labels[0].type) == (1, 3, "t")
    assert (whole.labels, whole.hallucinated, whole.labels_complete) == (None, True, False)
    assert (whole.id, whole.group) == ("9", "g")
    assert (clean.labels, clean.hallucinated) == ((), False)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"documents": []}, "answer is missing"),
        ({"answer": 3, "documents": []}, "answer is 3; write a string"),
        ({"answer": "a"}, "documents is missing"),
        ({"answer": "a", "documents": [3]}, r"documents\[0\] is 3"),
        ({"answer": "a", "documents": [], "labels": "x"}, "labels is 'x'"),
        (
            {"answer": "a", "documents": [], "labels": [{"start": 0, "end": 2}]},
            r"labels\[0\] is 0:2, not a range",
        ),
        ({"answer": "a", "documents": [], "labels": [{"start": True, "end": 1}]}, r"labels\[0\] is True:1"),
        (
            {"answer": "éa", "documents": [], "labels": [{"start": 0, "end": 1, "text": "a"}]},
            r"labels\[0\].text is 'a', but 0:1 of the answer is 'é'",
        ),
        ({"answer": "a", "documents": [], "hallucinated": "no"}, "hallucinated is 'no'"),
        (
            {"answer": "a", "documents": [], "hallucinated": False, "labels": [{"start": 0, "end": 1}]},
            "hallucinated is false although",
        ),
    ],
)
def test_a_bad_row_is_named_by_file_line_and_field(tmp_path, row, message):
    path = write(tmp_path / "mine.jsonl", {"answer": "ok", "documents": []}, row)
    with pytest.raises(InvalidInputError, match=rf"mine\.jsonl, line 2: {message}"):
        list(read_jsonl(path))


def test_files_that_hold_no_rows_are_named(tmp_path):
    (tmp_path / "bad.jsonl").write_text("{}\n{", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"bad\.jsonl, line 1: answer is missing"):
        list(read_jsonl(tmp_path / "bad.jsonl"))
    (tmp_path / "bad.jsonl").write_text("\n[1]\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"bad\.jsonl, line 2: is \[1\]"):
        list(read_jsonl(tmp_path / "bad.jsonl"))
    (tmp_path / "bad.jsonl.gz").write_bytes(b"plain")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        list(read_jsonl(tmp_path / "bad.jsonl.gz"))
    with pytest.raises(InvalidInputError, match="no such file"):
        list(read_jsonl(tmp_path / "none.jsonl"))


def test_wrong_places_are_named(tmp_path):
    with pytest.raises(InvalidInputError, match="data is missing"):
        load_dataset("ragtruth")
    with pytest.raises(InvalidInputError, match="which is no folder"):
        load_dataset("ragtruth", tmp_path / "none")
    with pytest.raises(InvalidInputError, match=r"has no response\.jsonl"):
        load_dataset("ragtruth", tmp_path)
    with pytest.raises(InvalidInputError, match="neither ragtruth"):
        load_dataset("ragtroth", tmp_path)
    write(tmp_path / "ragtruth_qa_test.jsonl.gz")
    with pytest.raises(InvalidInputError, match="split is 'dev'"):
        load_dataset("ragtruth", tmp_path, "dev")


def test_holdout_is_decided_by_the_group_alone(tmp_path):
    path = write(
        tmp_path / "mine.jsonl",
        *({"answer": "a", "documents": [], "labels": [], "group": i // 3, "id": i} for i in range(600)),
    )
    rows = list(read_jsonl(path))
    train, holdout = train_holdout(rows, 0.2, seed=1)
    assert {row.group for row in train}.isdisjoint(row.group for row in holdout)
    assert 0.1 < len(holdout) / len(rows) < 0.3
    shuffled = train_holdout(reversed(rows[:300]), 0.2, seed=1)[1]
    assert {row.id for row in shuffled} == {row.id for row in holdout if int(row.id) < 300}
    assert {row.id for row in train_holdout(rows, 0.2, seed=2)[1]} != {row.id for row in holdout}
    fit = {row.id for row in load_dataset(str(path), split="fit")}
    held = {row.id for row in load_dataset(str(path), split="holdout")}
    assert fit | held == {row.id for row in rows}
    assert held == {row.id for row in rows if in_holdout(row.group)}


def test_holdout_fraction_is_checked():
    with pytest.raises(InvalidInputError, match="fraction is 1"):
        train_holdout([], 1.0)


SHARED = Path(os.environ.get("RAG_GUARD_SHARED", Path(__file__).parents[3] / "shared")) / "data"


@pytest.mark.skipif(not (SHARED / "ragtruth").is_dir(), reason=f"no RAGTruth in {SHARED}")
def test_ragtruth_test_split_has_its_published_baseline():
    rows = list(load_dataset("ragtruth", SHARED / "ragtruth", "test"))
    published = {"QA": 30.2, "Summary": 37.0, "Data2txt": 78.3}
    for task, f1 in published.items():
        gold = [row.hallucinated for row in rows if row.task == task]
        assert (len(gold), round(100 * all_positive_f1(gold), 1)) == (900, f1)
    assert round(100 * all_positive_f1([row.hallucinated for row in rows]), 1) == 51.8
    assert {len(row.documents) for row in rows if row.task == "QA"} == {3}
    train = load_dataset("ragtruth", SHARED / "ragtruth", "train")
    assert {row.group for row in rows}.isdisjoint(row.group for row in train)


@pytest.mark.skipif(not (SHARED / "mushroom").is_dir(), reason=f"no Mu-SHROOM in {SHARED}")
def test_flagging_every_character_of_mushroom_scores_its_known_iou():
    by_language = {}
    for row in load_dataset("mushroom", SHARED / "mushroom", "test"):
        gold = [(label.start, label.end) for label in row.labels]
        by_language.setdefault(row.language, []).append(span_iou(gold, [(0, len(row.answer))]))
    means = [sum(by_language[language]) / len(by_language[language]) for language in REFIND_IOU]
    assert sum(means) / len(means) == pytest.approx(0.3437, abs=5e-5)
