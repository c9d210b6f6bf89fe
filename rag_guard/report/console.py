"""A report for the terminal; it loses nothing without colour, and no text in it can drive the terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from rag_guard.report.marking import Range, cut, one_line, surroundings, visible
from rag_guard.report.wording import CITATIONS, LABEL_SYMBOLS, LABELS, STATUSES, Tone, describe, summary
from rag_guard.schema import Edit, Evidence, Report, Span

_TONES: dict[Tone, str] = {"good": "green", "bad": "red", "none": "magenta", "failed": "yellow"}
_LABELS = {"contradicted": "bold red", "unsupported": "bold yellow"}
_DIM = "bright_black"
_QUOTE_LIMIT = 400
_SHORT_QUOTE = 40


def render_console(report: Report, *, color: bool | None = None, width: int = 80) -> str:
    """``report`` as text for a terminal of ``width`` columns.

    Args:
        color: True colours and underlines; False marks spans as ``[[text]]!1``, without any control sequence;
            None does as ``NO_COLOR``, ``FORCE_COLOR`` and the kind of standard output say.
        width: columns, at least 20.
    """
    if color is None:
        color = not Console().no_color and Console().is_terminal
    target = StringIO()
    console = Console(
        file=target,
        width=max(width, 20),
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(_report(report, color))
    return target.getvalue()


def _report(report: Report, color: bool) -> RenderableType:
    parts: list[RenderableType] = [_verdict(report)]
    if report.error:
        parts.append(_indented(Text(visible(report.error), style="yellow")))
    if report.question and report.question.strip():
        parts += [_heading("Question"), _indented(Text(visible(report.question)))]
    parts += [_heading("Answer"), _indented(_answer(report, color))]
    for number, span in enumerate(report.spans, 1):
        parts += [Text(), *_finding(report, span, number)]
    parts += _repair(report)
    footer = _footer(report)
    if footer:
        parts += [Text(), *footer]
    return Group(*parts)


def _verdict(report: Report) -> RenderableType:
    words = STATUSES[report.status]
    line = Text.assemble((f"{words.symbol} {words.title}", f"bold {_TONES[words.tone]}"))
    if report.score is not None:
        line.append(f"  risk {report.score:.2f}")
    if report.id is not None:
        line.append(f"  {one_line(report.id, 60)}", style=_DIM)
    return Group(line, _indented(Text(describe(report))))


def _answer(report: Report, color: bool) -> Text:
    """The answer with its spans marked: underlined, or in double brackets, and numbered either way."""
    if not report.answer.strip():
        return Text("(empty)", style=_DIM)
    shown = Text()
    ranges = [Range(span.start, span.end, number) for number, span in enumerate(report.spans, 1)]
    for piece in cut(report.answer, ranges):
        labels = {report.spans[number - 1].label for number in piece.keys}
        label = "contradicted" if "contradicted" in labels else "unsupported"
        style = f"underline {_LABELS[label]}" if labels else ""
        shown.append("" if color else "[[" * len(piece.opens))
        shown.append(piece.text, style=style)
        for number in piece.closes:
            mark = f"{LABEL_SYMBOLS[report.spans[number - 1].label]}{number}"
            shown.append(f" {mark}" if color else f"]]{mark}", style=_LABELS[label])
    shown.rstrip()
    return shown


def _finding(report: Report, span: Span, number: int) -> list[RenderableType]:
    style = _LABELS[span.label]
    head = Text.assemble(
        (f"{LABEL_SYMBOLS[span.label]}{number} {span.label}", style),
        f"  “{one_line(span.text, 100)}”",
        (f"  risk {span.score:.2f}  [{span.start}:{span.end}]", _DIM),
    )
    parts: list[RenderableType] = [head]
    if span.expected is not None:
        parts.append(_indented(Text.assemble("documents say: ", (visible(span.expected), "bold green")), 5))
    if span.explanation:
        parts.append(_indented(Text(visible(span.explanation)), 5))
    elif span.expected is None:
        parts.append(_indented(Text(LABELS[span.label]), 5))
    parts += [_quote(report, item) for item in span.evidence[:2]]
    if not span.evidence:
        parts.append(_indented(Text("no passage of the documents is close to this", style=_DIM), 5))
    if len(span.votes) > 1:
        votes = "  ".join(f"{name} {risk:.2f}" for name, risk in span.votes.items())
        parts.append(_indented(Text(f"votes: {visible(votes)}", style=_DIM), 5))
    return parts


def _quote(report: Report, item: Evidence) -> RenderableType:
    quote = Text(one_line(item.quote, _QUOTE_LIMIT), style="bold cyan")
    if len(item.quote) < _SHORT_QUOTE and item.document < len(report.documents):
        # A bare value says little; on its line it does.
        before, after = surroundings(report.documents[item.document].text, item.start, item.end)
        brackets = ("[", "]") if before or after else ("", "")
        quote = Text.assemble((before + brackets[0], "cyan"), quote, (brackets[1] + after, "cyan"))
    name = f" {one_line(item.document_id, 60)}" if item.document_id else ""
    where = f"document {item.document + 1}{name} [{item.start}:{item.end}]"
    return Group(
        _indented(Text(where, style=_DIM), 5),
        _indented(Text.assemble(("“", "cyan"), quote, ("”", "cyan")), 7),
    )


def _repair(report: Report) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if report.repaired is not None:
        parts += [
            Text(),
            _heading("Repaired answer"),
            _indented(Text(visible(report.repaired) or "(nothing is left)")),
            *(_indented(_change(report, edit)) for edit in report.edits),
        ]
    if report.output not in (report.answer, report.repaired):
        parts += [
            Text(),
            _heading("Shown to the user instead"),
            _indented(Text(visible(report.output) or "(nothing)")),
        ]
    return parts


def _change(report: Report, edit: Edit) -> Text:
    """One edit as a line of a diff: what goes, what comes, and why."""
    old, new = one_line(report.answer[edit.start : edit.end], 100), one_line(edit.replacement, 100)
    line = Text.assemble((f"[{edit.start}:{edit.end}]", _DIM))
    if old:
        line.append(f" -“{old}”", style="red")
    if new:
        line.append(f" +“{new}”", style="green")
    return line.append(f"  {visible(edit.reason)}", style=_DIM)


def _footer(report: Report) -> list[RenderableType]:
    parts: list[RenderableType] = []
    counts = summary(report)
    if counts:
        parts.append(Text(counts))
    for citation in report.citations:
        if citation.status in ("misattributed", "out_of_range"):
            better = ", ".join(f"document {number}" for number in citation.suggested)
            hint = f"; better source: {better}" if better else ""
            parts.append(
                _indented(Text(f"{visible(citation.text)} {CITATIONS[citation.status]}{hint}", style="yellow"))
            )
    parts += [Text(f"warning: {visible(warning)}", style="yellow") for warning in report.warnings]
    if report.timings_ms:
        stages = dict(report.timings_ms)
        total = stages.pop("total", None)
        each = ", ".join(f"{name} {spent:.1f}" for name, spent in stages.items())
        line = f"{sum(stages.values()) if total is None else total:.1f} ms" + (f" ({each})" if each else "")
        parts.append(Text(visible(line), style=_DIM))
    return parts


def _heading(title: str) -> RenderableType:
    return Text(title, style="bold")


def _indented(renderable: RenderableType, by: int = 2) -> RenderableType:
    return Padding(renderable, (0, 0, 0, by), expand=False)
