"""``rag-guard check``: check answers from files, JSON lines or standard input."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from rag_guard.errors import HallucinationError, InvalidInputError, RagGuardError

if TYPE_CHECKING:
    from rag_guard.guard import HallucinationGuard
    from rag_guard.schema import Example, Report, Status

SUPPORTED, HALLUCINATED, BAD_INPUT, NO_VERDICT, FAILED = 0, 1, 2, 3, 4
_WORST_FIRST = (BAD_INPUT, FAILED, HALLUCINATED, NO_VERDICT, SUPPORTED)
_PLAIN_WIDTH = 100

_EXIT_CODES = (
    "Exit codes: 0 supported, 1 hallucinated, 2 wrong usage or input, 3 no verdict (no_context, no_claims, "
    "abstained, skipped), 4 the check failed. With --jsonl the worst row decides, in the order 2, 4, 1, 3, 0."
)


class Format(str, Enum):
    """What ``--format`` takes."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


class _ManyDocuments(TyperCommand):
    """Lets one ``--documents`` take several files, as shells expand ``docs/*.md``, and keeps their order."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _repeat_option(args, ("--documents", "-d")))


def _repeat_option(args: Sequence[str], names: Sequence[str]) -> list[str]:
    """``-d a b -q c`` as ``-d a -d b -q c``."""
    spread: list[str] = []
    name: str | None = None
    for argument in args:
        if name and spread[-1] != name and (argument == "-" or not argument.startswith("-")):
            spread.append(name)
        elif argument in names:
            name = argument
        elif name and spread[-1] != name:
            name = next((known for known in names if argument.startswith(f"{known}=")), None)
        spread.append(argument)
    return spread


app = typer.Typer(add_completion=False)


@app.command(cls=_ManyDocuments, epilog=_EXIT_CODES)
def check(
    answer: Annotated[
        str | None, typer.Option("--answer", "-a", metavar="FILE", help="The answer; - for standard input.")
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            "--documents",
            "-d",
            metavar="FILE...",
            help="What the answer must follow from: text or Markdown files, .json (an array of strings or of "
            'objects with "text" or "page_content") or .jsonl. Several files, or the option several times.',
        ),
    ] = None,
    question: Annotated[
        str | None, typer.Option("--question", "-q", metavar="TEXT", help="The question, or @FILE.")
    ] = None,
    jsonl: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='Rows {"answer", "documents", "question"?, "id"?}, one a line; - for standard input.',
        ),
    ] = None,
    preset: Annotated[str | None, typer.Option(metavar="NAME", help="fast or balanced (default).")] = None,
    policy: Annotated[
        str, typer.Option(metavar="NAME", help="For hallucinated answers: report, repair, block or raise.")
    ] = "report",
    repair: Annotated[
        str | None,
        typer.Option(metavar="STRATEGY", help="With --policy repair: extract (default), remove or rewrite."),
    ] = None,
    format: Annotated[
        Format | None, typer.Option("--format", "-f", help="Default: by the suffix of --output, else text.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here, not to standard output."),
    ] = None,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Rows of --jsonl checked at once; 1 answers every row as it comes.")
    ] = 16,
) -> None:
    """Check whether the documents support an answer, and show the parts that they do not."""
    try:
        code = _run(answer, documents or [], question, jsonl, preset, policy, repair, format, output, batch_size)
    except RagGuardError as error:
        _complain(error)
        code = BAD_INPUT if isinstance(error, InvalidInputError) else FAILED
    except Exception as error:
        # Python's own exit code for a crash is 1, which here would say "hallucinated".
        _complain(f"the check failed: {type(error).__name__}: {error}")
        code = FAILED
    raise typer.Exit(code)


def _run(
    answer: str | None,
    documents: list[str],
    question: str | None,
    jsonl: str | None,
    preset: str | None,
    policy: str,
    repair: str | None,
    format: Format | None,
    output: Path | None,
    batch_size: int,
) -> int:
    from rag_guard.commands.inputs import STDIN, read_documents, read_rows, read_text
    from rag_guard.guard import HallucinationGuard
    from rag_guard.schema import Example

    if (answer is None) == (jsonl is None):
        raise InvalidInputError("name one source of answers: --answer FILE or --jsonl FILE (- is standard input)")
    if jsonl is not None and question is not None:
        raise InvalidInputError('--question goes with --answer; rows of --jsonl bring their own "question"')
    piped = [answer, jsonl, question and question.removeprefix("@"), *documents].count(STDIN)
    if piped > 1:
        raise InvalidInputError("standard input (-) can be read only once; write the other input to a file")
    if output is not None and not output.absolute().parent.is_dir():
        raise InvalidInputError(f"--output {output}: the folder {output.absolute().parent} does not exist; create it")

    shared = read_documents(documents)
    bad_rows: list[InvalidInputError] = []

    def on_bad_row(error: InvalidInputError) -> None:
        bad_rows.append(error)
        _complain(error)

    examples: Iterable[Example]
    if jsonl is None:
        asked = read_text(question[1:]) if question and question.startswith("@") else question
        examples = [Example(answer=read_text(answer or STDIN), documents=shared, question=asked)]
    else:
        examples = read_rows(jsonl, shared, on_bad_row)

    _quiet_log()
    guard = HallucinationGuard(preset=preset, policy=policy, repair=repair)  # type: ignore[arg-type]  # it names the choices
    chosen = format or _format_of(output)
    reports = _check(guard, examples, batch_size)
    with _output(output) as write, _progress(jsonl, output) as advance:
        seen = _write(_each(reports, advance), chosen, write, many=jsonl is not None, to_file=output is not None)
    if not seen and not bad_rows:
        raise InvalidInputError(f"{jsonl} holds no rows, so nothing was checked")
    return _exit_code(seen, failed_rows=bool(bad_rows))


def _check(guard: HallucinationGuard, examples: Iterable[Example], batch_size: int) -> Iterator[Report]:
    remaining = iter(examples)
    # Under "raise" an error ends a batch, and here every row is to have its report.
    size = 1 if guard.policy == "raise" else batch_size
    while batch := list(islice(remaining, size)):
        yield from _check_batch(guard, batch)


def _check_batch(guard: HallucinationGuard, batch: list[Example]) -> list[Report]:
    try:
        return guard.check_batch(batch)
    except HallucinationError as error:
        return [error.report]


def _write(
    reports: Iterable[Report], format: Format, write: Callable[[str], None], *, many: bool, to_file: bool
) -> Counter[Status]:
    """Write reports as they come (HTML: when all are there) and count their statuses."""
    seen: Counter[Status] = Counter()
    kept: list[Report] = []
    for report in reports:
        seen[report.status] += 1
        if format is Format.HTML:
            kept.append(report)
        elif format is Format.JSON:
            write(_json(report, indent=None if many else 2) + "\n")
        else:
            write(_text(report, to_file) + ("\n" if many else ""))
    if kept:
        from rag_guard.report.html import render_html

        write(render_html(kept) + "\n")
    if format is Format.TEXT and many and seen:
        counts = ", ".join(f"{number} {status.value}" for status, number in seen.most_common())
        write(f"{sum(seen.values())} answers: {counts}\n")
    return seen


def _exit_code(seen: Counter[Status], *, failed_rows: bool) -> int:
    from rag_guard.schema import Status

    codes = {Status.SUPPORTED: SUPPORTED, Status.HALLUCINATED: HALLUCINATED, Status.ERROR: FAILED}
    found = {codes.get(status, NO_VERDICT) for status in seen}
    if failed_rows:
        found.add(BAD_INPUT)
    return next(code for code in _WORST_FIRST if code in found)


def _json(report: Report, indent: int | None) -> str:
    from pydantic_core import PydanticSerializationError

    try:
        return report.model_dump_json(indent=indent)
    except PydanticSerializationError:
        # A lone surrogate has no UTF-8; escaped, the text survives the way out and back in.
        import json

        return json.dumps(report.model_dump(mode="json"), indent=indent)


def _text(report: Report, to_file: bool) -> str:
    from rag_guard.report.console import render_console

    if to_file:
        return render_console(report, color=False, width=_PLAIN_WIDTH)
    width = shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns if sys.stdout.isatty() else _PLAIN_WIDTH
    return render_console(report, width=min(width, 120))


def _format_of(output: Path | None) -> Format:
    suffix = output.suffix.lower() if output else ""
    return {".html": Format.HTML, ".htm": Format.HTML, ".json": Format.JSON, ".jsonl": Format.JSON}.get(
        suffix, Format.TEXT
    )


@contextmanager
def _output(path: Path | None) -> Iterator[Callable[[str], None]]:
    if path is None:
        # A terminal that cannot show a character gets its escape, never a crash.
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")

        def to_stdout(text: str) -> None:
            sys.stdout.write(text)
            sys.stdout.flush()

        yield to_stdout
        return
    try:
        stream = path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise InvalidInputError(f"--output {path} cannot be written: {error.strerror or error}") from None
    with stream:

        def to_file(text: str) -> None:
            stream.write(text)
            stream.flush()

        yield to_file


@contextmanager
def _progress(jsonl: str | None, output: Path | None) -> Iterator[Callable[[], None]]:
    """A bar on standard error for many rows, if a person watches it and reports do not run through it."""
    from rag_guard.commands.inputs import count_lines

    if jsonl is None or not sys.stderr.isatty() or (output is None and sys.stdout.isatty()):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("checking", total=count_lines(jsonl))
        yield lambda: bar.advance(task)


def _each(reports: Iterable[Report], advance: Callable[[], None]) -> Iterator[Report]:
    for report in reports:
        advance()
        yield report


def _quiet_log() -> None:
    """Keep the tracebacks of failed checks off the terminal, where the report says what failed."""
    import logging

    logging.getLogger("rag_guard").addHandler(logging.NullHandler())


def _complain(error: Exception | str) -> None:
    typer.secho(f"error: {error}", fg=typer.colors.RED, err=True)
