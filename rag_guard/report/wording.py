"""The words that the HTML page and the terminal use for statuses, labels and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rag_guard.schema import CitationStatus, Report, SpanLabel, Status, Verdict

Tone = Literal["good", "bad", "none", "failed"]


@dataclass(frozen=True)
class Words:
    """How a status is put to a person; ``tone`` is ``good`` for one alone, so that no other looks clean."""

    title: str
    meaning: str
    tone: Tone
    symbol: str


STATUSES: Mapping[Status, Words] = {
    Status.SUPPORTED: Words("Supported", "The documents back every part of the answer that was checked.", "good", "✓"),
    Status.HALLUCINATED: Words("Hallucinated", "The documents do not back every part of the answer.", "bad", "✗"),
    Status.NO_CONTEXT: Words(
        "Not checked: no documents", "Nothing was there to check the answer against.", "none", "–"
    ),
    Status.NO_CLAIMS: Words("Not checked: no claims", "The answer states nothing that could be checked.", "none", "–"),
    Status.ABSTAINED: Words(
        "Not checked: no answer given",
        "The model declined to answer, so there was nothing to check.",
        "none",
        "–",
    ),
    Status.SKIPPED: Words("Not checked: skipped", "The check did not run on this answer.", "none", "–"),
    Status.ERROR: Words("Check failed", "The check broke down; the answer may be right or wrong.", "failed", "!"),
}

LABELS: Mapping[SpanLabel, str] = {
    "contradicted": "the documents say otherwise",
    "unsupported": "the documents do not say this",
}
LABEL_SYMBOLS: Mapping[SpanLabel, str] = {"contradicted": "!", "unsupported": "?"}

VERDICTS: Mapping[Verdict, str] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "unsupported": "unsupported",
    "not_checked": "not checked",
}

CITATIONS: Mapping[CitationStatus, str] = {
    "supported_by_cited": "backed by the cited document",
    "misattributed": "wrong source",
    "out_of_range": "no such document",
    "not_checked": "not checked",
}


def describe(report: Report) -> str:
    """One or two sentences for the line under the verdict; never words a missing verdict as a clean one."""
    words = STATUSES[report.status]
    if report.status is Status.HALLUCINATED and report.spans:
        counts = Counter(span.label for span in report.spans)
        parts = [f"{counts[label]} {label}" for label in LABELS if counts[label]]
        noun = "1 part of the answer is" if len(report.spans) == 1 else f"{len(report.spans)} parts of the answer are"
        return f"{noun} not backed by the documents: {', '.join(parts)}."
    if report.status in (Status.SUPPORTED, Status.HALLUCINATED):
        return words.meaning
    return f"{words.meaning} This is not a verdict."


def summary(report: Report) -> str:
    """Counts of claims and citations, such as ``3 claims: 2 supported, 1 contradicted``; "" without any."""
    parts = []
    if report.claims:
        parts.append(_counted("claim", Counter(VERDICTS[claim.verdict] for claim in report.claims)))
    if report.citations:
        parts.append(_counted("citation", Counter(CITATIONS[item.status] for item in report.citations)))
    return "; ".join(parts)


def _counted(noun: str, counts: Counter[str]) -> str:
    total = sum(counts.values())
    return f"{total} {noun}{'' if total == 1 else 's'}: " + ", ".join(f"{n} {name}" for name, n in counts.items())
