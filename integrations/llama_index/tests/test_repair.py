"""``policy="repair"``: what the caller, memory, agents and streams get is the repaired answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.rag_guard.responses import Task

from rag_guard import HallucinationGuard as CoreGuard
from rag_guard.repair import NOTHING_LEFT, Repair, apply_edits

NODES = [NodeWithScore(node=TextNode(text="The hall seats 600. It opened in 1995. It has a bar.", id_="hall"))]


@pytest.fixture
def repairing(kit: Any) -> Any:
    return kit.guard(policy="repair")


async def test_query_engines(kit: Any, repairing: Any) -> None:
    for engine in (kit.engine(repairing), repairing.wrap_query_engine(kit.engine())):
        response = engine.query("q1")
        assert response.response == kit.truth("q1")
        record = response.metadata["rag_guard"]
        assert (record["status"], record["action"], record["answer"]) == ("hallucinated", "repaired", kit.lie("q1"))
        assert record["edits"][0]["evidence"][0]["node_id"] == "node-q1"
        assert str(await engine.aquery("q2")) == kit.truth("q2")


@pytest.mark.parametrize("mode", ["refine", "tree_summarize", "simple_summarize", "accumulate", "compact_accumulate"])
def test_response_modes(kit: Any, repairing: Any, mode: str) -> None:
    text = str(kit.engine(repairing, response_mode=mode).query("q1"))

    assert "999" not in text
    assert kit.truth("q1") in text


def test_chat_memory(kit: Any, repairing: Any) -> None:
    chat = ContextChatEngine.from_defaults(retriever=kit.Retriever(), llm=kit.Model(), node_postprocessors=[repairing])

    assert str(chat.chat("q1")) == chat.chat_history[-1].content == kit.truth("q1")
    assert "".join(chat.stream_chat("q2").response_gen) == chat.chat_history[-1].content == kit.truth("q2")


def test_citation_engine(kit: Any, repairing: Any) -> None:
    from llama_index.core import Document, VectorStoreIndex

    index = VectorStoreIndex.from_documents([Document(text=kit.truth("q1"))])
    engine = CitationQueryEngine.from_args(index, llm=kit.Model(), node_postprocessors=[repairing])

    assert str(engine.query("q1")) == kit.truth("q1")


def sentences(guard: Any, *texts: str) -> tuple[list[str], Any]:
    def tokens() -> Iterator[str]:
        for text in texts:
            yield from (word + " " for word in text.split())

    response = StreamingResponse(response_gen=tokens(), source_nodes=NODES)  # type: ignore[arg-type]
    return list(Task(guard.checker, response, None).run().response_gen), response


def test_sentences_are_repaired_while_they_stream(kit: Any) -> None:
    guard = kit.guard(policy="repair", stream_mode="sentence")

    tokens, response = sentences(guard, "The hall seats 600.", "It opened in 1968.", "It has a bar.")

    assert tokens == ["The hall seats 600. ", "It opened in 1995. ", "It has a bar. "]
    (report,) = kit.reports
    assert report.output == report.repaired == "".join(tokens)
    assert apply_edits(report.answer, report.edits) == report.repaired
    assert response.metadata["rag_guard"]["recheck"]["status"] == "supported"


def test_a_sentence_of_which_nothing_is_left_is_left_out(kit: Any) -> None:
    guard = kit.guard(policy="repair", stream_mode="sentence")

    tokens, _ = sentences(guard, "The hall seats 600.", "It has a swimming pool.", "It has a bar.")
    assert "".join(tokens).split() == "The hall seats 600. It has a bar.".split()
    tokens, _ = sentences(guard, "It has a swimming pool.", "Napoleon slept there.")
    assert tokens == [NOTHING_LEFT]


def test_settings_of_the_repair_are_kept(kit: Any) -> None:
    core = CoreGuard("fast", policy="repair", repair=Repair("remove"))
    guard = kit.guard()
    kept = type(guard)(core, on_error="block").guard

    assert kept.repair is core.repair
    assert type(guard)(core, policy="block").guard.policy == "block"
