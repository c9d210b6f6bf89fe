"""Repair what a check has flagged, check the result again, and never make it worse (Mulakkayala et al.).

Supported text stays byte-identical: a repair is a list of edits of the original, and everything outside them is as it
was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import regex

from rag_guard.errors import InvalidInputError
from rag_guard.repair.cleanup import removal
from rag_guard.repair.edits import Change, apply_edits, as_edits, original_offset
from rag_guard.repair.outline import Outline
from rag_guard.repair.rewriting import LocalRewriter, Rewriter, as_rewriter
from rag_guard.repair.strategies import Proposal, Strategy, proposals
from rag_guard.schema import Edit, Example, Recheck, Report, Span, Status

NOTHING_LEFT = "Sorry, I cannot help with this question."
"""What a repaired answer says when nothing of the original is supported."""

Check = Callable[[list[Example]], list[Report]]

_WORD = regex.compile(r"[\p{L}\p{N}]")


class Repair:
    """How hallucinated answers are repaired under ``policy="repair"``.

    Args:
        strategy: ``"remove"`` cuts the smallest part that carries the fault; ``"extract"`` puts the documents' own
            value or sentence in its place, else removes; ``"rewrite"`` lets a language model write the claim anew from
            its evidence, else extracts.
        max_rounds: how often the answer may be changed and checked again, at least 1.
        message: what the answer becomes when nothing of it is supported; not blank.
        rewriter: for ``"rewrite"``: a LangChain model (``invoke``), a LlamaIndex LLM (``complete``) or a function from
            prompt to text. None takes the catalog's local model.
        threshold: only spans of at least this score are repaired, in [0, 1]; None repairs all that the guard flags.
        verifier: a :class:`~rag_guard.repair.verifier.Verifier`; spans in claims that it supports are left alone.

    Raises:
        InvalidInputError: an argument has a value that cannot be used.
    """

    def __init__(
        self,
        strategy: Strategy = "extract",
        *,
        max_rounds: int = 4,
        message: str = NOTHING_LEFT,
        rewriter: Any = None,
        threshold: float | None = None,
        verifier: Any = None,
    ) -> None:
        if strategy not in get_args(Strategy):
            raise InvalidInputError(
                f"strategy={strategy!r} is not known; choose one of {', '.join(get_args(Strategy))}"
            )
        if max_rounds < 1:
            raise InvalidInputError(f"max_rounds={max_rounds!r} must be at least 1")
        if not message.strip():
            raise InvalidInputError("message is blank; say what the caller should see when nothing is supported")
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise InvalidInputError(f"threshold={threshold!r} must be in [0, 1], or None")
        self.strategy: Strategy = strategy
        self.max_rounds = max_rounds
        self.message = message
        self.threshold = threshold
        self.verifier = verifier
        self._rewriter: Rewriter | None = None
        if strategy == "rewrite":
            self._rewriter = LocalRewriter() if rewriter is None else as_rewriter(rewriter)

    def __call__(self, reports: Sequence[Report], check: Check) -> list[Report]:
        """The reports with ``repaired``, ``edits`` and ``recheck`` where a repair made the answer better.

        Args:
            reports: of one check; those that are not ``hallucinated`` come back as they are.
            check: how to check answers again: one report per example.
        """
        started = time.perf_counter()
        work = {i: task for i, task in self._tasks(reports).items() if task.faults}
        for number in range(self.max_rounds):
            drafts = {i: task.draft() for i, task in work.items() if not task.done}
            if not drafts:
                break
            written = {i: draft for i, draft in drafts.items() if _WORD.search(draft.text)}
            examples = [
                Example(answer=d.text, documents=reports[i].documents, question=reports[i].question)
                for i, d in written.items()
            ]
            checked = dict(zip(written, check(examples), strict=True)) if examples else {}
            last = number + 2 >= self.max_rounds
            for i, draft in drafts.items():
                work[i].judge(draft, checked.get(i), last)
        spent = (time.perf_counter() - started) * 1000 / max(len(work), 1)
        return [work[i].report(self.message, spent) if i in work else report for i, report in enumerate(reports)]

    def _tasks(self, reports: Sequence[Report]) -> dict[int, _Task]:
        chosen = [i for i, report in enumerate(reports) if report.status is Status.HALLUCINATED]
        refuted = self.verifier.refuted([reports[i] for i in chosen]) if self.verifier and chosen else None
        tasks = {}
        for position, i in enumerate(chosen):
            spans = [span for span in reports[i].spans if span.score >= (self.threshold or 0.0)]
            if refuted is not None:
                spans = [span for span in spans if span.claim is None or span.claim in refuted[position]]
            tasks[i] = _Task(reports[i], spans, self.strategy, self._rewriter, self.threshold or 0.0)
        return tasks


@dataclass
class _Fault:
    """One flagged span and what is being done about it."""

    span: Span
    left: Iterator[Proposal]
    current: Proposal | None = None

    def __post_init__(self) -> None:
        self.advance()

    def advance(self, *, to_last: bool = False) -> None:
        """Take the next proposal, or the last one; without another the present one stays."""
        for proposal in self.left:
            self.current = proposal
            if not to_last:
                return

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Where the present proposal changes the answer, the span included."""
        changed = [(c.start, c.end) for c in self.current.changes] if self.current else []
        return [(self.span.start, self.span.end), *changed]


