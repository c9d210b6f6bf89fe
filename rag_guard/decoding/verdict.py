"""From detections to a judgement: word risks, spans, verdicts of claims and of citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_guard.decoding.citations import judge_citations
from rag_guard.decoding.combine import combine, project
from rag_guard.decoding.spans import decode_spans
from rag_guard.detectors.base import Detection, Finding
from rag_guard.schema import Citation, Claim, Entity, Evidence, Span, Verdict
from rag_guard.text.analysis import Analysis
from rag_guard.text.claims import ClaimRange
from rag_guard.text.words import Word


@dataclass(frozen=True)
class Judgement:
    """What is said of one answer.

    Attributes:
        score: the highest of ``risks``.
        risks: (n_words,) the final risk of each of ``analysis.words``.
        scores: every detector's own highest risk.
    """

    score: float
    risks: NDArray[np.float64]
    spans: list[Span]
    claims: list[Claim]
    entities: list[Entity]
    citations: list[Citation]
    scores: dict[str, float]
    warnings: list[str]


def judge(
    analysis: Analysis,
    detections: Mapping[str, Detection],
    *,
    threshold: float,
    abstentions: Sequence[tuple[int, int]] = (),
    false_abstention: Finding | None = None,
) -> Judgement:
    """Combine ``detections`` (by detector name) and decode them.

    Only words of claims can be flagged: citation markers, filler and honest ``abstentions`` are no statements about the
    documents. ``false_abstention`` is an abstention although the documents answer; its words get its score.
    """
    words = analysis.words
    checkable = _checkable(words, analysis, abstentions)
    votes = {name: project(detection.tokens, words) * checkable for name, detection in detections.items()}
    risks = combine(votes) if votes else np.zeros(len(words))
    findings = [finding for detection in detections.values() for finding in detection.findings]
    if false_abstention is not None:
        # The abstention is wrong as a whole, whatever its words are.
        low, high = false_abstention.start, false_abstention.end
        findings = [f for f in findings if f.end <= low or high <= f.start] + [false_abstention]
        for index, word in enumerate(words):
            if low <= word.start and word.end <= high:
                risks[index] = false_abstention.score
    spans = decode_spans(
        analysis.answer,
        words,
        risks,
        threshold,
        findings=findings,
        votes=votes,
        claims=analysis.claims,
        barriers=[(citation.start, citation.end) for citation in analysis.citations],
    )
    claims = [
        _claim(analysis, index, claim, words, risks, spans, abstentions) for index, claim in enumerate(analysis.claims)
    ]
    return Judgement(
        score=float(risks.max(initial=0.0)),
        risks=risks,
        spans=spans,
        claims=claims,
        entities=[entity for detection in detections.values() for entity in detection.entities],
        citations=judge_citations(analysis, claims),
        scores={name: float(vote.max(initial=0.0)) for name, vote in votes.items()},
        warnings=list(dict.fromkeys(w for detection in detections.values() for w in detection.warnings)),
    )


def _checkable(
    words: Sequence[Word], analysis: Analysis, abstentions: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """(n_words,) 1.0 for the words of claims that are neither citation marker nor abstention, else 0.0."""
    result = np.zeros(len(words))
    barriers = [(citation.start, citation.end) for citation in analysis.citations] + list(abstentions)
    claims = iter(analysis.claims)
    claim = next(claims, None)
    for index, word in enumerate(words):
        while claim is not None and claim.end <= word.start:
            claim = next(claims, None)
        if claim is None:
            break
        if claim.start <= word.start and not any(start < word.end and word.start < end for start, end in barriers):
            result[index] = 1.0
    return result


def _claim(
    analysis: Analysis,
    index: int,
    claim: ClaimRange,
    words: Sequence[Word],
    risks: NDArray[np.float64],
    spans: Sequence[Span],
    abstentions: Sequence[tuple[int, int]],
) -> Claim:
    inside = analysis.claim_ranges[index]
    score = float(risks[inside.start : inside.stop].max(initial=0.0))
    own = [span for span in spans if span.start < claim.end and claim.start < span.end]
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    if own:
        verdict = "contradicted" if any(span.label == "contradicted" for span in own) else "unsupported"
        evidence = next((span.evidence for span in own if span.evidence), ())
    elif any(start <= claim.start and claim.end <= end for start, end in abstentions):
        verdict, evidence = "not_checked", ()
    else:
        verdict = "supported"
        evidence = analysis.evidence_of(index)[:2]
    return Claim(
        start=claim.start,
        end=claim.end,
        text=analysis.answer[claim.start : claim.end],
        verdict=verdict,
        score=score,
        evidence=evidence,
        citations=tuple(
            number
            for number, citation in enumerate(analysis.citations)
            if analysis.claim_of_citation(citation) == index
        ),
    )
