"""Does the cited document support the claim it stands behind?"""

from __future__ import annotations

from collections.abc import Sequence

from rag_guard.schema import Citation, CitationStatus, Claim
from rag_guard.text.analysis import Analysis
from rag_guard.text.citations import CitationMarker

_AS_GOOD = 0.9  # a cited document supports a claim if it covers this share of what the best document covers


def judge_citations(analysis: Analysis, claims: Sequence[Claim]) -> list[Citation]:
    """One :class:`Citation` per marker, with a better source where the cited one is not it."""
    return [_judge(analysis, claims, marker) for marker in analysis.citations]


def _judge(analysis: Analysis, claims: Sequence[Claim], marker: CitationMarker) -> Citation:
    status: CitationStatus = "not_checked"
    suggested: tuple[int, ...] = ()
    index = analysis.claim_of_citation(marker)
    if any(not 1 <= number <= len(analysis.documents) for number in marker.numbers):
        status = "out_of_range"
    if index is not None and claims[index].verdict == "supported":
        coverage = analysis.coverage_by_document(index)
        best = max(coverage.values(), default=0.0)
        cited = max((coverage.get(number - 1, 0.0) for number in marker.numbers), default=0.0)
        good = tuple(sorted(d + 1 for d, value in coverage.items() if best and value >= _AS_GOOD * best))
        if best and cited >= _AS_GOOD * best:
            status = "supported_by_cited" if status == "not_checked" else status
        elif best:
            status = "misattributed" if status == "not_checked" else status
            suggested = good
    return Citation(
        start=marker.start,
        end=marker.end,
        text=analysis.answer[marker.start : marker.end],
        cited=marker.numbers,
        status=status,
        suggested=suggested,
        claim=index,
    )
