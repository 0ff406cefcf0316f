"""What goes to a person: results to stdout, progress, notes and errors to stderr."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import time
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from hardcost.cli import timing
from hardcost.errors import MachineError
from hardcost.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from hardcost.errors import HardcostError
    from hardcost.machines.images.debian import Step
    from hardcost.machines.kernels.builder import Progress as BuildProgress

_PLAIN_WIDTH = 120  # columns where stdout is no terminal, so that a saved table is whole
_UNBOUNDED = 1_000_000  # columns: a table's rows are never cut or folded where no terminal is
_IMAGE_SECONDS = (60, 300)  # that making the Debian image takes, by processor and network
_SILENT_SECONDS = 2.0  # that work may take without a word
_BETWEEN_SECONDS = 0.2  # between two lines of progress on a terminal
_PLAIN_SECONDS = 10  # between two lines of progress where stderr is no terminal


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


def _lines_of(renderable: RenderableType) -> list[str]:
    """Return what is printed where no terminal is: a table's rows on a line each, without boxes."""
    width = _PLAIN_WIDTH
    if isinstance(renderable, Table):
        renderable.box = None
        renderable.pad_edge = False
        renderable.padding = (0, 2, 0, 0)
        for column in renderable.columns:
            column.no_wrap, column.max_width = True, None
        width = _UNBOUNDED
    console = Console(width=width, file=io.StringIO(), legacy_windows=False)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get().splitlines()


def note(text: str) -> None:
    """Print a line that is no result to stderr; nothing in it is taken for markup or control."""
    click.echo(visible(text), err=True)


def complain(error: HardcostError) -> None:
    """Print every problem of an error to stderr, with its place and its remedy."""
    for problem in error.problems:
        where = f"{problem.place}: " if problem.place else ""
        lines = f"{where}{problem.message}".splitlines() or [""]
        note(f"error: {lines[0]}")
        for line in lines[1:]:
            note(f"       {line}")
        if problem.hint:
            note(f"  hint: {problem.hint}")
    if isinstance(error, MachineError) and error.console.strip():
        note("the end of the guest's console:")
        for line in error.console.splitlines()[-15:]:
            note(f"  | {line}")


@contextlib.contextmanager
def progress(total: int, what: str, expected: float | None = None) -> Iterator[Callable[[], None]]:
    """Show how many of `total` are done and the time left; gives the function that counts one.

    `expected` are the seconds that all of them should take, by what is known before the first.

    A bar on a terminal, a line now and then elsewhere.
    """
    if not sys.stderr.isatty():
        yield _lines(total, what, expected)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        _Left(expected),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


def build_progress() -> Callable[[BuildProgress | None], None]:
    """Return what shows how far a kernel's build is, with the time left, on one line of stderr.

    None ends the line.
    """
    line = _ProgressLine()

    def tell(build: BuildProgress | None) -> None:
        if build is None:
            line.end()
        else:
            line.tell(_progress_text(build), build.seconds)

    return tell


def image_progress() -> Callable[[Step | None], None]:
    """Return what shows how far the making of an image is, on one line of stderr; None ends it."""
    line = _ProgressLine()

    def tell(step: Step | None) -> None:
        if step is None:
            line.end()
        else:
            line.tell(_image_text(step), step.seconds)

    return tell


@contextlib.contextmanager
def work_progress() -> Iterator[Callable[[str], None]]:
    """Show what is being done on one line of stderr, where it takes more than a moment.

    Gives the function that takes what is being done; it may be called as often as one likes.
    """
    line, started = _ProgressLine(), time.monotonic()
    told = 0.0

    def tell(doing: str) -> None:
        nonlocal told
        seconds = time.monotonic() - started
        if seconds >= _SILENT_SECONDS and seconds - told >= _BETWEEN_SECONDS:
            told = seconds
            line.tell(f"{doing}, {seconds:.0f} s", seconds)

    try:
        yield tell
    finally:
        line.end()


class _ProgressLine:
    """A line that is written over on a terminal, and now and then a line elsewhere."""

    def __init__(self) -> None:
        self._told: float | None = None

    def tell(self, text: str, seconds: float) -> None:
        """Show `text`, `seconds` after the beginning."""
        on_terminal, told = sys.stderr.isatty(), self._told
        if not on_terminal and told is not None and 0 <= seconds - told < _PLAIN_SECONDS:
            return
        self._told = seconds
        if on_terminal:
            width = shutil.get_terminal_size().columns - 1
            click.echo(f"\r\x1b[K{visible(text)[:width]}", err=True, nl=False)
        else:
            click.echo(visible(text), err=True)

    def end(self) -> None:
        """Clear the line where it can be."""
        if sys.stderr.isatty() and self._told is not None:
            click.echo("\r\x1b[K", err=True, nl=False)
        self._told = None


def _image_text(step: Step) -> str:
    """Return how far an image is; what it usually takes is said for as long as that may hold."""
    low, high = _IMAGE_SECONDS
    usual = f", usually {low} to {high} s" if step.seconds <= high else ", longer than usual"
    return f"making the guest {step.title}, once: {step.what}, {step.seconds:.0f} s{usual}"


def _progress_text(build: BuildProgress) -> str:
    if build.waiting:
        return f"{build.title}: waiting for another build of this source, {build.seconds:.0f} s"
    left = f", at most about {build.left:.0f} s left" if build.left is not None else ""
    return f"building {build.title}: {build.done} steps, {build.seconds:.0f} s{left}"


class _Left(ProgressColumn):
    """The time left of a task that was expected to take so many seconds."""

    def __init__(self, expected: float | None) -> None:
        super().__init__()
        self._expected = expected

    def render(self, task: Task) -> Text:
        """Return it as text."""
        done, of = int(task.completed), int(task.total or 0)
        return Text(timing.left_said(timing.left(self._expected, task.elapsed or 0, done, of)))


def _lines(total: int, what: str, expected: float | None) -> Callable[[], None]:
    started = told = time.monotonic()
    done = 0

    def advance() -> None:
        nonlocal done, told
        done += 1
        now = time.monotonic()
        if now - told >= _PLAIN_SECONDS and done < total:
            told = now
            left = timing.left(expected, now - started, done, total)
            note(f"{done} of {total} {what}, {timing.left_said(left)}")

    return advance
