"""What a guard can do for the nodes before the model sees them; their order, ids and texts stay as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from llama_index.core.schema import NodeWithScore
from llama_index.postprocessor.rag_guard.checking import core_guard
from llama_index.postprocessor.rag_guard.evidence import sources_of
from rapidfuzz import fuzz

from rag_guard import Example, HallucinationGuard, Report

NEAR = 95.0
"""Similarity in [0, 100] from which two texts with the same figures are near-duplicates."""

SAME_TOPIC, TOPIC_LENGTH = 0.5, 4
"""Share of a claim's words, of so many letters at least, that a text must have to speak of the same thing: two nodes
that say different things of different things do not contradict each other."""

_WORDS = re.compile(r"\w+")


def without_duplicates(nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """The nodes less those that say almost word for word what an earlier one says.

    Texts that differ in a word with a digit in it are different, however alike they look.
    """
    kept: list[tuple[str, list[str]]] = []
    result = []
    for node in nodes:
        words = _WORDS.findall(node.node.get_content().casefold())
        text, figures = " ".join(words), sorted(word for word in words if any(map(str.isdigit, word)))
        if words and any(figures == other and fuzz.ratio(text, seen) >= NEAR for seen, other in kept):
            continue
        kept.append((text, figures))
        result.append(node)
    return result


def contradictions(nodes: Sequence[NodeWithScore], guard: HallucinationGuard) -> list[str]:
    """One sentence for each pair of nodes of which one contradicts the other."""
    reporting = core_guard(guard, {"policy": "report", "on_error": "pass", "on_missing_context": "pass"})
    documents = sources_of(nodes).documents
    pairs = list(combinations(range(len(nodes)), 2))
    texts = [node.node.get_content() for node in nodes]
    examples = [Example(answer=texts[second], documents=[documents[first]]) for first, second in pairs]
    warnings = []
    for (first, second), report in zip(pairs, reporting.check_batch(examples) if pairs else (), strict=True):
        found = _contradiction(report, texts[first])
        if found:
            ids = f"{documents[first].id!r} and {documents[second].id!r}"
            warnings.append(f"the retrieved nodes {ids} contradict each other: {found}")
    return warnings


def _contradiction(report: Report, other: str) -> str | None:
    """The first contradicted span, of a claim whose subject the other text knows."""
    known = set(_WORDS.findall(other.casefold()))
    for span in report.spans:
        if span.label != "contradicted":
            continue
        claim = report.answer if span.claim is None else report.claims[span.claim].text
        topic = [word for word in _WORDS.findall(claim.casefold()) if word.isalpha() and len(word) >= TOPIC_LENGTH]
        if topic and sum(word in known for word in topic) / len(topic) >= SAME_TOPIC:
            said = span.expected or (span.evidence[0].quote if span.evidence else "")
            return f"{said!r} against {span.text!r}"
    return None
