"""A guard that breaks: LlamaIndex drops exceptions of event handlers, this package does not."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.rag_guard import links


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "rag_guard" in record.name]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("on_error", "blocked"), [("pass", False), ("warn", False), ("block", True), ("raise", True)])
def test_a_failing_detector(
    kit: Any, caplog: pytest.LogCaptureFixture, on_error: str, blocked: bool, streaming: bool
) -> None:
    guard = kit.guard(detectors=[kit.Detector(error=RuntimeError("out of memory"))], on_error=on_error)

    response = kit.engine(guard, streaming=streaming).query("q1")

    assert str(response) == (kit.BLOCKED if blocked else kit.lie("q1"))
    assert response.metadata["rag_guard"]["status"] == "error"
    assert "out of memory" in response.metadata["rag_guard"]["error"]
    assert sum("detector" in line and "failed" in line for line in lines(caplog)) >= 1
    assert [report.status.value for report in kit.reports] == ["error"]


class Unreadable(TextNode):
    broken: bool = False

    def get_content(self, *args: Any, **kwargs: Any) -> str:
        if self.broken:
            raise ValueError("no text in here")
        return super().get_content(*args, **kwargs)


@pytest.mark.parametrize(("on_error", "blocked"), [("pass", False), ("block", True), ("raise", True)])
def test_nodes_that_cannot_be_read(kit: Any, on_error: str, blocked: bool) -> None:
    node = Unreadable(text=kit.truth("q1"))

    class Breaking(kit.Model):  # type: ignore[name-defined,misc]
        def answer(self, prompt: str) -> str:
            node.broken = True
            return str(kit.lie("q1"))

    from llama_index.core.query_engine import RetrieverQueryEngine

    retriever = kit.Retriever()
    retriever._nodes = lambda query: [NodeWithScore(node=node)]
    engine = RetrieverQueryEngine.from_args(
        retriever, llm=Breaking(), node_postprocessors=[kit.guard(on_error=on_error)]
    )

    response = engine.query("q1")

    assert str(response) == (kit.BLOCKED if blocked else kit.lie("q1"))
    assert response.metadata["rag_guard"]["status"] == "error"


def test_an_interrupted_check_blocks(kit: Any, caplog: pytest.LogCaptureFixture) -> None:
    guard = kit.guard(detectors=[kit.Detector(error=KeyboardInterrupt())])

    assert str(kit.engine(guard).query("q1")) == kit.BLOCKED
    assert any("cut off" in line for line in lines(caplog))


def test_a_defect_of_the_link_is_logged(
    kit: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(event: Any) -> list[Any]:
        raise LookupError("a defect")

    monkeypatch.setattr(links, "_marks_for", broken)

    kit.engine(kit.guard()).query("q1")

    assert "the guard failed" in lines(caplog)


def test_a_failing_listener_is_logged(kit: Any, caplog: pytest.LogCaptureFixture) -> None:
    def broken(report: Any) -> None:
        raise OSError("disk full")

    assert str(kit.engine(kit.guard(on_report=broken)).query("q1")) == kit.BLOCKED
    assert lines(caplog) == ["on_report failed"]
