"""One self-contained HTML page of reports: no network, no external file, no way for a text to become markup.

Answers and documents are hostile input. The template escapes everything it is given, and the page's policy
lets only its own style and its own script run, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from rag_guard.report.marking import Piece, Range, cut, one_line, surroundings, visible
from rag_guard.report.wording import (
    CITATIONS,
    LABEL_SYMBOLS,
    LABELS,
    STATUSES,
    VERDICTS,
    Words,
    describe,
)
from rag_guard.schema import Citation, Claim, Document, Edit, Evidence, Report, Span, Status

if TYPE_CHECKING:
    from jinja2 import Template

_SHORT_QUOTE = 40
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


class _Key(NamedTuple):
    kind: str
    number: int


@dataclass(frozen=True)
class _Quote:
    """A piece of evidence, its place on the page ("" if unknown), and what stands around a short one."""

    evidence: Evidence
    anchor: str
    before: str = ""
    after: str = ""

    @property
    def document(self) -> int:
        return self.evidence.document + 1


@dataclass(frozen=True)
class _DocumentView:
    number: int
    document: Document
    anchor: str
    text: Markup
    quoted: bool


@dataclass(frozen=True)
class _Change:
    """One step of a repair as the reader sees it: what stays (``before``), what goes and what comes."""

    before: str
    removed: str
    added: str


class _ReportView:
    """One report with everything that the template needs worked out."""

    def __init__(self, report: Report, number: int) -> None:
        self.report = report
        self.number = number
        self.anchor = f"r{number}"
        self._places = self._place_evidence()
        self._marked_by = self._spans_of_evidence()

    @property
    def words(self) -> Words:
        return STATUSES[self.report.status]

    @property
    def name(self) -> str:
        return self.report.id if self.report.id is not None else f"#{self.number}"

    @property
    def meaning(self) -> str:
        return describe(self.report)

    @property
    def headline(self) -> str:
        """What tells this report from the others in a list."""
        return one_line((self.report.question or "").strip() or self.report.answer, 140) or "(empty answer)"

    @property
    def language(self) -> str | None:
        language = self.report.language
        return language if language and _LANGUAGE.fullmatch(language) else None

    @property
    def total_ms(self) -> float | None:
        timings = self.report.timings_ms
        return timings.get("total", sum(timings.values())) if timings else None

    @property
    def stages(self) -> list[tuple[str, float]]:
        return [(name, spent) for name, spent in self.report.timings_ms.items() if name != "total"]

    def quotes(self, holder: Span | Claim) -> list[_Quote]:
        return [self._quote(item) for item in holder.evidence]

    def _quote(self, item: Evidence) -> _Quote:
        place = self.place(item)
        if not place or len(item.quote) >= _SHORT_QUOTE:
            return _Quote(item, place)
        # A bare value says little; on its line it does.
        text = self.report.documents[item.document].text
        return _Quote(item, place, *surroundings(text, item.start, item.end))

    def place(self, item: Evidence | None) -> str:
        """The page anchor of a piece of evidence, or "" if this report cannot show it."""
        if item is None:
            return ""
        number = self._places.get((item.document, item.start, item.end))
        return f"{self.anchor}-e{number}" if number is not None else ""

    def document_link(self, number: int) -> str:
        """The page anchor of the 1-based document ``number``, or "" if there is no such document."""
        return f"{self.anchor}-d{number}" if 1 <= number <= len(self.report.documents) else ""

    @property
    def answer(self) -> Markup:
        report = self.report
        ranges = [Range(item.start, item.end, _Key("span", n)) for n, item in enumerate(report.spans, 1)]
        ranges += [Range(item.start, item.end, _Key("citation", n)) for n, item in enumerate(report.citations, 1)]
        ranges += [Range(item.start, item.end, _Key("claim", n)) for n, item in enumerate(report.claims, 1)]
        return Markup("").join(self._answer_piece(piece) for piece in cut(report.answer, ranges))

    def _answer_piece(self, piece: Piece[_Key]) -> Markup:
        spans = [key.number for key in piece.keys if key.kind == "span"]
        citations = [key.number for key in piece.keys if key.kind == "citation"]
        claims = " ".join(f"{self.anchor}-c{key.number}" for key in piece.keys if key.kind == "claim")
        if spans:
            inner = self._span_piece(piece, spans)
        elif citations:
            inner = self._citation_piece(piece.text, self.report.citations[citations[0] - 1])
        else:
            inner = Markup("{}").format(piece.text)
        return Markup('<span data-claims="{}">{}</span>').format(claims, inner) if claims else inner

    def _span_piece(self, piece: Piece[_Key], numbers: list[int]) -> Markup:
        # Links cannot be nested: where spans overlap, the text leads to the innermost one.
        number = max(numbers, key=lambda n: (self.report.spans[n - 1].start, -self.report.spans[n - 1].end))
        span = self.report.spans[number - 1]
        opened = [key.number for key in piece.opens if key.kind == "span"]
        closed = [key.number for key in piece.closes if key.kind == "span"]
        anchors = Markup("").join(Markup('<i id="{}-s{}"></i>').format(self.anchor, n) for n in opened)
        places = [quote.anchor for quote in self.quotes(span) if quote.anchor]
        link = Markup(
            '{}<a class="span {}" href="#{}" data-spans="{}" data-finding="{}" data-evidence="{}" '
            'aria-describedby="{}-label"{}{}>{}</a>'
        )
        finding = f"{self.anchor}-f{number}"
        return link.format(
            anchors,
            " ".join(sorted({self.report.spans[n - 1].label for n in numbers})),
            places[0] if places else finding,
            " ".join(f"{self.anchor}-f{n}" for n in numbers),
            finding,
            " ".join(places),
            finding,
            # One stop per span for the keyboard, however many pieces it is in.
            Markup("") if number in opened else Markup(' tabindex="-1"'),
            Markup(' data-mark="{}"').format(
                " ".join(f"{LABEL_SYMBOLS[self.report.spans[n - 1].label]}{n}" for n in closed)
            )
            if closed
            else Markup(""),
            piece.text,
        )

    def _citation_piece(self, text: str, citation: Citation) -> Markup:
        target = self.document_link(citation.cited[0]) if citation.cited else ""
        words = CITATIONS[citation.status]
        if not target:
            return Markup('<span class="cite {}" title="{}">{}</span>').format(citation.status, words, text)
        return Markup('<a class="cite {}" href="#{}" title="{}">{}</a>').format(citation.status, target, words, text)

    @property
    def documents(self) -> list[_DocumentView]:
        views = []
        for index, document in enumerate(self.report.documents):
            ranges = [
                Range(start, end, number) for (where, start, end), number in self._places.items() if where == index
            ]
            text = Markup("").join(self._document_piece(piece) for piece in cut(document.text, ranges))
            views.append(_DocumentView(index + 1, document, f"{self.anchor}-d{index + 1}", text, quoted=bool(ranges)))
        return views

    def _document_piece(self, piece: Piece[int]) -> Markup:
        if not piece.keys:
            return Markup("{}").format(piece.text)
        anchors = Markup("").join(Markup('<i id="{}-e{}"></i>').format(self.anchor, n) for n in piece.opens)
        spans = sorted({span for number in piece.closes for span in self._marked_by.get(number, ())})
        back = Markup("").join(
            Markup(
                '<a class="back" href="#{0}-s{1}" data-finding="{0}-f{1}" data-mark="{1}" aria-label="{2}"></a>'
            ).format(self.anchor, n, f"Back to marked part {n} of the answer")
            for n in spans
        )
        strong = any(number in self._marked_by for number in piece.keys)
        return Markup('{}<mark class="{}" data-evidence="{}" tabindex="-1">{}</mark>{}').format(
            anchors,
            "quote" if strong else "quote support",
            " ".join(f"{self.anchor}-e{n}" for n in piece.keys),
            piece.text,
            back,
        )

    @property
    def changes(self) -> list[_Change]:
        """The repair as steps over the answer; the last one only carries what stays at the end."""
        answer, at = self.report.answer, 0
        changes = []
        for edit in sorted(self.report.edits, key=lambda edit: (edit.start, edit.end)):
            if not at <= edit.start <= edit.end <= len(answer):
                continue
            changes.append(_Change(answer[at : edit.start], answer[edit.start : edit.end], edit.replacement))
            at = edit.end
        return [*changes, _Change(answer[at:], "", "")] if changes else []

    def _all_evidence(self) -> Iterator[Evidence]:
        report = self.report
        holders: tuple[Span | Claim | Edit, ...] = (*report.spans, *report.claims, *report.edits)
        for holder in holders:
            yield from holder.evidence
        for entity in self.report.entities:
            yield from (mention.evidence for mention in entity.mentions if mention.evidence is not None)

    def _place_evidence(self) -> dict[tuple[int, int, int], int]:
        places: dict[tuple[int, int, int], int] = {}
        for item in self._all_evidence():
            known = item.document < len(self.report.documents)
            if known and item.start < item.end <= len(self.report.documents[item.document].text):
                places.setdefault((item.document, item.start, item.end), len(places) + 1)
        return places

    def _spans_of_evidence(self) -> dict[int, list[int]]:
        marked: dict[int, list[int]] = {}
        for n, span in enumerate(self.report.spans, 1):
            for item in span.evidence:
                number = self._places.get((item.document, item.start, item.end))
                if number is not None and n not in marked.setdefault(number, []):
                    marked[number].append(n)
        return marked


def render_html(reports: Sequence[Report]) -> str:
    """One HTML page for ``reports``; several get a list with links, counts and filters by status.

    The page holds everything it needs: it opens from disk, asks the network for nothing, and can be read and
    followed without its script.
    """
    template, style, script = _page()
    views = [_ReportView(report, number) for number, report in enumerate(reports, 1)]
    counts = Counter(report.status for report in reports)
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return template.render(
        views=views,
        counts=[(status, STATUSES[status], counts[status]) for status in Status if counts[status]],
        labels=LABELS,
        symbols=LABEL_SYMBOLS,
        verdicts=VERDICTS,
        citation_words=CITATIONS,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
    )


@lru_cache(maxsize=1)
def _page() -> tuple[Template, str, str]:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = resources.files("rag_guard.report") / "page"

    def read(name: str) -> str:
        return folder.joinpath(name).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        finalize=_showable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["one_line"] = one_line
    return environment.get_template("page.html"), read("page.css").strip(), read("page.js").strip()


def _showable(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
