"""Word risks to character spans: word-aligned, trimmed, typed, each with its evidence.

A span never is, starts or ends with punctuation or markup; the same wrong string in two places gives two spans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_guard.detectors.base import Finding
from rag_guard.schema import Span, SpanLabel
from rag_guard.text.claims import ClaimRange
from rag_guard.text.words import Word


def decode_spans(
    answer: str,
    words: Sequence[Word],
    risks: NDArray[np.float64],
    threshold: float,
    *,
    findings: Sequence[Finding] = (),
    votes: Mapping[str, NDArray[np.float64]] | None = None,
    claims: Sequence[ClaimRange] = (),
    barriers: Sequence[tuple[int, int]] = (),
) -> list[Span]:
    """Join neighbouring words at or above ``threshold`` into spans.

    Args:
        words, risks: the grid, (n,) each.
        findings: reasons; a span takes label, evidence and expected value from the strongest one it overlaps, and two
            words that belong to different findings are not joined.
        barriers: ranges no span may cross or contain: citation markers.
    """
    spans: list[Span] = []
    owners = _owners(words, findings)
    flagged = risks >= threshold
    index = 0
    while index < len(words):
        if not flagged[index]:
            index += 1
            continue
        end = index + 1
        while (
            end < len(words)
            and flagged[end]
            and owners[end] == owners[end - 1]
            and _joinable(answer, words[end - 1].end, words[end].start, barriers, owners[end] >= 0)
        ):
            end += 1
        spans.append(_span(answer, words, risks, index, end, findings, owners[index], votes or {}, claims))
        index = end
    return spans


def _owners(words: Sequence[Word], findings: Sequence[Finding]) -> list[int]:
    """Per word, the index of the strongest finding over it, or -1."""
    owners = [-1] * len(words)
    starts = [word.start for word in words]
    for index in sorted(range(len(findings)), key=lambda i: findings[i].score):
        finding = findings[index]
        position = int(np.searchsorted(starts, finding.start, side="right")) - 1
        position = max(position, 0)
        while position < len(words) and words[position].start < finding.end:
            if words[position].end > finding.start:
                owners[position] = index
            position += 1
    return owners


def _joinable(answer: str, left: int, right: int, barriers: Sequence[tuple[int, int]], one_reason: bool) -> bool:
    """Whether the text between two flagged words may be inside one span: no line break, table bar or barrier.

    The end of a sentence joins only what one finding spans, as in "1. Mai".
    """
    gap = answer[left:right]
    if "\n" in gap or "|" in gap or any(start < right and left < end for start, end in barriers):
        return False
    ends_sentence = any(char in gap for char in ".!?;。！？；") and any(char.isspace() for char in gap)
    return one_reason or not ends_sentence


def _span(
    answer: str,
    words: Sequence[Word],
    risks: NDArray[np.float64],
    first: int,
    last: int,
    findings: Sequence[Finding],
    owner: int,
    votes: Mapping[str, NDArray[np.float64]],
    claims: Sequence[ClaimRange],
) -> Span:
    start, end = words[first].start, words[last - 1].end
    finding = findings[owner] if owner >= 0 else None
    label: SpanLabel = finding.label if finding else "unsupported"
    return Span(
        start=start,
        end=end,
        text=answer[start:end],
        score=float(risks[first:last].max()),
        label=label,
        evidence=finding.evidence if finding else (),
        expected=finding.expected if finding else None,
        explanation=finding.explanation if finding else "No document supports this.",
        claim=next((i for i, claim in enumerate(claims) if claim.start <= start < claim.end), None),
        votes={name: float(vote[first:last].max()) for name, vote in votes.items()},
    )
