"""What the guard does for the nodes, if asked."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.postprocessor.rag_guard.evidence import sources_of

from rag_guard import Evidence

TEXTS = {
    "a": "The hall seats 600 people and has a large bar.",
    "b": "The  hall seats 600 people, and has a large bar!",
    "c": "The hall seats 900 people and has a large bar.",
    "d": "The museum opens at nine.",
}


def nodes(*names: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=TEXTS[name], id_=name), score=1.0) for name in names]


def ids(found: list[NodeWithScore]) -> list[str]:
    return [node.node.node_id for node in found]


async def test_near_duplicates_go_and_order_stays(kit: Any) -> None:
    guard, given = kit.guard(drop_duplicates=True), nodes("d", "a", "b", "c")

    kept = guard.postprocess_nodes(given)

    assert ids(kept) == ["d", "a", "c"], "c differs in a figure, so it says something else"
    assert kept[0] is given[0]
    assert ids(await guard.apostprocess_nodes(given)) == ["d", "a", "c"]
    assert ids(kit.guard().postprocess_nodes(given)) == ["d", "a", "b", "c"]


class Fixed(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return nodes("a", "c", "d")


def test_contradicting_sources_are_warned_of(kit: Any, caplog: pytest.LogCaptureFixture) -> None:
    engine = RetrieverQueryEngine.from_args(
        Fixed(), llm=kit.Model(), node_postprocessors=[kit.guard(warn_on_contradictions=True, policy="raise")]
    )

    response = engine.query("q1")

    assert ids(response.source_nodes) == ["a", "c", "d"]
    (warning,) = [one for one in response.metadata["rag_guard"]["warnings"] if "contradict" in one]
    assert "'a' and 'c'" in warning
    assert any("'a' and 'c'" in record.getMessage() for record in caplog.records)


def test_offsets_lead_back_through_any_template() -> None:
    text = "  Größe: 600 Plätze.\n"
    for template in ("{metadata_str}\n\n{content}", "{content}\n[{metadata_str}]", "<{metadata_str}> {content} <end>"):
        node = TextNode(text=text, id_="n", metadata={"size": "600"}, text_template=template)
        sources = sources_of([NodeWithScore(node=node)])
        shown = sources.documents[0].text
        start = shown.index("600 Pl")
        place = sources.locate(Evidence(document=0, start=start, end=start + 3, quote="600"))
        assert place is not None
        assert text[place.start : place.end] == "600"
        assert place.node_id == "n"
