"""Milliseconds per answer of the entity-alignment detector, without a model, with embeddings and with tags.


    python benchmarks/eaev_speed.py [--data FOLDER] [--answers 40] [--profile 15] [--json OUT]

Answers have about 130 words over a context of about 400 words. Without ``--data`` both are generated: records
of a fictional catalogue written as prose, a few of the answers' values changed. With ``--data`` they are rows
of that size in RAGTruth's test split. *Cold* is the first check over documents that were never seen; *warm*
checks another answer over documents that were just analysed, as when several answers share a retrieval.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from rag_guard import Document, Example, HallucinationGuard, Report
from rag_guard.detectors.entity_alignment import EntityAlignment
from rag_guard.evaluation.datasets import load_dataset
from rag_guard.evaluation.environment import environment, peak_rss_mb
from rag_guard.models.embedder import has_embeddings

ANSWER_WORDS = (115, 145)
CONTEXT_WORDS = (330, 470)

_PLACES = (
    "Arden",
    "Belmo",
    "Corva",
    "Dunlow",
    "Eastmere",
    "Farrow",
    "Glenholt",
    "Harbury",
    "Islay Point",
    "Kestrel Bay",
)
_PEOPLE = (
    "Marta Ruiz",
    "Nils Berg",
    "Rina Okafor",
    "Tom Hale",
    "Yuki Sato",
    "Ana Petrov",
    "Omar Diallo",
    "Lena Vogt",
)
_KINDS = (
    "lighthouse",
    "covered market",
    "public bath",
    "tram depot",
    "observatory",
    "ferry terminal",
    "grain mill",
)
_MATERIALS = ("granite", "red brick", "oak and slate", "poured concrete", "sandstone", "riveted steel")
_REASONS = (
    "after the old building had been damaged by a flood",
    "because the growing town needed a larger one",
    "as part of a plan that the council had debated for years",
    "with money that the residents collected themselves",
)


def generated(count: int, seed: int = 0) -> list[list[Example]]:
    """``count`` sources of generated prose with two answers each."""
    generator = random.Random(seed)
    return [_source(generator) for _ in range(count)]


def _source(generator: random.Random) -> list[Example]:
    facts = [
        {
            "place": place,
            "kind": generator.choice(_KINDS),
            "person": generator.choice(_PEOPLE),
            "year": generator.randint(1850, 2015),
            "height": generator.randint(8, 140),
            "cost": generator.randint(2, 900) * 1000,
            "visitors": generator.randint(3, 480) * 100,
            "material": generator.choice(_MATERIALS),
            "reason": generator.choice(_REASONS),
        }
        for place in generator.sample(_PLACES, 8)
    ]
    documents = [
        f"The {f['kind']} of {f['place']} was designed by {f['person']} and opened in {f['year']}, "
        f"{f['reason']}. It is built of {f['material']}, stands {f['height']} m tall and cost "
        f"{f['cost']:,} EUR. "
        f"In the last season {f['visitors']:,} people visited it, most of them between May and September."
        for f in facts
    ]
    return [
        Example(answer=_answer(generator, facts), documents=[Document(text=text) for text in documents])
        for _ in range(2)
    ]


def _answer(generator: random.Random, facts: Sequence[dict[str, object]]) -> str:
    told = []
    for fact in generator.sample(list(facts), 5):
        year = int(str(fact["year"])) + generator.choice((0, 0, 0, 7))
        height = int(str(fact["height"])) + generator.choice((0, 0, 0, 11))
        told.append(
            f"In {fact['place']}, {fact['person']} designed the {fact['kind']}, which opened in {year}. "
            f"It is made of {fact['material']}, is {height} metres tall and drew {fact['visitors']:,} "
            "visitors."
        )
    return " ".join(told)


def of_ragtruth(folder: Path, count: int) -> list[list[Example]]:
    """``count`` sources of the RAGTruth test split with two answers of the right size each."""
    sources: dict[str, list[Example]] = {}
    for row in load_dataset("ragtruth", folder, "test"):
        context = sum(len(document.text.split()) for document in row.documents)
        fits = ANSWER_WORDS[0] <= len(row.answer.split()) <= ANSWER_WORDS[1]
        if fits and CONTEXT_WORDS[0] <= context <= CONTEXT_WORDS[1]:
            sources.setdefault(row.group, []).append(row.example)
    return [examples[:2] for examples in sources.values() if len(examples) > 1][:count]


def measure(guard: HallucinationGuard, sources: Sequence[Sequence[Example]], run: int) -> dict[str, Any]:
    """Figures of one guard: milliseconds per answer, cold and warm, and the mean of every stage."""
    guard.check("The hall seats 900 people.", ["The hall seats 600 people."], "How many seats?")
    cold, warm = [], []
    for source in sources:
        first, second = (_unseen(example, run) for example in source)
        cold.append(_timed(guard, first))
        warm.append(_timed(guard, second))
    return {"cold": _figures(cold), "warm": _figures(warm)}


def _unseen(example: Example, run: int) -> Example:
    """The same example with documents that no earlier run analysed: they differ in trailing line breaks."""
    documents = [Document(text=document.text + "\n" * run) for document in example.documents]
    return example.model_copy(update={"documents": documents})


class _Check(NamedTuple):
    milliseconds: float
    cpu_milliseconds: float
    report: Report


def _timed(guard: HallucinationGuard, example: Example) -> _Check:
    started, cpu = time.perf_counter(), time.process_time()
    (report,) = guard.check_batch([example])
    return _Check((time.perf_counter() - started) * 1000, (time.process_time() - cpu) * 1000, report)


def _figures(checks: Sequence[_Check]) -> dict[str, Any]:
    stages = sorted({stage for check in checks for stage in check.report.timings_ms} - {"total"})
    return {
        "median_ms": median(check.milliseconds for check in checks),
        "p90_ms": quantiles([check.milliseconds for check in checks], n=10)[-1],
        # On a shared machine the processor's time says more than the wall clock.
        "median_cpu_ms": median(check.cpu_milliseconds for check in checks),
        "stages_ms": {stage: median(check.report.timings_ms[stage] for check in checks) for stage in stages},
    }


def print_profile(guard: HallucinationGuard, sources: Sequence[Sequence[Example]], rows: int) -> None:
    """The functions with the most time of their own over all answers, documents unseen."""
    profile = cProfile.Profile()
    for source in sources:
        for example in source:
            profile.runcall(guard.check_batch, [_unseen(example, run=9)])
    pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with RAGTruth; without it, texts are generated")
    parser.add_argument("--answers", type=int, default=40, help="sources to time, two answers each (at least 2)")
    parser.add_argument("--profile", type=int, metavar="ROWS", help="also print the functions that take the most time")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    sources = of_ragtruth(options.data, options.answers) if options.data else generated(options.answers)
    if len(sources) < 2:
        parser.error(f"{len(sources)} sources of the right size are too few to time")
    words = {
        "answer": median(len(first.answer.split()) for first, _ in sources),
        "context": median(_context_words(first) for first, _ in sources),
    }
    guards = {"no model": HallucinationGuard(preset="fast")}
    if has_embeddings():
        guards["embeddings"] = HallucinationGuard(detectors=[EntityAlignment(classifier="rules")])
    guards["embeddings and tags"] = HallucinationGuard(preset="balanced")
    figures = {name: measure(guard, sources, run) for run, (name, guard) in enumerate(guards.items(), 1)}
    console = Console()
    table = Table(title=f"{len(sources)} sources, {words['answer']:g}-word answers, {words['context']:g}-word contexts")
    for column in ("entity alignment", "cache"):
        table.add_column(column)
    for column in ("median ms", "p90 ms", "median CPU ms"):
        table.add_column(column, justify="right")
    table.add_column("stages, median ms")
    for name, caches in figures.items():
        for cache, values in caches.items():
            stages = ", ".join(f"{stage} {ms:.1f}" for stage, ms in values["stages_ms"].items())
            times = [f"{values[key]:.1f}" for key in ("median_ms", "p90_ms", "median_cpu_ms")]
            table.add_row(name, cache, *times, stages)
    console.width = max(console.width, 110)
    console.print(table)
    if not has_embeddings():
        console.print("no embedder is installed, so the detector was timed without one only")
    if options.profile:
        print_profile(list(guards.values())[-1], sources, options.profile)
    if options.json:
        result = {"words": words, "figures": figures, "peak_rss_mb": peak_rss_mb(), **environment()}
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def _context_words(example: Example) -> int:
    return sum(len(document.text.split()) for document in example.documents)


if __name__ == "__main__":
    main()
