"""``rag-guard schema``: the JSON schema of what the library returns and takes."""

from __future__ import annotations

import json
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def schema(
    example: Annotated[
        bool, typer.Option("--example", help="Of an example, the input, and not of the report.")
    ] = False,
) -> None:
    """Print the JSON schema of a report."""
    from rag_guard.schema import Example, Report

    model = Example if example else Report
    document = model.model_json_schema(mode="validation" if example else "serialization")
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **document}
    typer.echo(json.dumps(document, indent=2))
