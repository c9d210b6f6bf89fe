"""What EAEV reports of an answer: its conflicts, and runs of words that no document supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_guard.detectors.base import Finding
from rag_guard.detectors.entity_alignment.conflicts import Conflict
from rag_guard.detectors.entity_alignment.entities import ScoredMention, explain_conflict
from rag_guard.detectors.entity_alignment.word_classes import WordClass
from rag_guard.text.analysis import Analysis

CONFLICT_RISK = 0.9
"""The least score of a conflict."""

_FLAGGED = 0.5
_BRIDGE = 2  # function words that a run of unsupported words may include


def collect_findings(
    analysis: Analysis,
    classes: Sequence[WordClass],
    scored: Sequence[ScoredMention],
    risks: NDArray[np.float64],
    conflicts: Mapping[int, Conflict],
) -> list[Finding]:
    """Findings in no particular order; function words inside one take its score in ``risks``.

    Args:
        conflicts: by index of the word at fault.
    """
    findings = [_contradiction(analysis, item.conflict, item.risk) for item in scored if item.conflict is not None]
    mentioned = {id(item.conflict) for item in scored}
    loose = {id(conflict): conflict for conflict in conflicts.values() if id(conflict) not in mentioned}
    findings += [_contradiction(analysis, conflict, CONFLICT_RISK) for conflict in loose.values()]
    blamed = set(conflicts) | {i for item in scored if item.conflict is not None for i in item.mention.words}
    owners = {i: item for item in scored for i in item.mention.words}
    findings += [_unsupported(analysis, run, owners[run[0]], risks) for run in _runs(classes, owners, risks, blamed)]
    for finding in findings:
        for i in analysis.words_in(finding.start, finding.end):
            if classes[i] is WordClass.FUNCTION:
                risks[i] = max(risks[i], finding.score)
    return findings


def _contradiction(analysis: Analysis, conflict: Conflict, risk: float) -> Finding:
    return Finding(
        start=conflict.answer_start,
        end=conflict.answer_end,
        label="contradicted",
        score=max(risk, CONFLICT_RISK),
        evidence=(analysis.quote_in(conflict.window, conflict.start, conflict.end),),
        expected=conflict.expected,
        explanation=explain_conflict(conflict),
    )


def _runs(
    classes: Sequence[WordClass], owners: dict[int, ScoredMention], risks: NDArray[np.float64], blamed: set[int]
) -> list[list[int]]:
    """Runs of flagged words of one claim, with no more than a few function words between them."""
    runs: list[list[int]] = []
    is_open = False
    for i in np.flatnonzero(risks >= _FLAGGED).tolist():
        if i in blamed or i not in owners:
            is_open = False
            continue
        if is_open and _continues(classes, owners, blamed, runs[-1][-1], i):
            runs[-1].append(i)
        else:
            runs.append([i])
        is_open = True
    return runs


def _continues(
    classes: Sequence[WordClass], owners: dict[int, ScoredMention], blamed: set[int], last: int, i: int
) -> bool:
    between = range(last + 1, i)
    bridge = (WordClass.FUNCTION, WordClass.PRONOUN)
    return (
        len(between) <= _BRIDGE
        and owners[last].mention.claim == owners[i].mention.claim
        and all(classes[j] in bridge and j not in blamed for j in between)
    )


def _unsupported(analysis: Analysis, run: list[int], owner: ScoredMention, risks: NDArray[np.float64]) -> Finding:
    return Finding(
        start=analysis.words[run[0]].start,
        end=analysis.words[run[-1]].end,
        label="unsupported",
        score=float(max(risks[i] for i in run)),
        evidence=analysis.evidence_of(owner.mention.claim)[:2],
        explanation=f"No document supports {owner.text!r}.",
    )
