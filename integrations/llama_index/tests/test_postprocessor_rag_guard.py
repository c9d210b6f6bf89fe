"""One object in ``node_postprocessors``: query engines of every response mode, streams, and what it leaves alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.postprocessor.rag_guard import HallucinationGuard, locate

from rag_guard import Evidence, InvalidInputError
from rag_guard import HallucinationGuard as CoreGuard


class Copying(BaseNodePostprocessor):
    """Like rerankers that build new nodes."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return [NodeWithScore(node=node.node.model_copy(), score=node.score) for node in nodes]


def test_is_a_node_postprocessor() -> None:
    assert BaseNodePostprocessor in HallucinationGuard.__mro__


def test_query_is_checked_and_reported(kit: Any) -> None:
    response = kit.engine(kit.guard()).query("q1")

    assert response.response == kit.BLOCKED
    record = response.metadata["rag_guard"]
    assert (record["status"], record["action"], record["answer"]) == ("hallucinated", "blocked", kit.lie("q1"))
    assert [span["text"] for span in record["spans"]] == ["999"]
    assert response.metadata["node-q1"] == {"shop": "Museum"}
    assert [node.node.node_id for node in response.source_nodes] == ["node-q1"]
    assert len(kit.reports) == 1


def test_honest_answers_pass_unchanged(kit: Any) -> None:
    response = kit.engine(kit.guard(), honest=True).query("q1")

    assert response.response == kit.truth("q1")
    assert response.metadata["rag_guard"]["status"] == "supported"


def test_report_policy_never_changes_an_answer(kit: Any) -> None:
    response = kit.engine(kit.guard(policy="report")).query("q1")

    assert response.response == kit.lie("q1")
    assert response.metadata["rag_guard"]["status"] == "hallucinated"


async def test_asynchronous_query(kit: Any) -> None:
    assert (await kit.engine(kit.guard()).aquery("q1")).response == kit.BLOCKED


async def test_streams(kit: Any) -> None:
    engine = kit.engine(kit.guard(), streaming=True)

    response = engine.query("q1")
    assert "".join(response.response_gen) == kit.BLOCKED
    assert response.metadata["rag_guard"]["answer"] == kit.lie("q1")
    assert str(engine.query("q2")) == kit.BLOCKED
    asynchronous = await engine.aquery("q3")
    assert "".join([token async for token in asynchronous.async_response_gen()]) == kit.BLOCKED
    assert asynchronous.metadata["rag_guard"]["answer"] == kit.lie("q3")


def test_report_is_json(kit: Any) -> None:
    import json

    record = kit.engine(kit.guard()).query("q1").metadata["rag_guard"]

    assert json.loads(json.dumps(record)) == record
    assert "text" not in record["documents"][0]
    kept = kit.engine(kit.guard(include_documents=True)).query("q1").metadata["rag_guard"]
    assert kept["documents"][0]["text"] == f"shop: Museum\n\n{kit.truth('q1')}"


@pytest.mark.parametrize(
    "mode", ["refine", "compact", "tree_summarize", "simple_summarize", "accumulate", "compact_accumulate"]
)
async def test_response_modes(kit: Any, mode: str) -> None:
    engine = kit.engine(kit.guard(), response_mode=mode)

    assert str(engine.query("q1")) == kit.BLOCKED
    assert str(await engine.aquery("q2")) == kit.BLOCKED


@pytest.mark.parametrize("mode", ["no_text", "context_only"])
def test_response_modes_without_a_model(kit: Any, mode: str) -> None:
    response = kit.engine(kit.guard(), response_mode=mode).query("q1")

    assert "999" not in str(response)


def test_index_query_engine(kit: Any) -> None:
    index = VectorStoreIndex.from_documents([Document(text=kit.truth("q1"))])

    assert str(index.as_query_engine(llm=kit.Model(), node_postprocessors=[kit.guard()]).query("q1")) == kit.BLOCKED


def test_engines_without_the_guard_are_left_alone(kit: Any) -> None:
    nodes = kit.Retriever().retrieve("q1")

    class Static(kit.Retriever):  # type: ignore[name-defined,misc]
        def _nodes(self, query: str) -> list[NodeWithScore]:
            return list(nodes)

    guarded, bare = kit.engine(kit.guard()), kit.engine()
    guarded._retriever = bare._retriever = Static()

    assert str(guarded.query("q1")) == kit.BLOCKED
    response = bare.query("q1")
    assert str(response) == kit.lie("q1")
    assert "rag_guard" not in response.metadata


def test_a_copying_postprocessor_behind_the_guard(kit: Any) -> None:
    assert str(kit.engine(kit.guard(), Copying()).query("q1")) == kit.BLOCKED
    assert str(kit.engine(Copying(), kit.guard()).query("q2")) == kit.BLOCKED


