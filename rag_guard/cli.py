"""The ``rag-guard`` command. Each subcommand lives in a module of :mod:`rag_guard.commands`.

To add one, write a module with a Typer app (``add_completion=False``) and add its line to :data:`COMMANDS`. A
module is imported when its command runs or when the help lists it, so it must import what is heavy inside its
functions.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rag_guard.errors import RagGuardError

COMMANDS = {
    "bench": "rag_guard.commands.bench:app",
    "check": "rag_guard.commands.check:app",
    "doctor": "rag_guard.commands.doctor:app",
    "schema": "rag_guard.commands.schema:app",
    "models": "rag_guard.commands.models:app",
    "train": "rag_guard.commands.train:app",
}
"""Subcommand -> module and Typer app, in the order of the help."""

EXIT_ERROR = 2
"""Exit code when the command could not do what it was asked, as for a wrong option."""


class _LazyCommands(TyperGroup):
    """Finds subcommands in :data:`COMMANDS` and imports only the one that is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command = typer.main.get_command(getattr(import_module(module), attribute))
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=_LazyCommands,
    name="rag-guard",
    help="Find, explain and repair the parts of a RAG answer that its documents do not support.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"rag-guard {version('rag-guard')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Find, explain and repair the parts of a RAG answer that its documents do not support."""


def main() -> None:
    """Run the command line; the library's own errors become one message, not a traceback."""
    try:
        app(prog_name="rag-guard")
    except RagGuardError as error:
        typer.secho(f"error: {error}", fg=typer.colors.RED, err=True)
        sys.exit(EXIT_ERROR)


if __name__ == "__main__":
    main()
