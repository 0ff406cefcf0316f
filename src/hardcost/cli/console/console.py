"""Output to a person: results to stdout, progress, notes and errors to stderr."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

import click
from rich.cells import cell_len

from auditrules.cli.terminal import print_line
from auditrules.show.errors import problem_lines
from hardcost.errors import HardcostError, MachineError
from hardcost.units import visible

if TYPE_CHECKING:
    from hardcost.cli.console.progress_events import AnyEvent

LIST_WIDTH = 100
"""Columns of a list where stdout is no terminal."""

_LEAST_WIDTH = 40  # columns, however narrow the terminal is
_CONSOLE_LINES = 15  # of the end of a guest's console


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equally many texts to stdout, a line each, in columns two blanks apart."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        fields = zip(row, widths, strict=True)
        print("  ".join(text + " " * (width - cell_len(text)) for text, width in fields).rstrip())
    sys.stdout.flush()  # before any note that follows on stderr


def print_wrapped(text: str, indent: int) -> None:
    """Print a text to stdout, indented, in as many lines as it needs; no line if it is empty."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else LIST_WIDTH
    for line in textwrap.wrap(
        visible(text),
        max(width, _LEAST_WIDTH),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_on_hyphens=False,
    ):
        print(line)


def choose_form(progress: str) -> None:
    """Choose how notes and errors are printed from now on: as `--progress` says."""
    _Form.chosen = progress


def note(text: str) -> None:
    """Print a line that is no result to stderr; nothing in it is taken for markup or control."""
    if _Form.chosen == "json":
        from hardcost.cli.console.progress_events import NoteEvent  # noqa: PLC0415  (they take long)

        emit(NoteEvent(text=text))
    elif _Form.chosen != "none":
        print_line(text)


def emit(event: AnyEvent) -> None:
    """Print an event to stderr, as a JSON object on one line."""
    click.echo(json.dumps(event.model_dump(mode="json")), err=True)


def emit_interrupted(text: str) -> None:
    """Print the last line of a command that was interrupted."""
    if _Form.chosen == "json":
        from hardcost.cli.console.progress_events import InterruptedEvent  # noqa: PLC0415  (as in `note`)

        emit(InterruptedEvent(text=text))
    else:
        print_line(text)


def complain(error: HardcostError) -> None:
    """Print every problem of an error to stderr, with its place and its remedy."""
    console = error.console.splitlines()[-_CONSOLE_LINES:] if _has_console(error) else []
    if _Form.chosen == "json":
        from hardcost.cli.console.progress_events import ErrorEvent  # noqa: PLC0415  (as in `note`)

        for problem in error.problems:
            emit(
                ErrorEvent(
                    message=str(problem),
                    place=None if problem.place is None else str(problem.place),
                    hint=problem.hint,
                    console=tuple(console),
                )
            )
        return
    for line in problem_lines(error):
        print_line(line)
    if console:
        print_line("the end of the guest's console:")
        for line in console:
            print_line(f"  | {line}")


class _Form:
    """How notes and errors are printed: of the process, as its stderr is."""

    chosen = "auto"


def _has_console(error: HardcostError) -> TypeGuard[MachineError]:
    return isinstance(error, MachineError) and bool(error.console.strip())
