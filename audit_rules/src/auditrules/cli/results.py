"""Results: tables, JSON, bytes and files, to stdout or to stderr where stdout holds another."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from rich.console import Console, RenderableType
from rich.table import Table

from auditrules.library.files import put

_PLAIN_WIDTH = 120  # columns where stdout is no terminal, so that a saved table is whole
_UNBOUNDED = 1_000_000  # columns: a table's rows are never cut or folded where no terminal is


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
        for line in _plain_lines(renderable):
            print(line.rstrip(), file=stream)
    stream.flush()  # before any note that follows on stderr


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
    return "\n".join(line.rstrip() for line in _plain_lines(renderable))


def _plain_lines(renderable: RenderableType) -> list[str]:
    """Return the text for a pipe or file: each row of a table on a line, without boxes."""
    width = _PLAIN_WIDTH
    if isinstance(renderable, Table):
        for column in without_boxes(renderable).columns:
            column.no_wrap, column.max_width = True, None
        width = _UNBOUNDED
    return lines(renderable, width)


def without_boxes(table: Table) -> Table:
    """Return a table whose columns are set apart by blanks alone."""
    table.box = None
    table.pad_edge = False
    table.padding = (0, 2, 0, 0)
    return table


def lines(renderable: RenderableType, width: int) -> list[str]:
    """Return what is printed in so many columns, without colours."""
    console = Console(width=width, file=io.StringIO(), legacy_windows=False)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get().splitlines()


def write(path: Path, data: bytes) -> None:
    """Write a file, or stdout where its name is `-`.

    Raises:
        StoreError: It can't be written.
    """
    if str(path) == "-":
        print_bytes(data)
    else:
        put(path, data)
