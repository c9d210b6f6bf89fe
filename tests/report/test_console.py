from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from rag_guard import HallucinationGuard
from rag_guard.report.console import render_console
from rag_guard.report.wording import STATUSES
from rag_guard.schema import Report, Status

ESCAPE = "\x1b"


def test_spans_are_marked_without_colour(full_report: Report) -> None:
    shown = render_console(full_report, color=False, width=100)
    assert ESCAPE not in shown
    assert "**[[88 m]]!1**" in shown
    assert "[[won two national titles]]?3" in shown


def test_findings_name_what_the_documents_say_and_where(full_report: Report) -> None:
    shown = render_console(full_report, color=False, width=100)
    evidence = full_report.spans[0].evidence[0]
    assert "documents say: 41 m" in shown
    assert f"document 1 lakes/arno.md [{evidence.start}:{evidence.end}]" in shown
    assert f"“{evidence.quote}”" in shown
    assert "[3] wrong source; better source: document 2" in shown
    assert "5 claims: 2 contradicted, 2 supported, 1 unsupported" in shown
    assert "warning: No linguistic model for Finnish" in shown
    assert "22.9 ms (preflight 0.2" in shown


def test_colour_underlines_spans_and_changes_no_word(full_report: Report) -> None:
    coloured = render_console(full_report, color=True, width=100)
    assert "\x1b[1;4;31m88 m\x1b[0m" in coloured
    assert "[[" not in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert "documents say: 41 m" in plain


@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_worded_and_only_supported_is_ticked(
    status: Status, report_with: Callable[[Status], Report]
) -> None:
    shown = render_console(report_with(status), color=False, width=100)
    assert STATUSES[status].title in shown
    assert ("✓" in shown) == (status is Status.SUPPORTED)
    assert ("This is not a verdict" in shown) == (not status.is_verdict)


@pytest.mark.parametrize("color", [True, False])
def test_control_sequences_in_the_texts_do_not_reach_the_terminal(
    color: bool, report_on: Callable[..., Report]
) -> None:
    text = "a\x1b]0;owned\x07b [red]c[/red] \x9b31m :smile: \ud800"
    shown = render_console(report_on(text, text, [(0, 5)], [(0, len(text))]), color=color, width=100)
    assert not re.sub(r"\x1b\[[0-9;]*m", "", shown).count(ESCAPE)
    assert "\x07" not in shown
    assert "\x9b" not in shown
    assert "[red]c[/red]" in shown
    assert ":smile:" in shown
    shown.encode("utf-8")


@pytest.mark.parametrize("width", [1, 40, 72])
def test_lines_fit_the_width(full_report: Report, width: int) -> None:
    lines = render_console(full_report, color=False, width=width).splitlines()
    assert max(map(len, lines)) <= max(width, 20)


def test_no_color_wins_over_a_terminal(full_report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert ESCAPE in render_console(full_report)
    monkeypatch.setenv("NO_COLOR", "1")
    assert ESCAPE not in render_console(full_report)


def test_overlapping_spans_are_both_closed(report_on: Callable[..., Report]) -> None:
    shown = render_console(report_on("abcdef", "x", [(0, 4), (2, 6)], []), color=False, width=80)
    assert "[[ab[[cd]]!1ef]]?2" in shown


def test_short_evidence_is_shown_on_its_line(report_on: Callable[..., Report]) -> None:
    document = "# Lakes\r\nArno is 41 m deep.\r\nMore."
    start = document.index("41 m")
    shown = render_console(report_on("It is 88 m.", document, [(6, 10)], [(start, start + 4)]), color=False)
    assert "“Arno is [41 m] deep.”" in shown


def test_a_repair_is_shown_as_a_diff():
    report = HallucinationGuard("fast", policy="repair").check("The hall seats 900.", ["The hall seats 600."])
    shown = render_console(report, color=False)
    assert "The hall seats 600." in shown
    assert "[15:18] -“900” +“600”" in shown
