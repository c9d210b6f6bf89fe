"""``rag-guard bench``: a guard on labelled answers, its figures beside baselines and published results."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_guard.errors import InvalidInputError

if TYPE_CHECKING:
    from rich.console import Console

    from rag_guard.evaluation.benchmark import Outcome
    from rag_guard.evaluation.rows import LabelledExample

app = typer.Typer(add_completion=False)

_NAMED = ("ragtruth", "mushroom", "ragbench")
_MIN_WIDTH = 110
_COLUMNS = {
    "example_f1": "F1",
    "example_precision": "prec.",
    "example_recall": "recall",
    "example_auroc": "AUROC",
    "span_f1": "span F1",
    "token_ap": "token AP",
    "ece": "ECE",
    "all_positive_f1": "all positive",
}
_MUSHROOM_COLUMNS = {"iou": "IoU", "soft_correlation": "correlation", "all_characters_iou": "all characters"}


@app.command()
def bench(
    dataset: Annotated[str, typer.Argument(help="ragtruth, mushroom, ragbench, or a JSON-lines file of your own.")],
    data: Annotated[Path | None, typer.Option(help="The folder with the data set's files.")] = None,
    split: Annotated[
        str,
        typer.Option(help="The data set's split, or holdout or fit: a tenth of its train split, or the rest."),
    ] = "test",
    task: Annotated[list[str] | None, typer.Option(help="Only this task (or language); may be repeated.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only this many rows, drawn by source.")] = None,
    preset: Annotated[str | None, typer.Option(help="The guard's preset.")] = None,
    detector: Annotated[
        str | None, typer.Option(help="One detector alone: its name, or module:Class of your own.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="The risk from which a word is flagged.")] = None,
    output: Annotated[Path | None, typer.Option("--json", help="Write all figures to this file.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    batch_size: Annotated[int, typer.Option(min=1, help="Answers per batch.")] = 24,
    latency_rows: Annotated[
        int, typer.Option(min=0, help="Answers per task that are also checked one at a time, for median_ms.")
    ] = 20,
    resamples: Annotated[int, typer.Option(min=0, help="Bootstrap resamples of the intervals.")] = 1000,
    cache: Annotated[
        Path | None,
        typer.Option(help="The folder where finished rows are kept, so that a stopped run goes on."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Score every row again.")] = False,
) -> None:
    """Run a guard over labelled answers and print figures per task, beside baselines and published results.

    The run can be stopped and started again: rows that are done are kept until the code or detector changes.
    Failed checks flag nothing, are counted, run again next time, and give exit code 1.
    """
    if find_spec("sklearn") is None or find_spec("scipy") is None:
        raise InvalidInputError('the bench command needs scikit-learn and scipy; pip install "rag-guard[bench]"')
    from rich.console import Console

    from rag_guard.evaluation.benchmark import evaluate, evaluate_mushroom, held_out_thresholds, select_rows
    from rag_guard.evaluation.datasets import load_dataset
    from rag_guard.evaluation.environment import environment
    from rag_guard.evaluation.scoring import GuardConfig, Scorer, quiet_failures

    rows = select_rows(load_dataset(dataset, data, split), tasks=task or (), limit=limit)
    config = GuardConfig(preset, detector, threshold)
    scorer = Scorer(config)
    with quiet_failures():
        latencies = dict(zip(*_latencies(scorer, rows, latency_rows), strict=True))
        outcomes, milliseconds = _outcomes(
            rows,
            latencies,
            dataset=dataset,
            config=config,
            scorer=scorer,
            processes=processes,
            batch_size=batch_size,
            cache=cache or _default_cache(),
            fresh=fresh,
        )
    figures = (evaluate_mushroom if dataset == "mushroom" else evaluate)(outcomes, resamples=resamples)
    result: dict[str, Any] = {
        **figures,
        "dataset": dataset if dataset in _NAMED else Path(dataset).name,
        "split": split,
        "rows": len(rows),
        **({"detector": detector} if detector else {"preset": scorer.preset}),
        "detectors": scorer.detectors,
        "threshold": scorer.threshold,
        "batch_ms_per_answer": milliseconds,
        "processes": processes,
        "command": shlex.join(["rag-guard", *sys.argv[1:]]),
        **environment(),
    }
    if split != "test" and dataset != "mushroom":
        result["best_thresholds"] = held_out_thresholds(outcomes)
    published = _published(dataset, split, task, limit)
    if published:
        result["published"] = list(published)
    console = Console()
    # A pipe or a narrow terminal would cut the figures off.
    console.width = max(console.width, _MIN_WIDTH)
    if dataset == "mushroom":
        _print_mushroom(console, result, published)
    else:
        _print_table(console, result, published)
    _print_notes(console, result, outcomes)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(_rounded(result), indent=2, ensure_ascii=False, allow_nan=False)
        output.write_text(text + "\n", encoding="utf-8")
    if any(outcome.scored.error is not None for outcome in outcomes):
        raise typer.Exit(1)


def _default_cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("rag-guard") / "bench"


def _latencies(scorer: Any, rows: Sequence[LabelledExample], per_task: int) -> tuple[list[str], list[float]]:
    """Row ids and milliseconds of the first ``per_task`` sources of every task, one answer each."""
    chosen: dict[str | None, dict[str, LabelledExample]] = {}
    for row in rows:
        groups = chosen.setdefault(row.task, {})
        if len(groups) < per_task:
            groups.setdefault(row.group, row)
    sample = [row for groups in chosen.values() for row in groups.values()]
    return [row.id for row in sample], scorer.latencies(sample)


def _outcomes(
    rows: Sequence[LabelledExample],
    latencies: Mapping[str, float],
    *,
    dataset: str,
    config: Any,
    scorer: Any,
    processes: int,
    batch_size: int,
    cache: Path,
    fresh: bool,
) -> tuple[list[Outcome], float]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from rag_guard.evaluation.benchmark import Outcome
    from rag_guard.evaluation.scoring import ScoreCache, score_rows

    kept = ScoreCache(cache, dataset, scorer, fresh=fresh)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("answers", total=len(rows))
        scored, milliseconds = score_rows(
            rows,
            config,
            scorer,
            kept,
            processes=processes,
            batch_size=batch_size,
            advance=lambda count: progress.advance(bar, count),
        )
    outcomes = [Outcome(row, result, latencies.get(row.id)) for row, result in zip(rows, scored, strict=True)]
    return outcomes, milliseconds


def _published(dataset: str, split: str, task: Sequence[str] | None, limit: int | None) -> Sequence[Mapping[str, Any]]:
    """Published results, where this run covers the same rows."""
    from rag_guard.evaluation.benchmark import PUBLISHED_MUSHROOM, PUBLISHED_RAGTRUTH

    if split != "test" or task or limit is not None:
        return ()
    return {"ragtruth": PUBLISHED_RAGTRUTH, "mushroom": PUBLISHED_MUSHROOM}.get(dataset, ())


def _print_table(console: Console, result: Mapping[str, Any], published: Sequence[Mapping[str, Any]]) -> None:
    from rich.table import Table

    table = Table(title=_title(result), title_justify="left")
    table.add_column("task", no_wrap=True, min_width=max(map(len, ["task", *(o["name"] for o in published)])))
    table.add_column("rows", justify="right")
    for column in _COLUMNS.values():
        table.add_column(column, justify="right")
    table.add_column("median ms", justify="right")
    for name, figures in result.items():
        if isinstance(figures, Mapping) and "example_f1" in figures:
            cells = [_percent(figures[key]) for key in _COLUMNS]
            table.add_row(
                name,
                str(figures["rows"]),
                *cells,
                _milliseconds(figures["median_ms"]),
                end_section=name != "overall" and _is_last_task(result, name),
            )
    if published:
        table.add_section()
    for other in published:
        table.add_row(other["name"], "", *(_percent(other.get(key), "") for key in _COLUMNS), "", style="dim")
    console.print(table)


def _is_last_task(result: Mapping[str, Any], name: str) -> bool:
    names = list(result)
    return names.index(name) + 1 == names.index("overall")


def _print_mushroom(console: Console, result: Mapping[str, Any], published: Sequence[Mapping[str, Any]]) -> None:
    from rich.table import Table

    from rag_guard.evaluation.benchmark import REFIND_IOU

    table = Table(title=_title(result), title_justify="left")
    for column in ("language", "rows", *_MUSHROOM_COLUMNS.values(), "REFIND IoU"):
        table.add_column(column, justify="left" if column == "language" else "right")
    for name, figures in result.items():
        if isinstance(figures, Mapping) and "iou" in figures:
            cells = [f"{figures[key]:.4f}" for key in _MUSHROOM_COLUMNS]
            refind = REFIND_IOU.get(name) if published else None
            table.add_row(name, str(figures["rows"]), *cells, f"{refind:.4f}" if refind else "")
    if published:
        table.add_section()
    for other in published:
        table.add_row(f"{other['name']}, mean", "", f"{other['iou']:.4f}", "", "", "", style="dim")
    console.print(table)


def _print_notes(console: Console, result: Mapping[str, Any], outcomes: Sequence[Outcome]) -> None:
    from collections import Counter

    statuses = Counter(outcome.scored.status for outcome in outcomes)
    console.print("statuses: " + ", ".join(f"{status} {count}" for status, count in statuses.most_common()))
    for name, found in result.get("best_thresholds", {}).items():
        console.print(f"best {name} threshold here: {found['value']:.3f} (F1 {_percent(found['f1'])})")
    failed = next((outcome for outcome in outcomes if outcome.scored.error is not None), None)
    if failed is not None:
        first = f"row {failed.row.id}: {failed.scored.error}"
        console.print(f"{statuses['error']} checks failed, first {first}", style="bold red")


def _title(result: Mapping[str, Any]) -> str:
    guard = result.get("detector") or f"preset {result['preset']}"
    return f"{result['dataset']} {result['split']}, {guard}, threshold {result['threshold']:g}"


def _percent(value: float | None, missing: str = "-") -> str:
    return missing if value is None else f"{100 * value:.1f}"


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value
