from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_guard import presets
from rag_guard.cli import app
from rag_guard.commands.check import _repeat_option
from rag_guard.detectors.base import Detection
from rag_guard.schema import Report
from rag_guard.text.analysis import Analysis

LAKE = "The lake is 41 m deep. Ilse Brandt mapped it in 1911."
RIGHT = "The lake is 41 m deep."
WRONG = "The lake is 88 m deep."

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lake.txt").write_text(LAKE, encoding="utf-8")
    (tmp_path / "right.txt").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "wrong.txt").write_text(WRONG, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run() -> Run:
    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Any:
        return CliRunner().invoke(app, ["check", "--preset", "fast", *arguments], input=stdin)

    return invoke


def write_rows(path: Path, rows: Sequence[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_right_answer_exits_0_and_wrong_answer_1(run: Run) -> None:
    assert run("--answer", "right.txt", "--documents", "lake.txt").exit_code == 0
    wrong = run("--answer", "wrong.txt", "--documents", "lake.txt", "--question", "How deep is it?")
    assert wrong.exit_code == 1
    assert "[[88" in wrong.stdout
    assert "documents say: 41" in wrong.stdout
    assert wrong.stderr == ""


@pytest.mark.parametrize(
    ("answer", "documents"), [(RIGHT, []), ("I do not know.", ["-d", "lake.txt"]), ("", ["-d", "lake.txt"])]
)
def test_answer_without_a_verdict_exits_3(answer: str, documents: list[str], run: Run) -> None:
    result = run("--answer", "-", *documents, stdin=answer)
    assert result.exit_code == 3
    assert "This is not a verdict" in result.stdout


def test_json_output_is_a_report_with_offsets_into_the_files(run: Run, tmp_path: Path) -> None:
    answer = "# Depth\r\n\r\nThe lake is **88** m deep.\r\n"
    document = "\ufeffNotes\r\n\r\nThe lake is 41 m deep.\r\n"
    (tmp_path / "a.md").write_bytes(answer.encode())
    (tmp_path / "d.md").write_bytes(document.encode())
    result = run("-a", "a.md", "-d", "d.md", "--format", "json")
    report = Report.model_validate_json(result.stdout)
    assert result.exit_code == 1
    assert report.answer == answer
    assert report.documents[0].text == document.removeprefix("\ufeff")
    assert report.documents[0].id == "d.md"
    assert [answer[span.start : span.end] for span in report.spans] == ["88"]
    for item in report.spans[0].evidence:
        assert report.documents[item.document].text[item.start : item.end] == item.quote


def test_question_is_read_from_a_file_after_an_at_sign(run: Run, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("How deep is the lake?", encoding="utf-8")
    report = json.loads(run("-a", "right.txt", "-d", "lake.txt", "-q", "@q.txt", "-f", "json").stdout)
    assert report["question"] == "How deep is the lake?"


def test_documents_keep_their_order_however_they_are_given(run: Run, tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / f"{name}.txt").write_text(f"Document {name}.", encoding="utf-8")
    arguments = ["-d", "c.txt", "a.txt", "--documents=d.txt", "b.txt", "--documents", "lake.txt"]
    report = json.loads(run(*arguments, "-a", "right.txt", "-f", "json").stdout)
    assert [item["id"] for item in report["documents"]] == ["c.txt", "a.txt", "d.txt", "b.txt", "lake.txt"]


def test_values_of_other_options_are_not_taken_for_documents() -> None:
    given = ["-d", "a", "b", "-q", "why", "--jsonl", "-", "-d", "-", "c"]
    expected = ["-d", "a", "-d", "b", "-q", "why", "--jsonl", "-", "-d", "-", "-d", "c"]
    assert _repeat_option(given, ("--documents", "-d")) == expected


def test_documents_are_read_from_every_kind_of_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "many.json").write_text(
        json.dumps(["one", {"text": "two", "id": 7}, {"page_content": "three", "metadata": {"page": 3}}]),
        encoding="utf-8",
    )
    (tmp_path / "lines.jsonl").write_text('"four"\n\n{"text": "five"}\n', encoding="utf-8")
    record = '{"name": "Arno", "depth": 41}'
    (tmp_path / "record.json").write_text(record, encoding="utf-8")
    (tmp_path / "wide.txt").write_text("sechs ß", encoding="utf-16")
    arguments = ["-d", "many.json", "lines.jsonl", "record.json", "wide.txt", "-a", "right.txt", "-f", "json"]
    documents = json.loads(run(*arguments).stdout)["documents"]
    assert [item["text"] for item in documents] == ["one", "two", "three", "four", "five", record, "sechs ß"]
    assert documents[1]["id"] == "7"
    assert documents[2]["metadata"] == {"page": 3}


def test_json_lines_give_one_line_each_and_the_worst_exit_code(run: Run, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "answer": RIGHT, "documents": [LAKE]},
        {"id": 2, "answer": WRONG, "documents": LAKE, "question": "How deep?"},
        {"id": "c", "answer": RIGHT, "documents": []},
        {"id": "d", "answer": RIGHT, "documents": [{"text": "Nothing of lakes."}, {"page_content": LAKE}]},
    ]
    write_rows(tmp_path / "rows.jsonl", rows)
    result = run("--jsonl", "rows.jsonl", "--format", "json", "--batch-size", "3")
    reports = [Report.model_validate_json(line) for line in result.stdout.splitlines()]
    assert [report.id for report in reports] == ["a", "2", "c", "d"]
    assert [report.status.value for report in reports] == [
        "supported",
        "hallucinated",
        "no_context",
        "supported",
    ]
    assert result.exit_code == 1
    write_rows(tmp_path / "rows.jsonl", [rows[0], rows[2]])
    assert run("--jsonl", "rows.jsonl").exit_code == 3


def test_json_lines_come_from_standard_input_and_share_documents(run: Run) -> None:
    result = run("--jsonl", "-", "-d", "lake.txt", "-f", "json", stdin=json.dumps({"answer": WRONG}) + "\r\n")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["documents"][0]["text"] == LAKE


def test_bad_row_is_told_with_its_line_and_the_others_are_checked(run: Run, tmp_path: Path) -> None:
    good = json.dumps({"answer": RIGHT, "documents": [LAKE]})
    lines = [good, '{"answer": "x",', '{"documents": []}', "[1]", '{"answer": 3}', good]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    result = run("--jsonl", "rows.jsonl", "--format", "json")
    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 2
    complaints = result.stderr.splitlines()
    assert [line.split(":")[1].split(" is ")[0].split(" has ")[0].strip() for line in complaints] == [
        f"rows.jsonl line {number}" for number in (2, 3, 4, 5)
    ]
    assert "column 16" in complaints[0]
    assert '"documents"' in complaints[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--answer FILE or --jsonl FILE"),
        (["-a", "right.txt", "--jsonl", "rows.jsonl"], "name one source"),
        (["-a", "missing.txt"], "missing.txt: no such file"),
        (["-a", "."], "is a folder"),
        (["-a", "right.txt", "-d", "missing.md"], "missing.md: no such file"),
        (["-a", "-", "-d", "-"], "only once"),
        (["-a", "right.txt", "-o", "nowhere/out.html"], "does not exist; create it"),
        (["-a", "right.txt", "--policy", "shout"], "'shout'"),
        (["--jsonl", "lake.txt", "-q", "why"], '"question"'),
        (["-a", "right.txt", "-d", "broken.json"], "broken.json is not JSON: line 2, column 1"),
        (["-a", "right.txt", "-d", "numbers.json"], "numbers.json item 2 is no document: 5"),
        (["-a", "latin1.txt"], "not valid UTF-8: byte 0xfc at position 9 (line 2)"),
        (["--jsonl", "empty.jsonl"], "holds no rows"),
    ],
)
def test_bad_input_exits_2_and_names_the_remedy(arguments: list[str], message: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("[1,\n", encoding="utf-8")
    (tmp_path / "numbers.json").write_text('["a", 5]', encoding="utf-8")
    (tmp_path / "latin1.txt").write_bytes("eins\nfünf".replace("f", "vier", 1).encode("latin-1"))
    (tmp_path / "empty.jsonl").write_text("\n\n", encoding="utf-8")
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_unknown_preset_exits_2_and_names_the_known_ones() -> None:
    result = CliRunner().invoke(app, ["check", "-a", "right.txt", "--preset", "best"])
    assert result.exit_code == 2
    assert "balanced" in result.stderr


def test_bad_byte_in_a_row_is_placed_in_the_file(run: Run, tmp_path: Path) -> None:
    first = json.dumps({"answer": RIGHT, "documents": [LAKE]}).encode() + b"\n"
    (tmp_path / "rows.jsonl").write_bytes(first + b'{"answer": "\xe9"}\n')
    result = run("--jsonl", "rows.jsonl", "-f", "json")
    assert result.exit_code == 2
    assert f"rows.jsonl line 2 is not valid UTF-8: byte 0xe9 at position {len(first) + 12}" in result.stderr


def test_output_file_gets_the_format_of_its_suffix(run: Run, tmp_path: Path) -> None:
    assert run("-a", "wrong.txt", "-d", "lake.txt", "-o", "report.html").exit_code == 1
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Hallucinated" in page
    run("-a", "wrong.txt", "-d", "lake.txt", "-o", "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["status"] == "hallucinated"
    run("-a", "wrong.txt", "-d", "lake.txt", "-o", "report.txt")
    assert "documents say: 41" in (tmp_path / "report.txt").read_text(encoding="utf-8")


def test_html_of_rows_is_one_page(run: Run, tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", [{"answer": a, "documents": [LAKE]} for a in (RIGHT, WRONG, RIGHT)])
    page = run("--jsonl", "rows.jsonl", "--format", "html").stdout
    assert page.count("<!DOCTYPE html>") == 1
    assert page.count("<article") == 3


def test_text_of_rows_ends_with_counts(run: Run, tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", [{"answer": a, "documents": [LAKE]} for a in (RIGHT, WRONG, RIGHT)])
    assert run("--jsonl", "rows.jsonl").stdout.endswith("3 answers: 2 supported, 1 hallucinated\n")


def test_policies_show_in_the_report_and_keep_the_exit_code(run: Run, tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", [{"answer": a, "documents": [LAKE]} for a in (WRONG, RIGHT)])
    for policy, action in (("report", "reported"), ("block", "blocked"), ("raise", "raised")):
        result = run("--jsonl", "rows.jsonl", "-f", "json", "--policy", policy)
        reports = [json.loads(line) for line in result.stdout.splitlines()]
        assert [report["action"] for report in reports] == [action, "none"]
        assert result.exit_code == 1


class _Broken:
    """A detector that fails; nothing but a fault can bring a check to status ``error``."""

    name, version, threshold = "broken", "1", 0.5

    def detect(self, analyses: Sequence[Analysis]) -> list[Detection]:
        raise MemoryError("no room")


def test_failed_check_exits_4_and_never_looks_clean(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(presets.PRESETS, "fast", lambda: [_Broken()])
    result = run("-a", "right.txt", "-d", "lake.txt")
    assert result.exit_code == 4
    assert "Check failed" in result.stdout
    assert "no room" in result.stdout
    assert "✓" not in result.stdout


def test_crash_exits_4_not_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash() -> list[Any]:
        raise OSError("the model file is damaged")

    monkeypatch.setitem(presets.PRESETS, "fast", crash)
    result = run("-a", "right.txt", "-d", "lake.txt")
    assert result.exit_code == 4
    assert "the model file is damaged" in result.stderr


def test_lone_surrogates_survive_every_format(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(
        r'{"answer": "The lake is 88 \ud800 m deep.", "documents": ["It is 41 m deep."]}'
    )
    line = run("--jsonl", "rows.jsonl", "-f", "json").stdout
    assert json.loads(line)["answer"] == "The lake is 88 \ud800 m deep."
    for format in ("text", "html"):
        assert run("--jsonl", "rows.jsonl", "-f", format).exit_code in (0, 1)


def test_help_documents_the_exit_codes(run: Run) -> None:
    shown = " ".join(run("--help").stdout.split())
    assert "0 supported, 1 hallucinated, 2 wrong usage or input, 3 no verdict" in shown


def test_installed_command_reads_a_pipe_and_prints_without_colour() -> None:
    command = Path(sys.executable).with_name("rag-guard")
    if not command.exists():
        pytest.skip("rag-guard is not installed beside this interpreter: pip install -e .")
    result = subprocess.run(
        [command, "check", "--preset", "fast", "-a", "-", "-d", "lake.txt"],
        input=WRONG.encode(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 1, result.stderr
    assert b"\x1b" not in result.stdout
    assert b"documents say: 41" in result.stdout
    assert result.stderr == b""


def test_output_that_cannot_show_a_character_escapes_it(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    command = Path(sys.executable).with_name("rag-guard")
    if not command.exists():
        pytest.skip("rag-guard is not installed beside this interpreter: pip install -e .")
    result = subprocess.run(
        [command, "check", "--preset", "fast", "-a", "-", "-d", "lake.txt"],
        input="Das Öl ist 88 m tief.".encode(),
        capture_output=True,
        check=False,
        timeout=120,
        env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"},
    )
    assert result.returncode in (0, 1), result.stderr
    assert b"\\xd6l" in result.stdout


def test_rows_are_answered_as_they_come(tmp_path: Path) -> None:
    """With a batch of one, a row's report is out before the next row is read."""
    from rag_guard.commands.check import _check
    from rag_guard.commands.inputs import read_rows
    from rag_guard.guard import HallucinationGuard

    write_rows(tmp_path / "rows.jsonl", [{"answer": RIGHT, "documents": [LAKE]}] * 3)
    read: list[int] = []

    def watched() -> Any:
        for number, row in enumerate(read_rows("rows.jsonl", [], lambda _: None)):
            read.append(number)
            yield row

    reports = _check(HallucinationGuard(preset="fast"), watched(), 1)
    next(reports)
    assert read == [0]
