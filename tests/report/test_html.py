from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from rag_guard.report.html import render_html
from rag_guard.report.wording import STATUSES
from rag_guard.schema import (
    Citation,
    Claim,
    DetectorRun,
    Document,
    Edit,
    Entity,
    Evidence,
    Mention,
    Report,
    Span,
    Status,
)

VOID = {"meta", "link", "path", "rect", "br", "img", "input"}


class Page(HTMLParser):
    """Tags, attributes, and the text by element id, of a page; also checks that tags nest."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[tuple[str, str | None, list[str]]] = []
        self.text: dict[str, str] = {}
        self.feed(source)
        self.close()
        assert not self.open, f"left open: {[tag for tag, *_ in self.open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("id"), []))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        opened, identifier, texts = self.open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"
        text = "".join(texts)
        if identifier:
            self.text[identifier] = text
        if self.open:
            self.open[-1][2].append(text)

    def handle_data(self, data: str) -> None:
        if self.open:
            self.open[-1][2].append(data)

    def ids(self) -> list[str]:
        return [attrs["id"] for _, attrs in self.tags if attrs.get("id")]

    def having(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for _, attrs in self.tags if name in attrs]


def test_page_is_well_formed_with_unique_ids_and_no_dangling_links(full_report: Report) -> None:
    page = Page(render_html([full_report, full_report]))
    assert len(page.ids()) == len(set(page.ids()))
    targets = {attrs["href"] for attrs in page.having("href")} - {"data:,"}
    assert targets <= {f"#{identifier}" for identifier in page.ids()}


def test_page_names_no_outside_resource_and_allows_its_own_script_and_style_by_hash(
    full_report: Report,
) -> None:
    source = render_html([full_report])
    assert not re.search(r"(src|href)=\"(?!#|data:,)", source)
    assert "url(" not in source
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', source)
    assert policy is not None
    allowed = policy.group(1).replace("&#39;", "'")
    assert "default-src 'none'" in allowed
    assert "unsafe" not in allowed
    for tag in ("script", "style"):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", source, re.DOTALL)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content.group(1).encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in allowed
    # Inline style and event attributes would be refused by the policy.
    assert not any({"style", "onclick"} & attrs.keys() for _, attrs in Page(source).tags)


def test_answer_and_documents_keep_their_text(full_report: Report) -> None:
    page = Page(render_html([full_report]))
    assert page.text["r1-answer"] == full_report.answer.replace("\r\n", "\n")
    for number, document in enumerate(full_report.documents, 1):
        assert page.text[f"r1-d{number}"].rstrip().endswith(document.text.replace("\r\n", "\n").rstrip())


def test_every_span_leads_to_its_evidence_in_the_document(full_report: Report) -> None:
    page = Page(render_html([full_report]))
    for number, span in enumerate(full_report.spans, 1):
        link = next(attrs for attrs in page.having("data-finding") if attrs["data-finding"] == f"r1-f{number}")
        anchor = link["href"].removeprefix("#")
        assert anchor in page.ids()
        marked = [attrs for tag, attrs in page.tags if tag == "mark" and anchor in attrs["data-evidence"].split()]
        assert marked
        finding = page.text[f"r1-f{number}"]
        assert span.evidence[0].quote in finding
        assert span.explanation in finding
        if span.expected:
            assert f"documents say: {span.expected}" in re.sub(r"\s+", " ", finding)


def test_labels_differ_by_more_than_colour(full_report: Report) -> None:
    page = Page(render_html([full_report]))
    marks = {attrs["data-mark"] for attrs in page.having("data-mark") if "span" in (attrs["class"] or "").split()}
    assert marks == {"!1", "!2", "?3"}


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.SUPPORTED])
def test_only_supported_looks_clean(status: Status, report_with: Callable[[Status], Report]) -> None:
    page = Page(render_html([report_with(status)]))
    classes = [(attrs.get("class") or "").split() for _, attrs in page.tags]
    verdict = next(names for names in classes if "verdict" in names)
    assert "good" not in verdict
    assert page.text["r1-title"] == STATUSES[status].title
    assert "Supported" not in page.text["r1-title"]


HOSTILE = [
    "</div></article><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "<!-- --><style>*{display:none}</style>",
    "&lt;b&gt; &amp;amp;",
    "\u202egnp.exe \x1b[31m\x00\ud800\udfff",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_wherever_a_report_carries_text(text: str) -> None:
    evidence = Evidence(document=0, document_id=text, start=0, end=len(text), quote=text)
    place = {"start": 0, "end": len(text), "text": text}
    mention = Mention(
        **place,
        type="ENT",
        risk=0.5,
        identity=0,
        semantic=0,
        consistency=0,
        s_pos=0,
        s_neg=0,
        crs_min=0,
        crs_delta=0,
        deciding_perturbation=text,
        conflict=text,
        signal=text,
        evidence=evidence,
    )
    report = Report(
        id=text,
        status=Status.HALLUCINATED,
        score=0.5,
        answer=text,
        output=text + text,
        question=text,
        documents=(Document(text=text, id=text, metadata={text: text}),),
        language=text,
        spans=(
            Span(
                **place,
                score=0.5,
                label="unsupported",
                evidence=(evidence,),
                expected=text,
                explanation=text,
                votes={text: 0.5},
            ),
        ),
        claims=(Claim(**place, verdict="unsupported", score=0.5, evidence=(evidence,)),),
        citations=(Citation(**place, cited=(1,), status="misattributed", suggested=(1, 9)),),
        entities=(
            Entity(
                canonical=text,
                type="ENT",
                mentions=(mention,),
                es_pos=0,
                es_neg=0,
                ecrs_min=0,
                escm=0,
                risk=0.5,
            ),
        ),
        repaired=text,
        edits=(Edit(start=0, end=len(text), replacement=text, reason=text),),
        detectors=(DetectorRun(name=text, version=text, status="failed", threshold=0.5, error=text),),
        thresholds={text: 0.5},
        timings_ms={text: 1.0},
        warnings=(text,),
        error=text,
    )
    plain = report.model_copy(
        update={
            name: "x" if isinstance(getattr(report, name), str) else getattr(report, name)
            for name in ("id", "question", "error")
        }
    )
    source = render_html([report, plain])
    source.encode("utf-8")
    page = Page(source)
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert sum(tag == "style" for tag, _ in page.tags) == 1
    assert not any(tag == "img" for tag, _ in page.tags)
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "49" not in page.text["r1-answer"]


@pytest.mark.parametrize(
    ("spans", "evidence"),
    [
        ([(0, 4), (4, 8)], [(0, 4), (4, 8)]),
        ([(0, 6), (3, 9)], [(0, 6), (3, 9)]),
        ([(0, 9), (3, 5)], [(0, 9), (0, 4), (3, 5)]),
        ([(2, 5), (2, 5)], [(2, 5)]),
    ],
    ids=["adjacent", "overlapping", "nested", "equal"],
)
def test_spans_that_touch_keep_the_text_and_one_keyboard_stop_each(
    spans: list[tuple[int, int]], evidence: list[tuple[int, int]], report_on: Callable[..., Report]
) -> None:
    text = "abc\r\ndefgh"
    page = Page(render_html([report_on(text, text, spans, evidence)]))
    assert page.text["r1-answer"] == "abc\ndefgh"
    assert page.text["r1-d1"].endswith("abc\ndefgh\n")
    assert len(page.ids()) == len(set(page.ids()))
    links = page.having("data-spans")
    stops = [attrs["data-finding"] for attrs in links if attrs.get("tabindex") != "-1"]
    assert len(stops) == len(set(stops))
    assert {f"r1-s{n}" for n in range(1, len(spans) + 1)} <= set(page.ids())


def test_report_with_evidence_of_unknown_documents_still_renders() -> None:
    evidence = Evidence(document=5, start=0, end=3, quote="abc")
    report = Report(
        status=Status.HALLUCINATED,
        score=1.0,
        answer="abc",
        output="abc",
        spans=(Span(start=0, end=3, text="abc", score=1.0, label="contradicted", evidence=(evidence,)),),
    )
    page = Page(render_html([report]))
    assert "document 6" in page.text["r1-f1"]


def test_several_reports_are_listed_counted_and_linked(report_with: Callable[[Status], Report]) -> None:
    reports = [report_with(status) for status in (*Status, Status.SUPPORTED)]
    page = Page(render_html(reports))
    assert [attrs["data-status"] for tag, attrs in page.tags if tag == "article"] == [r.status for r in reports]
    assert {f"#r{n}" for n in range(1, len(reports) + 1)} <= {attrs["href"] for attrs in page.having("href")}
    assert sum("filter" in (attrs.get("class") or "").split() for _, attrs in page.tags) == 1 + len(Status)


def test_no_report_gives_a_page_that_says_so() -> None:
    assert "no report" in render_html([])


def test_repair_shows_what_went_and_what_came(full_report: Report) -> None:
    source = render_html([full_report])
    assert "<del>88 m</del><ins>41 m</ins>" in source
    assert "<del>, and it won two national titles [7]</del>" in source


def test_report_survives_its_json_and_renders_the_same(full_report: Report) -> None:
    again = Report.model_validate_json(full_report.model_dump_json())
    assert render_html([again]) == full_report.to_html()
