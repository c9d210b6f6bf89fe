"""What can be said of an answer before any detector runs.

The order of the questions, and so which status wins:

1. Nothing to check in the answer (blank, or all filler): ``no_claims``, with or without documents.
2. Every claim abstains: ``abstained``, with or without documents; unless the documents do answer the
   question, which is a hallucination ("the text does not say" of a text that does) and so goes on to a
   verdict.
3. No document with a letter or digit: ``no_context``.
4. Otherwise detectors decide; abstaining claims among others are exposed, so that they are not checked as
   statements.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag_guard.detectors.base import Finding
from rag_guard.schema import Evidence, Status
from rag_guard.text.abstentions import Abstention, find_abstentions
from rag_guard.text.analysis import Analysis
from rag_guard.text.answerability import documents_answer

_FALSE_ABSTENTION_RISK = 0.9


@dataclass(frozen=True)
class Preflight:
    """The outcome of the preflight.

    Attributes:
        status: a status that needs no detector, or None if detectors must judge.
        abstentions: ranges of claims that abstain honestly: no statements about the documents.
        false_abstention: an abstention although the documents answer the question, or None.
        kinds: the kind of each abstention found, false ones included, in order.
        warnings: for the report.
    """

    status: Status | None = None
    abstentions: tuple[tuple[int, int], ...] = ()
    false_abstention: Finding | None = None
    kinds: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def preflight(analysis: Analysis) -> Preflight:
    """Sort out answers that need no detector, and find the abstentions in those that do."""
    if not analysis.answer.strip() or not analysis.claims:
        return Preflight(Status.NO_CLAIMS)
    found = find_abstentions(analysis.answer, analysis.claims, analysis.language)
    ranges = tuple((abstention.start, abstention.end) for abstention in found)
    kinds = tuple(abstention.kind for abstention in found)
    blank = analysis.corpus.is_blank
    if len(found) == len(analysis.claims):
        false = None if blank else _false_abstention(analysis, found)
        if false is None:
            return Preflight(Status.ABSTAINED, ranges, kinds=kinds)
        honest = tuple(item for item in ranges if item != (false.start, false.end))
        return Preflight(None, honest, false, kinds)
    if blank:
        return Preflight(Status.NO_CONTEXT, ranges, kinds=kinds)
    return Preflight(None, ranges, kinds=kinds)


def _false_abstention(analysis: Analysis, abstentions: list[Abstention]) -> Finding | None:
    """The first abstention that blames ignorance, as a finding, if the documents answer the question."""
    blamed = next((item for item in abstentions if item.kind != "refusal"), None)
    if blamed is None or analysis.question is None:
        return None
    answer = documents_answer(analysis.question, analysis.corpus)
    if answer is None:
        return None
    document = analysis.documents[answer.document]
    quote = document.text[answer.start : answer.end]
    expected = document.text[answer.answer_start : answer.answer_end]
    return Finding(
        start=blamed.start,
        end=blamed.end,
        label="contradicted",
        score=_FALSE_ABSTENTION_RISK,
        evidence=(
            Evidence(
                document=answer.document,
                document_id=document.id,
                start=answer.start,
                end=answer.end,
                quote=quote,
                relevance=answer.coverage,
                source=document.source,
            ),
        ),
        expected=expected,
        explanation=f"The answer says that the documents do not say, but they do: “{expected}”.",
    )
