"""Nodes as the core's documents: the text the model was shown, with a way back to each node's own text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from rag_guard import Document, Evidence


@dataclass(frozen=True)
class NodeRange:
    """A range of a node's own text, which is ``node.get_content()``: code points, half-open."""

    node_id: str
    start: int
    end: int


@dataclass(frozen=True)
class Sources:
    """What one answer is checked against: documents, and the node behind each, or None."""

    documents: tuple[Document, ...] = ()
    nodes: tuple[BaseNode | None, ...] = ()

    def __add__(self, other: Sources) -> Sources:
        return Sources(self.documents + other.documents, self.nodes + other.nodes)

    def locate(self, evidence: Evidence) -> NodeRange | None:
        """Where the evidence stands in its node's own text; None where it stands in the metadata shown with it."""
        node = self.nodes[evidence.document]
        if node is None:
            return None
        offset = _offset_of_text(node, self.documents[evidence.document].text)
        if offset is None:
            return None
        start, end = evidence.start - offset, evidence.end - offset
        inside = start >= 0 and end <= len(node.get_content(metadata_mode=MetadataMode.NONE))
        return NodeRange(node.node_id, start, end) if inside else None


def sources_of(nodes: Sequence[NodeWithScore | BaseNode] | None) -> Sources:
    """Documents from nodes, in order, each with its node's id.

    A synthesizer shows a node in ``MetadataMode.LLM``: metadata that the model sees counts as evidence, metadata
    excluded from it does not.
    """
    bare = tuple(node.node if isinstance(node, NodeWithScore) else node for node in nodes or ())
    documents = tuple(
        Document(
            text=node.get_content(metadata_mode=MetadataMode.LLM), id=node.node_id, metadata=dict(node.metadata or {})
        )
        for node in bare
    )
    return Sources(documents, bare)


def locate(evidence: Evidence, nodes: Sequence[NodeWithScore | BaseNode]) -> NodeRange | None:
    """The range of a node's own text that a piece of evidence quotes.

    Args:
        evidence: from a report of an answer over ``nodes``.
        nodes: the response's ``source_nodes``.

    Returns:
        None where the quote stands in metadata that the model was shown, not in the text.
    """
    return sources_of(nodes).locate(evidence)


def _offset_of_text(node: BaseNode, shown: str) -> int | None:
    """Where the node's own text begins in the text shown; negative if leading spaces were stripped off."""
    own = node.get_content(metadata_mode=MetadataMode.NONE)
    if shown == own:
        return 0
    template = getattr(node, "text_template", None)
    if isinstance(template, str) and "{content}" in template:
        metadata = node.get_metadata_str(mode=MetadataMode.LLM).strip()
        before = template.partition("{content}")[0].format(metadata_str=metadata)
        whole = template.format(content=own, metadata_str=metadata)
        offset = len(before) - (len(whole) - len(whole.lstrip()))
        if shown == whole.strip():
            return offset
    found = shown.rfind(own.strip())
    return None if found < 0 or not own.strip() else found - (len(own) - len(own.lstrip()))


def with_node_ranges(record: Any, sources: Sources) -> Any:
    """A report's plain form in which every piece of evidence also names its node and the range of its text."""
    if isinstance(record, Mapping):
        changed = {key: with_node_ranges(value, sources) for key, value in record.items()}
        if "quote" in changed and "document" in changed:
            node = sources.nodes[changed["document"]]
            place = sources.locate(Evidence.model_validate(record))
            changed["node_id"] = None if node is None else node.node_id
            changed["node_start"], changed["node_end"] = (place.start, place.end) if place else (None, None)
        return changed
    if isinstance(record, (list, tuple)):
        return [with_node_ranges(value, sources) for value in record]
    return record


def node_documents(nodes: Sequence[NodeWithScore | BaseNode]) -> tuple[Document, ...]:
    """Nodes as documents for the core's ``check``: in the form that a model is shown, each with its node's id."""
    return sources_of(nodes).documents