@dataclass(frozen=True)
class _Draft:
    text: str
    edits: tuple[Edit, ...]


@dataclass
class _Task:
    """The repair of one answer."""

    original: Report
    spans: list[Span]
    strategy: Strategy
    rewriter: Rewriter | None
    threshold: float
    faults: list[_Fault] = field(init=False)
    done: bool = False
    best: tuple[_Draft, Report | None] | None = None

    def __post_init__(self) -> None:
        self.outline = Outline(self.original)
        self.faults = [self._fault(span) for span in self.spans]
        self.spared = [span for span in self.original.spans if span not in self.spans]
        self.cost = sum(span.end - span.start for span in self.spans)

    def _fault(self, span: Span) -> _Fault:
        return _Fault(span, proposals(self.strategy, self.outline, self.original, span, self.rewriter))

    def draft(self) -> _Draft:
        """The answer with the present proposals of all faults; where two get into each other's way, one moves on."""
        while self._crossing():
            pass
        current = [fault.current for fault in self.faults if fault.current is not None]
        whole = {proposal.sentence for proposal in current if proposal.sentence is not None}
        changes = [
            change
            for proposal in current
            for change in proposal.changes
            if not any(start <= change.start and change.end <= end for start, end in whole)
        ]
        reasons = {f.current.sentence: f.span for f in self.faults if f.current and f.current.sentence}
        for change in removal(self.outline, whole, "the documents do not support this"):
            at = next((s.evidence for s in reasons.values() if change.start <= s.start < change.end), ())
            changes.append(Change(change.start, change.end, change.replacement, change.reason, at))
        edits = as_edits(self.original.answer, changes)
        return _Draft(apply_edits(self.original.answer, edits), edits)

    def _crossing(self) -> bool:
        """Move one of two faults on whose cuts overlap without one holding the other; whether there was one."""
        for position, fault in enumerate(self.faults):
            for other in self.faults[:position]:
                if fault.current and other.current and _cross(fault.current, other.current):
                    before = fault.current
                    fault.advance()
                    if fault.current is not before:
                        return True
        return False

    def judge(self, draft: _Draft, checked: Report | None, last: bool) -> None:
        """Keep the draft if it is the best so far; move on the faults that the re-check still sees."""
        spans = [span for span in checked.spans if self._counts(span, draft)] if checked else []
        cost = sum(span.end - span.start for span in spans)
        if cost < self.cost or (self.best is None and not spans):
            self.best, self.cost = (draft, checked), cost
        if not spans:
            self.done = True
            return
        for span in spans:
            self._blame(span, draft, last)

    def _counts(self, span: Span, draft: _Draft) -> bool:
        """Whether a span of the re-check is a fault: strong enough, and not one that was to be left alone."""
        start = original_offset(draft.edits, span.start)
        end = max(original_offset(draft.edits, span.end - 1) + 1, start)
        return span.score >= self.threshold and not any(s.start < end and start < s.end for s in self.spared)

    def _blame(self, span: Span, draft: _Draft, last: bool) -> None:
        start = original_offset(draft.edits, span.start)
        end = max(original_offset(draft.edits, span.end - 1) + 1, start)
        near = [f for f in self.faults if any(a <= end and start <= b for a, b in f.ranges)]
        sentence = self.outline.sentence_of(start, end + 1)
        if not near and sentence is not None:
            near = [f for f in self.faults if sentence[0] <= f.span.start < sentence[1]]
        for fault in near:
            fault.advance(to_last=last)
        if not near:
            moved = span.model_copy(update={"start": start, "end": end, "text": self.original.answer[start:end]})
            fault = self._fault(moved)
            if last:
                fault.advance(to_last=True)
            self.faults.append(fault)

    def report(self, message: str, spent_ms: float) -> Report:
        """The original's report with the best repair, if there is one."""
        timings = {**self.original.timings_ms, "repair": spent_ms}
        if self.best is None:
            warnings = (*self.original.warnings, "no repair made the answer better; it is unchanged")
            return self.original.model_copy(update={"warnings": warnings, "timings_ms": timings})
        draft, checked = self.best
        text, edits = draft.text, draft.edits
        warnings = self.original.warnings
        if checked is None or checked.status is Status.NO_CLAIMS:
            text = message
            evidence = tuple(dict.fromkeys(e for edit in edits for e in edit.evidence))
            edits = (Edit(start=0, end=len(self.original.answer), replacement=message,
                          reason="the documents support no part of the answer", evidence=evidence),)  # fmt: skip
            recheck = Recheck(status=Status.NO_CLAIMS)
        else:
            recheck = Recheck(status=checked.status, score=checked.score, spans=checked.spans)
            if checked.status is Status.HALLUCINATED:
                warnings = (*warnings, f"the repaired answer still has {len(checked.spans)} unsupported span(s)")
        return self.original.model_copy(
            update={
                "repaired": text,
                "edits": edits,
                "recheck": recheck,
                "warnings": warnings,
                "timings_ms": timings,
            }
        )


def _cross(a: Proposal, b: Proposal) -> bool:
    if a.sentence or b.sentence:
        return False
    for x in a.changes:
        for y in b.changes:
            if (
                x.start < y.end
                and y.start < x.end
                and (x.start, x.end, x.replacement) != (y.start, y.end, y.replacement)
            ):
                return True
    return False
