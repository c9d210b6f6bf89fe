"""``rag-guard doctor``: what this machine has, what it lacks, how to get that, and if the detectors work."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

SELF_TEST_FAILED = 1

_PACKAGES = {
    "pydantic": "",
    "numpy": "",
    "rapidfuzz": "",
    "regex": "",
    "onnxruntime": "embeddings",
    "tokenizers": "embeddings",
    "spacy": "nlp",
    "torch": "torch",
    "transformers": "torch",
}
"""Package -> the extra of this distribution that brings it."""

_VECTOR_FEATURES = ("AVX2", "AVX512F", "AVX512VNNI", "AVX512_SPR", "FMA3", "NEON", "ASIMDDP", "SVE")

app = typer.Typer(add_completion=False)


@app.command()
def doctor(
    preset: Annotated[str | None, typer.Option(metavar="NAME", help="Whose detectors to test.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show versions, models and devices, and test the detectors on five right and five wrong answers.

    Exit code 1 tells that the self-test failed.
    """
    from rag_guard.commands.self_test import run_self_test

    facts: dict[str, Any] = {
        "versions": _versions(),
        "packages": _packages(),
        "models": _models(),
        "devices": _devices(),
        "self_test": run_self_test(preset),
    }
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        from rich.console import Console

        _show(Console(highlight=False), facts)
    if not facts["self_test"]["passed"]:
        raise typer.Exit(SELF_TEST_FAILED)


def _versions() -> dict[str, str]:
    from rag_guard import __version__

    return {
        "rag_guard": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def _packages() -> list[dict[str, str | None]]:
    return [{"name": name, "version": _installed(name), "extra": extra} for name, extra in _PACKAGES.items()]


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _models() -> list[dict[str, Any]]:
    from rag_guard.models import catalog

    rows = []
    for entry in catalog.list_models():
        found = catalog.find(entry.name)
        rows.append(
            {
                "name": entry.name,
                "path": None if found is None else str(found),
                "get": None if found else f"rag-guard models pull {entry.name}",
                "bytes": entry.size,
            }
        )
    return rows


def _devices() -> dict[str, Any]:
    import numpy as np

    features = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    known = getattr(features, "__cpu_features__", {})
    devices: dict[str, Any] = {
        "cpu": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "vector_features": [name for name in _VECTOR_FEATURES if known.get(name)],
        "cuda": [],
    }
    if _installed("onnxruntime"):
        import onnxruntime

        devices["onnxruntime_providers"] = onnxruntime.get_available_providers()
    if _installed("torch"):
        import torch

        devices["cuda"] = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return devices


def _show(console: Console, facts: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    def table(title: str) -> Table:
        console.print(Text(f"\n{title}", style="bold"))
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        return grid

    def row(grid: Table, good: bool | None, *cells: str) -> None:
        mark = {True: "[green]✓[/]", False: "[red]✗[/]", None: "[bright_black]–[/]"}[good]
        grid.add_row(f"  {mark}", *(Text(cell) for cell in cells))

    versions = facts["versions"]
    console.print(Text(f"rag_guard {versions['rag_guard']}", style="bold"), end="")
    console.print(Text(f" on Python {versions['python']}, {versions['platform']}"))

    grid = table("Packages")
    for package in facts["packages"]:
        hint = package["version"] or f'not installed; pip install "rag-guard[{package["extra"]}]"'
        row(grid, True if package["version"] else None, package["name"], hint)
    console.print(grid)

    grid = table("Models")
    for model in facts["models"]:
        hint = model["path"] or f"not here; {model['get']} ({model['bytes'] / 1e6:.0f} MB)"
        row(grid, True if model["path"] else None, model["name"], hint)
    console.print(grid)

    devices = facts["devices"]
    grid = table("Devices")
    features = ", ".join(devices["vector_features"]) or "no vector features known"
    row(grid, True, "CPU", f"{devices['cpu']}, {devices['cores']} cores, {features}")
    if "onnxruntime_providers" in devices:
        row(grid, True, "onnxruntime", ", ".join(devices["onnxruntime_providers"]))
    row(grid, True if devices["cuda"] else None, "CUDA", ", ".join(devices["cuda"]) or "none in use by torch")
    console.print(grid)

    test = facts["self_test"]
    grid = table("Self-test: five right and five wrong answers")
    if test["error"]:
        row(grid, False, "detectors", test["error"])
    for detector in test["detectors"]:
        told = detector["error"] or (
            f"{detector['separated']} of {detector['pairs']} wrong answers have more risk than the right; "
            f"at its threshold {detector['correct']} of {2 * detector['pairs']} verdicts are right"
        )
        row(grid, detector["passed"], f"{detector['name']} {detector['version']}", told)
    for case in test["cases"]:
        told = f"right answer: {case['right']}, wrong answer: {case['wrong']}"
        told += f"; {case['error']}" if case["error"] else ""
        row(grid, case["passed"], case["kind"], told)
    console.print(grid)
    console.print(
        Text("\nself-test passed", style="bold green")
        if test["passed"]
        else Text("\nself-test failed", style="bold red")
    )
