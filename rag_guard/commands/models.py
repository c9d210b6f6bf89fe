"""``rag-guard models``: see what the catalog knows, fetch a model, and find it on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

app = typer.Typer(help="List, fetch and find the local models.", no_args_is_help=True, add_completion=False)


@app.command("list")
def list_models(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array instead of a table.")] = False,
) -> None:
    """Show every model of the catalog, its size, its licence, and whether it is on this machine."""
    from rag_guard.models import catalog

    entries = [(entry, catalog.find(entry.name)) for entry in catalog.list_models()]
    if as_json:
        import json

        rows = [
            {
                "name": entry.name,
                "description": entry.description,
                "licence": entry.licence,
                "bytes": entry.size,
                "sources": [str(source) for source in entry.sources],
                "path": None if found is None else str(found),
            }
            for entry, found in entries
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("model", style="bold", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    for heading in ("here", "licence", "what it is"):
        table.add_column(heading, overflow="fold")
    for entry, found in entries:
        here = "no" if found is None else "yes"
        table.add_row(entry.name, f"{entry.size / 1e6:.0f} MB", here, entry.licence, entry.description)
    Console().print(table)


@app.command()
def pull(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Models from `rag-guard models list`.")],
) -> None:
    """Fetch models, check their SHA-256, and keep them in the cache. Those already here are left alone."""
    from rich.console import Console

    from rag_guard.models import catalog

    for name in names:
        catalog.find(name) or catalog.get(name)  # a wrong name stops everything before the first download
    console = Console(stderr=True)
    for name in names:
        folder = catalog.find(name) or _pull_with_bar(name, console)
        typer.echo(f"{name}: {folder}")


@app.command()
def path(name: Annotated[str, typer.Argument(help="A model's name.")]) -> None:
    """Print the folder of a model that is on this machine."""
    from rag_guard.models import catalog

    typer.echo(str(catalog.path(name)))


def _pull_with_bar(name: str, console: Console) -> Path:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    from rag_guard.models import catalog

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(name, total=None)

        def show(label: str, done: int, total: int) -> None:
            bar.update(task, description=f"{name} from {label}", completed=done, total=total)

        return catalog.pull(name, progress=show)
