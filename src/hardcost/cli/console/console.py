"""What goes to a person: results to stdout, progress, notes and errors to stderr."""

from __future__ import annotations

import io
import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TypeGuard

import click
from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Column, Table

from hardcost.cli.console.github import make_harmless
from hardcost.cli.console.progress_events import (
    AnyEvent,
    ErrorEvent,
    InterruptedEvent,
    NoteEvent,
)
from hardcost.errors import HardcostError, MachineError
from hardcost.units import visible

_PLAIN_WIDTH = 120  # columns where stdout is no terminal, so that a saved table is whole
_LIST_WIDTH = 100  # columns of a list where stdout is no terminal
_LEAST_WIDTH = 40  # columns, however narrow the terminal is
_UNBOUNDED = 1_000_000  # columns: a table's rows are never cut or folded where no terminal is
_CONSOLE_LINES = 15  # of the end of a guest's console


def show(*renderables: RenderableType, err: bool = False) -> None:
    """Print results to stdout, or to stderr where stdout holds something else."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        console = Console(stderr=err)
        for renderable in renderables:
            console.print(renderable)
        return
    for nth, renderable in enumerate(renderables):
        if nth and isinstance(renderable, Table):
            print(file=stream)
        for line in _lines_of(renderable):
            print(line.rstrip(), file=stream)
    stream.flush()  # before any note that follows on stderr


def show_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of texts to stdout as a table; a name, in the first column, is never folded."""
    table = Table()
    for nth, name in enumerate(columns):
        table.add_column(name, overflow="fold", no_wrap=name == "name" and nth == 0)
    for row in rows:
        table.add_row(*map(visible, row))
    show(table)


def print_json(value: object) -> None:
    """Print a value, or several, to stdout as JSON."""
    print(as_json(value))


def as_json(value: object) -> str:
    """Return a value, or several, as JSON: models and dataclasses by their fields.

    A field of a model that was not set, and so has its default, is left out.
    """
    if isinstance(value, BaseModel):
        return json.dumps(value.model_dump(mode="json", exclude_unset=True), indent=2)
    return json.dumps(to_jsonable_python(value), indent=2)


def print_bytes(data: bytes) -> None:
    """Print a result that is not text, or is in the form of another program, to stdout."""
    sys.stdout.flush()
    stream = sys.stdout.buffer
    while data:  # a stream without a buffer may take only a part
        data = data[stream.write(data) or 0 :]
    stream.flush()


def as_text(renderable: RenderableType) -> str:
    """Return what `show` prints where stdout is no terminal."""
    return "\n".join(line.rstrip() for line in _lines_of(renderable))


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equally many texts to stdout, a line each, in columns two blanks apart."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        fields = zip(row, widths, strict=True)
        print("  ".join(text + " " * (width - cell_len(text)) for text, width in fields).rstrip())
    sys.stdout.flush()  # before any note that follows on stderr


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equally many texts to stdout, the first as their head, in 100 columns.

    A text that is too long continues below itself. A terminal has its own width.
    """
    table = Table(*(Column(name, overflow="fold") for name in rows[0]))
    for row in rows[1:]:
        table.add_row(*map(escape, row))
    if sys.stdout.isatty():
        show(table)
        return
    for line in _lines(_plain(table), _LIST_WIDTH):
        print(line.rstrip())
    sys.stdout.flush()  # before any note that follows on stderr


def print_wrapped(text: str, indent: int) -> None:
    """Print a text to stdout, indented, in as many lines as it needs; no line if it is empty."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _LIST_WIDTH
    for line in textwrap.wrap(
        visible(text),
        max(width, _LEAST_WIDTH),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_on_hyphens=False,
    ):
        print(line)


def _lines_of(renderable: RenderableType) -> list[str]:
    """Return the text for a pipe or file: each row of a table on a line, without boxes."""
    width = _PLAIN_WIDTH
    if isinstance(renderable, Table):
        for column in _plain(renderable).columns:
            column.no_wrap, column.max_width = True, None
        width = _UNBOUNDED
    return _lines(renderable, width)


def _plain(table: Table) -> Table:
    """Return a table whose columns are set apart by blanks alone."""
    table.box = None
    table.pad_edge = False
    table.padding = (0, 2, 0, 0)
    return table


def _lines(renderable: RenderableType, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO(), legacy_windows=False)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get().splitlines()


def choose_form(progress: str) -> None:
    """Choose how notes and errors are printed from now on: as `--progress` says."""
    _Form.chosen = progress


def note(text: str) -> None:
    """Print a line that is no result to stderr; nothing in it is taken for markup or control."""
    if _Form.chosen == "json":
        emit(NoteEvent(text=text))
    elif _Form.chosen != "none":
        _say_line(text)


def emit(event: AnyEvent) -> None:
    """Print an event to stderr, as a JSON object on one line."""
    click.echo(json.dumps(event.model_dump(mode="json")), err=True)


def emit_interrupted(text: str) -> None:
    """Print the last line of a command that was interrupted."""
    if _Form.chosen == "json":
        emit(InterruptedEvent(text=text))
    else:
        _say_line(text)


def complain(error: HardcostError) -> None:
    """Print every problem of an error to stderr, with its place and its remedy."""
    console = error.console.splitlines()[-_CONSOLE_LINES:] if _has_console(error) else []
    if _Form.chosen == "json":
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
    for problem in error.problems:
        where = f"{problem.place}: " if problem.place else ""
        lines = f"{where}{problem}".splitlines() or [""]
        _say_line(f"error: {lines[0]}")
        for line in lines[1:]:
            _say_line(f"       {line}")
        if problem.hint:
            _say_line(f"  hint: {problem.hint}")
    if console:
        _say_line("the end of the guest's console:")
        for line in console:
            _say_line(f"  | {line}")


class _Form:
    """How notes and errors are printed: of the process, as its stderr is."""

    chosen = "auto"


def _has_console(error: HardcostError) -> TypeGuard[MachineError]:
    return isinstance(error, MachineError) and bool(error.console.strip())


def _say_line(text: str) -> None:
    click.echo(make_harmless(visible(text)), err=True)
