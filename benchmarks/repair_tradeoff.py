"""What each repair strategy removes of annotated hallucination, and what it costs, on RAGTruth's test split.

    python benchmarks/repair_tradeoff.py --data FOLDER [--limit 100] [--preset fast] [--judged 0] [--json OUT]
        [--figure OUT] [--figure-limit 40]

Per task and strategy:

- ``surviving_spans``: share of annotated spans of which more than half stands outside all edits.
- ``still_hallucinated``: share of the annotated answers in which such a span survives.
- ``judge_before`` / ``judge_after``: share of answers that an independent detector (context sensitivity of the local
  language model, which took no part in the repair) calls hallucinated, over ``--judged`` answers per task.
- ``claims_kept``: share of the original's claims of which more than half stands outside all edits.
- ``text_kept``: characters outside all edits per character of the answers; ``length``: repaired length per original.
- ``clean_edited``: share of answers without annotation that were changed.
- ``unannotated_lost``: characters of unannotated text inside edits, in all and per answer.

A limit takes a fixed random sample of each task. The figure draws kept text against surviving
annotated characters over the score from which spans are repaired. The paper (Mulakkayala et al.) reports 64.3 % of text
kept by removal, 80.1 % by rewriting, and 83.5 % of clean answers edited, on its own data and verifier.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rag_guard import HallucinationGuard, Report
from rag_guard.evaluation.datasets import load_dataset
from rag_guard.evaluation.rows import LabelledExample
from rag_guard.repair import Repair, Strategy
from rag_guard.repair.judge import detector_judge

STRATEGIES: tuple[Strategy, ...] = ("remove", "extract")
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
PAPER = {"text_kept_remove": 0.643, "text_kept_rewrite": 0.801, "clean_edited": 0.835}
_SURVIVES = 0.5


def sample(rows: Sequence[LabelledExample], limit: int) -> list[LabelledExample]:
    """At most ``limit`` rows, the same for every run, in their order; 0 takes all."""
    if not limit or limit >= len(rows):
        return list(rows)
    # Not every n-th row: the models that answered take turns in the file.
    return [rows[i] for i in sorted(random.Random(0).sample(range(len(rows)), limit))]


def kept_characters(report: Report) -> list[bool]:
    """Per character of the answer, whether it stands outside all edits."""
    kept = [True] * len(report.answer)
    for edit in report.edits:
        kept[edit.start : edit.end] = [False] * (edit.end - edit.start)
    return kept


def survives(kept: list[bool], start: int, end: int) -> bool:
    """Whether more than half of a range stands outside all edits."""
    return sum(kept[start:end]) > _SURVIVES * (end - start)


def measure(rows: Sequence[LabelledExample], reports: Sequence[Report]) -> dict[str, float]:
    """The module's measures over answers and their reports."""
    spans = surviving = annotated = still = claims = claims_kept = characters = kept_total = length = 0
    clean = clean_edited = lost = marked = marked_kept = 0
    for row, report in zip(rows, reports, strict=True):
        kept = kept_characters(report)
        labels = row.labels or ()
        alive = [survives(kept, label.start, label.end) for label in labels]
        spans += len(labels)
        surviving += sum(alive)
        annotated += bool(labels)
        still += any(alive)
        claims += len(report.claims)
        claims_kept += sum(survives(kept, claim.start, claim.end) for claim in report.claims)
        characters += len(kept)
        kept_total += sum(kept)
        length += len(report.output)
        inside = [False] * len(kept)
        for label in labels:
            inside[label.start : label.end] = [True] * (label.end - label.start)
        marked += sum(inside)
        marked_kept += sum(a and b for a, b in zip(kept, inside, strict=True))
        lost += sum(not a and not b for a, b in zip(kept, inside, strict=True))
        if not labels:
            clean += 1
            clean_edited += bool(report.edits)
    return {
        "answers": len(rows),
        "surviving_spans": _share(surviving, spans),
        "surviving_characters": _share(marked_kept, marked),
        "still_hallucinated": _share(still, annotated),
        "claims_kept": _share(claims_kept, claims),
        "text_kept": _share(kept_total, characters),
        "length": _share(length, characters),
        "clean_edited": _share(clean_edited, clean),
        "unannotated_lost": lost,
        "unannotated_lost_per_answer": lost / max(len(rows), 1),
        "recheck_clean": _share(
            sum(not r.recheck.spans for r in reports if r.recheck), sum(bool(r.recheck) for r in reports)
        ),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def repaired(rows: Sequence[LabelledExample], preset: str, repair: Repair) -> list[Report]:
    """The reports of a guard that repairs."""
    return HallucinationGuard(preset, policy="repair", repair=repair).check_batch([row.example for row in rows])


def judged(rows: Sequence[LabelledExample], reports: Sequence[Report]) -> dict[str, float]:
    """How often the independent detector finds the answers and their repairs hallucinated."""
    from rag_guard.detectors.context_sensitivity import ContextSensitivity

    detector = ContextSensitivity()
    judge = detector_judge(detector, detector.threshold)
    before = judge([row.example for row in rows])
    after = judge(
        [row.example.model_copy(update={"answer": report.output}) for row, report in zip(rows, reports, strict=True)]
    )
    return {
        "judged": len(rows),
        "judge_before": _share(sum(v is True for v in before), sum(v is not None for v in before)),
        "judge_after": _share(sum(v is True for v in after), sum(v is not None for v in after)),
    }


def curve(rows: Sequence[LabelledExample], preset: str) -> dict[str, list[dict[str, float]]]:
    """Per strategy, the measures at every threshold."""
    return {
        strategy: [
            {"threshold": value, **measure(rows, repaired(rows, preset, Repair(strategy, threshold=value)))}
            for value in THRESHOLDS
        ]
        for strategy in STRATEGIES
    }


def draw(curves: dict[str, list[dict[str, float]]], path: Path) -> None:
    """The grounding-preservation curve."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for strategy, points in curves.items():
        removed = [100 * (1 - point["surviving_characters"]) for point in points]
        kept = [100 * point["text_kept"] for point in points]
        axes.plot(removed, kept, marker="o", label=strategy)
        for point, x, y in zip(points, removed, kept, strict=True):
            if strategy == STRATEGIES[0] and point["threshold"] <= 0.9:
                axes.annotate(
                    f"{point['threshold']:g}", (x, y), textcoords="offset points", xytext=(4, -12), fontsize=8
                )
    axes.axhline(100 * PAPER["text_kept_remove"], linestyle=":", color="gray")
    axes.text(0, 100 * PAPER["text_kept_remove"] + 0.4, "paper: removal keeps 64.3 % of text", fontsize=8, color="gray")
    axes.set_xlabel("annotated hallucinated characters removed (%)")
    axes.set_ylabel("characters kept (%)")
    axes.set_xlim(left=0)
    axes.legend(title="strategy (labels: span score from which\nspans are repaired)", fontsize=8, title_fontsize=8)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with RAGTruth's files")
    parser.add_argument("--limit", type=int, default=100, help="answers per task; 0 for all")
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--judged", type=int, default=0, help="answers per task for the independent detector")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--figure-limit", type=int, default=40, help="answers per task for the figure")
    arguments = parser.parse_args()

    by_task: dict[str, list[LabelledExample]] = {}
    for row in load_dataset("ragtruth", arguments.data, "test"):
        by_task.setdefault(row.task or "all", []).append(row)
    chosen = {task: sample(rows, arguments.limit) for task, rows in sorted(by_task.items())}
    results: dict[str, Any] = {"preset": arguments.preset, "limit": arguments.limit, "paper": PAPER, "strategies": {}}
    for strategy in STRATEGIES:
        table: dict[str, dict[str, float]] = {}
        everything: tuple[list[LabelledExample], list[Report]] = ([], [])
        for task, rows in chosen.items():
            started = time.perf_counter()
            reports = repaired(rows, arguments.preset, Repair(strategy))
            spent = (time.perf_counter() - started) * 1000 / len(rows)
            table[task] = {**measure(rows, reports), "ms_per_answer": spent}
            if arguments.judged:
                few = range(0, len(rows), max(1, -(-len(rows) // arguments.judged)))
                table[task] |= judged([rows[i] for i in few], [reports[i] for i in few])
            everything[0].extend(rows)
            everything[1].extend(reports)
        table["overall"] = measure(*everything)
        results["strategies"][strategy] = table
    if arguments.figure:
        pooled = [row for rows in by_task.values() for row in sample(rows, arguments.figure_limit)]
        results["curve"] = {"answers": len(pooled), "points": curve(pooled, arguments.preset)}
        draw(results["curve"]["points"], arguments.figure)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    show(results)


def show(results: dict[str, Any]) -> None:
    """Print the tables."""
    console = Console()
    for strategy, tasks in results["strategies"].items():
        table = Table(title=f"{strategy} ({results['preset']})")
        names = list(dict.fromkeys(name for values in tasks.values() for name in values))
        table.add_column("measure")
        for task in tasks:
            table.add_column(task, justify="right")
        for name in names:
            shown = (
                f"{v[name]:.3f}" if isinstance(v.get(name), float) else str(v.get(name, "")) for v in tasks.values()
            )
            table.add_row(name, *shown)
        console.print(table)
    console.print("paper: text kept 64.3 % (remove), 80.1 % (rewrite); clean answers edited 83.5 %")


if __name__ == "__main__":
    main()