async def test_citation_engine_that_cuts_nodes_anew(kit: Any) -> None:
    index = VectorStoreIndex.from_documents([Document(text=kit.truth("q1"))])
    engine = CitationQueryEngine.from_args(
        index, llm=kit.Model(), node_postprocessors=[kit.guard()], citation_chunk_size=64
    )

    assert str(engine.query("q1")) == kit.BLOCKED
    assert str(await engine.aquery("q1")) == kit.BLOCKED
    assert len(kit.reports) == 2


def test_parts_called_by_hand(kit: Any) -> None:
    nodes = kit.guard().postprocess_nodes(kit.Retriever().retrieve("q1"), query_str="q1")

    assert str(get_response_synthesizer(llm=kit.Model()).synthesize("q1", nodes)) == kit.BLOCKED
    assert len(kit.reports) == 1


def test_query_engine_tool_and_retry_engine(kit: Any) -> None:
    guarded = kit.engine(kit.guard())

    output = QueryEngineTool.from_defaults(guarded, name="kb", description="tickets").call("q1")
    assert output.content == kit.BLOCKED
    assert output.raw_output.metadata["rag_guard"]["action"] == "blocked"


def test_retriever_tool_has_no_answer_to_check(kit: Any) -> None:
    tool = RetrieverTool.from_defaults(
        kit.Retriever(), node_postprocessors=[kit.guard()], name="kb", description="tickets"
    )

    assert "costs" in tool.call("q1").content
    assert kit.reports == []


def test_nothing_retrieved_is_unchecked_and_no_error(kit: Any) -> None:
    engine = kit.engine(kit.guard())
    engine._retriever = kit.Retriever(empty=True)

    response = engine.query("q1")

    assert response.response == "Empty Response"
    assert response.metadata["rag_guard"]["status"] == "no_context"
    strict = kit.engine(kit.guard(on_missing_context="block"))
    strict._retriever = kit.Retriever(empty=True)
    assert str(strict.query("q1")) == kit.BLOCKED


def test_raise_blocks_here_with_one_warning(kit: Any, caplog: pytest.LogCaptureFixture) -> None:
    response = kit.engine(kit.guard(policy="raise")).query("q1")

    assert response.response == kit.BLOCKED
    assert response.metadata["rag_guard"]["action"] == "blocked"
    assert len([record for record in caplog.records if "rag_guard" in record.name]) == 1


def test_metadata_that_the_model_saw_is_evidence(kit: Any) -> None:
    visible = kit.engine(kit.guard(), honest=True, after=" The shop is the Museum.").query("q1")
    assert visible.metadata["rag_guard"]["status"] == "supported"

    class Hiding(BaseNodePostprocessor):
        def _postprocess_nodes(
            self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
        ) -> list[NodeWithScore]:
            for node in nodes:
                node.node.metadata["price"] = "999 euros"
                node.node.excluded_llm_metadata_keys = ["price"]
            return nodes

    assert str(kit.engine(kit.guard(), Hiding()).query("q1")) == kit.BLOCKED


def test_evidence_names_the_node_and_its_own_text(kit: Any) -> None:
    response = kit.engine(kit.guard()).query("q1")

    (span,) = response.metadata["rag_guard"]["spans"]
    text = response.source_nodes[0].node.get_content()
    for evidence in span["evidence"]:
        assert evidence["node_id"] == evidence["document_id"] == "node-q1"
        assert text[evidence["node_start"] : evidence["node_end"]] == evidence["quote"]
    (report,) = kit.reports
    place = locate(report.spans[0].evidence[0], response.source_nodes)
    assert place is not None
    assert text[place.start : place.end] == report.spans[0].evidence[0].quote
    whole = report.documents[0].text
    in_metadata = Evidence(document=0, start=0, end=4, quote=whole[:4])
    assert locate(in_metadata, response.source_nodes) is None


def test_takes_a_core_guard_or_its_arguments() -> None:
    core = CoreGuard("fast", policy="block")

    assert HallucinationGuard(core).guard is core
    assert HallucinationGuard(core, policy="report").guard.policy == "report"
    assert HallucinationGuard("fast", thresholds=0.7).guard.thresholds == {"span": 0.7}
    with pytest.raises(InvalidInputError, match="stream_mode='words'"):
        HallucinationGuard("fast", stream_mode="words")
    with pytest.raises(InvalidInputError, match="pass a rag_guard"):
        HallucinationGuard(3)  # type: ignore[arg-type]


def test_copies_and_serialises(kit: Any) -> None:
    guard = kit.guard()

    assert str(kit.engine(copy.deepcopy(guard)).query("q1")) == kit.BLOCKED
    assert guard.to_dict()["class_name"] == "HallucinationGuard"


def test_lives_in_namespaces_beside_other_packages() -> None:
    import llama_index
    import llama_index.postprocessor as postprocessors

    assert llama_index.__file__ is None
    assert postprocessors.__file__ is None


def test_the_core_alone_imports_no_framework() -> None:
    import subprocess
    import sys

    code = "import sys, rag_guard; sys.exit(any(name.split('.')[0] == 'llama_index' for name in sys.modules))"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
