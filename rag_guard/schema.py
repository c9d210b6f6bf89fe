"""The data that goes in and the one report that comes out (Python, JSON, HTML, terminal and HTTP share it).

All offsets are Python code points into the caller's own strings, half-open: ``answer[s.start:s.end] == s.text`` and
``documents[e.document].text[e.start:e.end] == e.quote``. All risks and scores are in [0, 1], higher is more likely
hallucinated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = "1.1"


class Status(str, Enum):
    """What a report says. Only ``supported`` and ``hallucinated`` are verdicts; the others say why there is none."""

    SUPPORTED = "supported"
    HALLUCINATED = "hallucinated"
    NO_CONTEXT = "no_context"
    NO_CLAIMS = "no_claims"
    ABSTAINED = "abstained"
    SKIPPED = "skipped"
    ERROR = "error"

    @property
    def is_verdict(self) -> bool:
        """Whether detectors judged the answer."""
        return self in (Status.SUPPORTED, Status.HALLUCINATED)


SpanLabel = Literal["contradicted", "unsupported"]
"""``contradicted``: the documents say otherwise. ``unsupported``: they do not say it."""

Verdict = Literal["supported", "contradicted", "unsupported", "not_checked"]
CitationStatus = Literal["supported_by_cited", "misattributed", "out_of_range", "not_checked"]
MentionType = Literal["ENT", "NUM", "NP"]
Action = Literal["none", "reported", "repaired", "blocked", "raised", "passed"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Document(_Frozen):
    """One retrieved text.

    Attributes:
        text: the text the model saw; evidence offsets point into it.
        id: the caller's id, or None.
        metadata: anything JSON-like the caller wants back with the evidence.
        source: where it came from: ``retrieved`` by the run, stated by the ``user``, returned by a ``tool``, or read
            out of the model's ``prompt``.
    """

    text: str
    id: str | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    source: Literal["retrieved", "user", "tool", "prompt"] = "retrieved"


class Example(BaseModel):
    """One answer to check.

    ``documents`` takes a string, a :class:`Document`, any object with ``page_content`` (LangChain) or ``get_content()``
    (LlamaIndex), or a sequence of them. ``question`` may be None, as for summaries. ``id`` comes back in the report.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    answer: str
    documents: Any = ()
    question: str | None = None
    id: str | None = None


class Evidence(_Frozen):
    """A quote of one document: ``documents[document].text[start:end] == quote``.

    Attributes:
        document: index into the documents given.
        document_id: that document's own id, if it has one.
        relevance: in [0, 1], how close the quoted window is to the claim.
        source: the document's ``source``.
    """

    document: int = Field(ge=0)
    document_id: str | None = None
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str
    relevance: float = Field(default=0.0, ge=0.0, le=1.0)
    source: str = "retrieved"


class Span(_Frozen):
    """A part of the answer that the documents do not support.

    Attributes:
        score: highest token risk inside the span.
        label: ``contradicted`` or ``unsupported``.
        evidence: for ``contradicted`` what the documents say instead, best first; else the closest window found.
        expected: what the documents have in place of this text, where they name it.
        explanation: one sentence for a person.
        claim: index into ``Report.claims``, or None.
        votes: every detector's own highest risk inside the span.
    """

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    score: float = Field(ge=0.0, le=1.0)
    label: SpanLabel
    evidence: tuple[Evidence, ...] = ()
    expected: str | None = None
    explanation: str = ""
    claim: int | None = None
    votes: Mapping[str, float] = Field(default_factory=dict)


class Citation(_Frozen):
    """A citation marker in the answer, such as ``[1]``, ``(Source 3)`` or ``[^2]``.

    Attributes:
        cited: 1-based document numbers that the marker names.
        status: ``misattributed`` if another document supports the claim and the cited ones do not; ``not_checked`` if
            the claim has no support anywhere.
        suggested: 1-based numbers of documents that do support the claim (for ``misattributed``).
        claim: index into ``Report.claims`` of the claim it stands behind, or None.
    """

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    cited: tuple[int, ...]
    status: CitationStatus
    suggested: tuple[int, ...] = ()
    claim: int | None = None


