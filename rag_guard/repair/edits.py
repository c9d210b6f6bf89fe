"""Changes of an answer as disjoint ranges of the original, so that everything outside them stays byte-identical."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_guard.errors import InvalidInputError
from rag_guard.schema import Edit, Evidence


@dataclass(frozen=True)
class Change:
    """``answer[start:end]`` becomes ``replacement``, and why."""

    start: int
    end: int
    replacement: str = ""
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


def apply_edits(answer: str, edits: Sequence[Edit]) -> str:
    """``answer`` with every edit made: ``apply_edits(report.answer, report.edits) == report.repaired``.

    Raises:
        InvalidInputError: edits overlap, or reach outside the answer.
    """
    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not position <= edit.start <= edit.end <= len(answer):
            raise InvalidInputError(
                f"the edit of [{edit.start}:{edit.end}] overlaps another one or reaches outside the answer's "
                f"{len(answer)} characters; pass the edits of one report with that report's answer"
            )
        parts += answer[position : edit.start], edit.replacement
        position = edit.end
    return "".join((*parts, answer[position:]))


def as_edits(answer: str, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """Disjoint edits in order; of overlapping changes one that holds another wins, others are made as one."""
    merged: list[Change] = []
    for change in sorted(changes, key=lambda change: (change.start, -change.end)):
        last = merged[-1] if merged else None
        if last is None or (change.start >= last.end and not _same_place(last, change)):
            merged.append(change)
        elif change.end > last.end:
            merged[-1] = Change(
                last.start,
                change.end,
                last.replacement + change.replacement,
                last.reason,
                tuple(dict.fromkeys((*last.evidence, *change.evidence))),
            )
    kept = [change for change in merged if answer[change.start : change.end] != change.replacement]
    return tuple(
        Edit(
            start=change.start,
            end=change.end,
            replacement=change.replacement,
            reason=change.reason,
            evidence=change.evidence,
        )
        for change in kept
    )


def _same_place(last: Change, change: Change) -> bool:
    """Whether two insertions fall on one place, so that only the first can be made."""
    return last.start == last.end == change.start == change.end


def original_offset(edits: Sequence[Edit], position: int) -> int:
    """Where a position of the repaired answer lies in the original; inside a replacement, the start of its edit."""
    shift = 0
    for edit in edits:
        start = edit.start + shift
        if position < start:
            break
        if position < start + len(edit.replacement):
            return edit.start
        shift += len(edit.replacement) - (edit.end - edit.start)
    return position - shift
