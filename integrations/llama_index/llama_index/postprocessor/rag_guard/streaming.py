"""Tokens held back until they are checked: the same state for synchronous and asynchronous streams."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from llama_index.postprocessor.rag_guard.checking import StreamMode

from rag_guard import Document, Report, Status
from rag_guard.schema import Recheck
from rag_guard.text.sentences import find_sentences

_CITATIONS = re.compile(r"(?:\s*\[[^\[\]\n]*\](?!\())+\s*")


class AnswerStream:
    """What of a streamed answer may leave, and the one report of all of it.

    Whatever leaves, joined, is the report's ``output``; every token of a part that no policy changed leaves once.
    """

    def __init__(self, mode: StreamMode) -> None:
        self.mode = mode
        self.stopped = False
        self._tokens: list[str] = []
        self._pending = ""
        self._text = ""
        self._released: list[str] = []
        self._reports: list[tuple[int, Report]] = []
        self._apology: str | None = None

    def take(self, token: str) -> list[str]:
        """Take one token; returns what leaves unchecked."""
        if self.mode == "annotate":
            self._released.append(token)
        self._tokens.append(token)
        self._pending += token
        return [token] if self.mode == "annotate" else []

    def due(self) -> str | None:
        """A part that is complete and now to be checked, or None."""
        if self.mode != "sentence":
            return None
        cut = _complete(self._pending)
        return self._pending[:cut] if cut else None

    def rest(self) -> str | None:
        """The last part, to be checked at the end of the stream; None if all was checked before."""
        return self._pending if self._pending or not self._reports else None

    def release(self, part: str, report: Report) -> list[str]:
        """What leaves for a checked part."""
        if self.mode == "sentence" and report.recheck is not None and report.recheck.status is Status.NO_CLAIMS:
            # Nothing of this sentence is left. Only an answer of which nothing is left says so.
            self._apology = report.output
            edits = tuple(edit.model_copy(update={"replacement": ""}) for edit in report.edits)
            report = report.model_copy(update={"output": "", "repaired": "", "edits": edits})
        self._reports.append((len(self._text), report))
        self._text += part
        self._pending = self._pending[len(part) :]
        if self.mode == "annotate":
            return []
        if report.output == part:
            leaving = self._tokens if self.mode == "buffer" else [part]
        else:
            spaces = part[len(part.rstrip()) :] if self.mode == "sentence" and report.action != "blocked" else ""
            output = report.output.rstrip()
            leaving = [output + spaces] if output else []
        # What follows a block message would be read as checked.
        self.stopped = report.action == "blocked"
        self._released += leaving
        return list(leaving)

    def finish(self) -> list[str]:
        """What leaves after the last part: the repair's message, if no part left anything."""
        leaving = [self._apology] if self._apology is not None and not "".join(self._released).strip() else []
        self._released += leaving
        return leaving

    def report(self) -> Report:
        """The report of the whole stream so far."""
        whole = self._reports[0][1] if len(self._reports) == 1 else _joined(self._text, self._reports)
        delivered = "".join(self._released)
        if self.mode == "annotate":
            # The tokens had left before the verdict, so no policy changed them.
            action = "reported" if whole.status is Status.HALLUCINATED else whole.action
            return whole.model_copy(update={"output": delivered, "action": "passed" if action == "blocked" else action})
        repaired = None if whole.repaired is None else delivered
        return whole.model_copy(update={"output": delivered, "repaired": repaired})


def _complete(text: str) -> int:
    """Length of the part of ``text`` that further tokens no longer change: all but the last sentence."""
    sentences = find_sentences(text)
    if len(sentences) < 2:
        return 0
    (_, end), (start, _) = sentences[-2:]
    cut = max(end, text.rfind("\n", end, start) + 1) if "\n" in text[end:start] else start
    # A citation behind the full stop belongs to the sentence before it, and needs to be there in full.
    if text[cut:].lstrip().startswith("["):
        found = _CITATIONS.match(text, cut)
        if found is None or found.end() == len(text):
            return 0
        cut = found.end()
    return cut


def _joined(text: str, parts: Sequence[tuple[int, Report]]) -> Report:
    """One report from the reports of consecutive parts, with offsets into the whole text."""
    reports = [report for _, report in parts]
    claims: list[Any] = []
    found: dict[str, list[Any]] = {"spans": [], "citations": [], "edits": [], "entities": []}
    for offset, report in parts:
        for name, items in found.items():
            for item in getattr(report, name):
                moved = _moved(item, offset)
                claim = getattr(item, "claim", None)
                items.append(moved if claim is None else moved.model_copy(update={"claim": claim + len(claims)}))
        claims += [_moved(claim, offset) for claim in report.claims]
    scores = [report.score for report in reports if report.score is not None]
    statuses = [report.status for report in reports]
    order = (Status.HALLUCINATED, Status.ERROR, Status.SUPPORTED)
    status = next((one for one in order if one in statuses), statuses[0])
    lead = next(report for report in reports if report.status is status)
    documents: tuple[Document, ...] = max((report.documents for report in reports), key=len)
    actions = [report.action for report in reports]
    timings: dict[str, float] = {}
    for report in reports:
        for stage, milliseconds in report.timings_ms.items():
            timings[stage] = timings.get(stage, 0.0) + milliseconds
    return lead.model_copy(
        update={
            "answer": text,
            "score": max(scores, default=None),
            "documents": documents,
            "claims": tuple(claims),
            **{name: tuple(items) for name, items in found.items()},
            "action": next((one for one in ("blocked", "raised", "repaired") if one in actions), lead.action),
            "repaired": "".join(_repaired(report) for report in reports) if "repaired" in actions else None,
            "recheck": _rechecked(reports),
            "timings_ms": timings,
            "warnings": tuple(dict.fromkeys(warning for report in reports for warning in report.warnings)),
        }
    )


def _rechecked(reports: Sequence[Report]) -> Recheck | None:
    """The second checks of repaired parts as one, with offsets into the joined repair."""
    checks = [(report, report.recheck) for report in reports]
    if not any(check for _, check in checks):
        return None
    spans: list[Any] = []
    start = 0
    for report, check in checks:
        spans += [_moved(span, start) for span in (check.spans if check else ())]
        start += len(_repaired(report))
    scores = [check.score for _, check in checks if check and check.score is not None]
    status = Status.HALLUCINATED if spans else Status.SUPPORTED if scores else Status.NO_CLAIMS
    return Recheck(status=status, score=max(scores, default=None), spans=tuple(spans))


def _repaired(report: Report) -> str:
    return report.answer if report.repaired is None else report.repaired


def _moved(item: Any, offset: int) -> Any:
    mentions = getattr(item, "mentions", None)
    if mentions is not None:
        return item.model_copy(update={"mentions": tuple(_moved(mention, offset) for mention in mentions)})
    return item.model_copy(update={"start": item.start + offset, "end": item.end + offset})