class Claim(_Frozen):
    """The smallest checkable statement, an exact range of the answer; ``score`` is the maximum over its tokens."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    verdict: Verdict
    score: float = Field(ge=0.0, le=1.0)
    evidence: tuple[Evidence, ...] = ()
    citations: tuple[int, ...] = ()


class Mention(_Frozen):
    """A factual commitment in the answer with the signals behind its risk (EAEV steps 1 to 4).

    Attributes:
        identity: Id(s, e*) in [0, 1].  semantic: Sem(s, e*) in [-1, 1].  consistency: Con(s, e*) in [0, 1].
        s_pos: the weighted alignment.  s_neg: 1.0 if a conflict was found, else 0.0.
        crs_min: the lowest alignment under the counterfactual perturbations.  crs_delta: ``s_pos - crs_min``.
        deciding_perturbation: the perturbation that gave ``crs_min``.
        conflict: the kind of conflict, or None.
        signal: the signal that contributed most to the risk.
    """

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    type: MentionType
    risk: float = Field(ge=0.0, le=1.0)
    identity: float
    semantic: float
    consistency: float
    s_pos: float
    s_neg: float
    crs_min: float
    crs_delta: float
    deciding_perturbation: str | None = None
    conflict: str | None = None
    signal: str = ""
    evidence: Evidence | None = None


class Entity(_Frozen):
    """Mentions with one canonical form and their aggregated risk (EAEV step 5)."""

    canonical: str
    type: MentionType
    mentions: tuple[Mention, ...]
    es_pos: float
    es_neg: float
    ecrs_min: float
    escm: float
    risk: float = Field(ge=0.0, le=1.0)


class Edit(_Frozen):
    """One change of a repair: ``answer[start:end]`` becomes ``replacement``."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    replacement: str
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


class Recheck(_Frozen):
    """What the check of the repaired answer says; ``spans`` has offsets into ``Report.repaired``.

    ``no_claims`` without a score: nothing of the answer was left, and the repair's message stands in its place.
    """

    status: Status
    score: float | None = Field(default=None, ge=0.0, le=1.0)
    spans: tuple[Span, ...] = ()


class DetectorRun(_Frozen):
    """What one detector did: its name and version, ``ok`` or ``failed``, its own highest risk and threshold."""

    name: str
    version: str
    status: Literal["ok", "failed"]
    threshold: float
    score: float | None = None
    error: str | None = None


class Report(_Frozen):
    """The result of one check; see the module docstring for offsets and ranges.

    Attributes:
        status: a verdict, or the reason why there is none.
        score: maximum token risk after smoothing; None unless ``status`` is a verdict (or a contradicted abstention).
        answer / question / documents: what was checked, as given.
        repaired: the repaired answer where the policy made one, else None. ``status`` stays that of the answer.
        edits: the repair as disjoint edits of the answer, in order: ``rag_guard.repair.apply_edits(answer, edits) ==
            repaired``.
        recheck: what the check of ``repaired`` says.
        action: what the policy did with the answer.
        output: what the caller should show: the answer, its repair, or the block message.
        timings_ms: wall-clock milliseconds per stage.
        warnings: what a careful reader should know, e.g. a language without a linguistic model.
    """

    schema_version: str = SCHEMA_VERSION
    id: str | None = None
    status: Status
    score: float | None = Field(default=None, ge=0.0, le=1.0)
    answer: str
    output: str
    question: str | None = None
    documents: tuple[Document, ...] = ()
    language: str | None = None
    spans: tuple[Span, ...] = ()
    claims: tuple[Claim, ...] = ()
    entities: tuple[Entity, ...] = ()
    citations: tuple[Citation, ...] = ()
    action: Action = "none"
    repaired: str | None = None
    edits: tuple[Edit, ...] = ()
    recheck: Recheck | None = None
    detectors: tuple[DetectorRun, ...] = ()
    thresholds: Mapping[str, float] = Field(default_factory=dict)
    timings_ms: Mapping[str, float] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    error: str | None = None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Every distinct piece of evidence behind the spans and claims, in the order of first use."""
        seen: dict[tuple[int, int, int], Evidence] = {}
        holders: tuple[Span | Claim, ...] = (*self.spans, *self.claims)
        for holder in holders:
            for item in holder.evidence:
                seen.setdefault((item.document, item.start, item.end), item)
        return tuple(seen.values())

    def to_html(self) -> str:
        """A self-contained HTML page of this report (no network, no external files)."""
        from rag_guard.report.html import render_html

        return render_html([self])

    @staticmethod
    def to_html_page(reports: Sequence[Report]) -> str:
        """One self-contained HTML page for several reports."""
        from rag_guard.report.html import render_html

        return render_html(reports)
