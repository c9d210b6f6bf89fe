"""The HTML report in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, sync_playwright
from playwright.sync_api import Page as Tab

from rag_guard.report.html import render_html
from rag_guard.schema import Document, Report, Status

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


class Opened:
    """A page opened from disk, with what the browser complained of and what it asked the network for."""

    def __init__(self, context: BrowserContext, path: Path) -> None:
        self.tab: Tab = context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.goto(path.as_uri())
        self.own = path.as_uri()

    def is_quiet(self) -> bool:
        outside = [url for url in self.requests if not url.startswith((self.own, "data:"))]
        return not self.complaints and not outside


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    contexts: list[BrowserContext] = []

    def opened(
        reports: list[Report], width: int = 1280, height: int = 900, dark: bool = False, script: bool = True
    ) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(render_html(reports), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            java_script_enabled=script,
        )
        contexts.append(context)
        return Opened(context, path)

    yield opened
    for context in contexts:
        context.close()


def in_view(locator: Locator) -> bool:
    """Whether the element is inside the window and not scrolled out of a box around it."""
    return bool(
        locator.evaluate(
            """element => {
                const { top, bottom, left, right } = element.getClientRects()[0];
                const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
                return top >= 0 && bottom <= innerHeight && element.contains(hit);
            }"""
        )
    )


def background(locator: Locator) -> str:
    return str(locator.evaluate("element => getComputedStyle(element).backgroundColor"))


@pytest.fixture
def long_report(full_report: Report) -> Report:
    """The full report with so much text before and after the evidence that it starts out of view."""
    first, *others = full_report.documents
    padding = "The village has a bakery, a school and a small harbour for rowing boats. " * 120
    documents = (first, *others[:-1], Document(text=padding))
    texts = [padding + "\n\n" + document.text for document in documents]
    shift = len(padding) + 2
    moved = full_report.model_dump()

    def move(value: object) -> None:
        if isinstance(value, dict):
            if "quote" in value:
                value["start"] += shift
                value["end"] += shift
            for item in value.values():
                move(item)
        elif isinstance(value, (list, tuple)):
            for item in value:
                move(item)

    move(moved)
    for document, text in zip(moved["documents"], texts, strict=False):
        document["text"] = text
    report = Report.model_validate(moved)
    for span in report.spans:
        item = span.evidence[0]
        assert report.documents[item.document].text[item.start : item.end] == item.quote
    return report


@pytest.mark.parametrize("width", [1280, 375])
def test_click_on_a_span_brings_its_evidence_into_view_and_marks_it(
    width: int, long_report: Report, open_page: Callable[..., Opened]
) -> None:
    page = open_page([long_report], width=width)
    for number in (1, 2, 3):
        span = long_report.spans[number - 1]
        mark = page.tab.locator("mark", has_text=span.evidence[0].quote)
        before = background(mark)
        assert not in_view(mark)
        page.tab.locator(f".span[data-finding=r1-f{number}]").click()
        assert in_view(mark)
        assert background(mark) != before
        assert page.tab.locator(f"#r1-f{number}").evaluate("element => element.classList.contains('on')")
        assert page.tab.locator("mark.on").count() == 1
        page.tab.keyboard.press("Escape")
        assert page.tab.locator(".on").count() == 0
    assert page.is_quiet()


def test_wide_page_keeps_the_answer_in_place_while_the_documents_scroll(
    long_report: Report, open_page: Callable[..., Opened]
) -> None:
    page = open_page([long_report])
    before = page.tab.evaluate("scrollY")
    page.tab.locator(".span").first.click()
    assert page.tab.evaluate("scrollY") == before
    assert in_view(page.tab.locator(".span").first)


def test_keyboard_alone_reaches_a_span_its_evidence_and_the_way_back(
    long_report: Report, open_page: Callable[..., Opened]
) -> None:
    page = open_page([long_report])
    focused = page.tab.locator(":focus")
    stops = []
    for _ in range(12):
        page.tab.keyboard.press("Tab")
        stops.append(focused.evaluate("element => element.className"))
        if "span" in stops[-1].split():
            break
    assert stops[0] == "skip"
    assert "span" in stops[-1].split()
    outline = focused.evaluate("element => getComputedStyle(element).outlineStyle")
    assert outline == "solid"
    page.tab.keyboard.press("Enter")
    assert focused.evaluate("element => element.tagName") == "MARK"
    assert focused.inner_text() == long_report.spans[0].evidence[0].quote
    assert in_view(focused)
    announced = page.tab.locator("[role=status]").inner_text()
    assert "documents say: 41 m" in announced
    assert long_report.spans[0].evidence[0].quote in announced
    page.tab.keyboard.press("Escape")
    assert focused.get_attribute("data-finding") == "r1-f1"
    assert page.is_quiet()


def test_mark_in_a_document_leads_back_to_the_answer(full_report: Report, open_page: Callable[..., Opened]) -> None:
    page = open_page([full_report], width=375)
    page.tab.get_by_role("link", name="Back to marked part 2 of the answer").click()
    assert in_view(page.tab.locator(".span[data-finding=r1-f2]"))
    assert page.tab.locator(".span.on").inner_text() == "08:15"


def test_evidence_in_a_closed_document_is_opened(full_report: Report, open_page: Callable[..., Opened]) -> None:
    page = open_page([full_report])
    page.tab.locator("#r1-d2 > summary").click()
    assert not page.tab.locator("#r1-d2 .document-text").is_visible()
    page.tab.locator(".span[data-finding=r1-f2]").click()
    assert in_view(page.tab.locator("mark.on"))


def test_links_work_without_script(long_report: Report, open_page: Callable[..., Opened]) -> None:
    page = open_page([long_report], script=False)
    mark = page.tab.locator("mark", has_text=long_report.spans[0].evidence[0].quote)
    page.tab.locator(".span").first.click()
    box = mark.bounding_box()
    assert box is not None
    assert 0 <= box["y"] <= 900


@pytest.mark.parametrize("width", [320, 375, 768])
def test_narrow_page_does_not_scroll_sideways(
    width: int,
    full_report: Report,
    report_with: Callable[[Status], Report],
    report_on: Callable[..., Report],
    open_page: Callable[..., Opened],
) -> None:
    unbroken = "x" * 400
    wide = report_on(unbroken, unbroken, [(0, 300)], [(10, 300)])
    page = open_page([full_report, wide, *map(report_with, Status)], width=width)
    page.tab.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert page.is_quiet()


def test_dark_scheme_is_dark_and_readable(full_report: Report, open_page: Callable[..., Opened]) -> None:
    def luminance(color: str) -> float:
        channels = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: float, two: float) -> float:
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)

    for dark in (True, False):
        page = open_page([full_report], dark=dark)
        body = luminance(background(page.tab.locator("body")))
        assert (body < 0.1) == dark
        selectors = (
            ".back",
            ".span.contradicted",
            ".span.unsupported",
            "mark.quote",
            ".verdict",
            ".warnings",
            ".tag",
        )
        for selector in selectors:
            for element in page.tab.locator(selector).all():
                back = background(element)
                if back == "rgba(0, 0, 0, 0)":
                    continue
                ink = luminance(str(element.evaluate("element => getComputedStyle(element).color")))
                assert contrast(ink, luminance(back)) >= 4.5, (selector, dark)


def test_filters_show_one_status_at_a_time(
    report_with: Callable[[Status], Report], open_page: Callable[..., Opened]
) -> None:
    page = open_page([report_with(status) for status in (*Status, Status.SUPPORTED)])
    articles = page.tab.locator("article:visible")
    assert articles.count() == len(Status) + 1
    button = page.tab.get_by_role("button", name="Supported 2")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert articles.count() == 2
    assert page.tab.locator(".list li:visible").count() == 2
    page.tab.get_by_role("button", name="All 8").click()
    assert articles.count() == len(Status) + 1
    assert page.is_quiet()


def test_text_is_shown_as_written_in_every_script(
    report_on: Callable[..., Report], open_page: Callable[..., Opened]
) -> None:
    answer = "**Bold** e\u0301te\u0301 👩\u200d🚀\r\n\r\nהאגם עמוק 41 מטר.\n| a | b |\n<b>no</b> &amp; [1]"
    at = answer.index("האגם")
    page = open_page([report_on(answer, answer, [(0, 8), (9, 14), (15, 18), (at, at + 10)], [(9, 18)])])
    shown = page.tab.locator("#r1-answer").evaluate("element => element.textContent")
    assert shown == answer.replace("\r\n", "\n")
    assert [link.inner_text() for link in page.tab.locator(".span").all()][:3] == [
        "**Bold**",
        "e\u0301te\u0301",
        "👩\u200d🚀",
    ]
    assert page.is_quiet()


def test_hebrew_answer_runs_from_right_to_left(
    report_on: Callable[..., Report], open_page: Callable[..., Opened]
) -> None:
    page = open_page([report_on("האגם עמוק 41 מטר.", "עומק האגם 88 מטר.", [(10, 12)], [(10, 12)])])
    answer = page.tab.locator("#r1-answer")
    direction = answer.evaluate("element => getComputedStyle(element).direction")
    assert direction == "rtl"


def test_hostile_texts_run_nothing(report_on: Callable[..., Report], open_page: Callable[..., Opened]) -> None:
    text = "<script>document.title='owned'</script><img src=http://127.0.0.1:9/x onerror=\"document.title='owned'\">"
    page = open_page([report_on(text, text, [(0, 9)], [(0, 20)])])
    page.tab.locator(".span").first.click()
    assert "owned" not in page.tab.title().split("·")[0]
    assert page.tab.locator("img").count() == 0
    assert page.is_quiet()


def test_print_opens_what_is_folded(full_report: Report, open_page: Callable[..., Opened]) -> None:
    page = open_page([full_report])
    closed = page.tab.locator("details:not([open])").count()
    assert closed
    page.tab.emulate_media(media="print")
    page.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.tab.locator("details:not([open])").count() == 0
    assert page.tab.locator(".documents").first.evaluate("e => getComputedStyle(e).overflowY") == "visible"
    page.tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.tab.locator("details:not([open])").count() == closed
