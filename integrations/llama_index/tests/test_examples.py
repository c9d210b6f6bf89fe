"""The examples, on a real small model and real embeddings; in one process, so that the model is loaded once."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_guard import Status

EXAMPLES = Path(__file__).parents[3] / "examples"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    """A function that runs an example's ``main``; answers are cut short, so that the tests are quick."""
    sys.path.insert(0, str(EXAMPLES))
    station: Any = importlib.import_module("llama_index_station")
    station.load_llm().max_new_tokens = 24

    def run(name: str, *arguments: str) -> Any:
        return importlib.import_module(f"llama_index_{name}").main(list(arguments))

    yield run
    sys.path.remove(str(EXAMPLES))


@pytest.mark.parametrize("policy", ["repair", "block"])
def test_query_engine(example: Any, policy: str) -> None:
    (report,) = example("query_engine", "--questions", "1", "--policy", policy)

    assert report.answer.strip()
    assert report.status.is_verdict
    assert [document.id for document in report.documents]
    assert (report.output == report.answer) == (report.status is Status.SUPPORTED)


@pytest.mark.parametrize("mode", ["sentence", "annotate"])
def test_chat_streams_with_memory(example: Any, mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    chat = example("chat", "--questions", "1", "--stream-mode", mode)

    question, answer = chat.chat_history
    assert (question.role.value, answer.role.value) == ("user", "assistant")
    assert (answer.content or "").strip()
    assert (answer.content or "").strip() in capsys.readouterr().out


def test_agent_with_a_query_engine_tool(example: Any) -> None:
    output, memory, report = example("agent")

    assert [message.role.value for message in memory.get_all()] == ["user", "assistant", "tool", "assistant"]
    assert str(output) == memory.get_all()[-1].content == report.output
    assert all(document.metadata["file"] for document in report.documents), "evidence is what the tool retrieved"


def test_evaluation(example: Any, tmp_path: Path) -> None:
    results = example("evaluation", "--questions", "2", "--output", str(tmp_path / "report.html"))

    assert len(results) == 2
    assert all(result.invalid_result or 0.0 <= result.score <= 1.0 for result in results)
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_workflow(example: Any) -> None:
    report = example("workflow")

    assert report.documents
    assert report.answer.strip()
