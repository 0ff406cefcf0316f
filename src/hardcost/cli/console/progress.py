"""The events of a run on stderr: a terminal's progress, plain lines, or JSON lines."""

from __future__ import annotations

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Literal

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
from rich.text import Text

from auditrules.library.caller import Tell
from hardcost.cli.console import console
from hardcost.cli.console.progress_events import (
    AdvanceEvent,
    AnyEvent,
    ExpectedEvent,
    FailedEvent,
    NoteEvent,
    SetupEvent,
    StageEndEvent,
    StageEvent,
)
from hardcost.measure import expected_time
from hardcost.measure.expected_time import StageEntry
from hardcost.measure.monitor import (
    Advanced,
    Expected,
    Failed,
    Monitor,
    Note,
    RunEvent,
    StageBegan,
    StageEnded,
    Underway,
)
from hardcost.supply.progress import BuildProgress, ImageProgress
from hardcost.units import visible

ProgressForm = Literal["auto", "plain", "json", "none"]
"""The values of `--progress`."""

_WORTH_SAYING = 10.0  # seconds that a run is expected to take, from which on that is said
_PLAIN_SECONDS = 10  # between two lines of progress where stderr is no terminal
_SILENT_SECONDS = 2.0  # that work may take without a word
_BETWEEN_SECONDS = 0.2  # between two lines of progress on a terminal
_IMAGE_SECONDS = (60, 300)  # that making the Debian image takes, by processor and network


def monitor_of(form: ProgressForm) -> Monitor:
    """Return the monitor that shows progress in a form; `auto` draws if stderr is a terminal."""
    if form == "json":
        return JsonLines()
    if form == "none":
        return Quiet()
    if form == "auto" and sys.stderr.isatty():
        return Bars()
    return PlainProgress()


class _Shown(Monitor):
    """Shows the current step of our own work, if it takes more than a moment."""

    def work(self) -> AbstractContextManager[Tell]:
        """Show it on one line of stderr."""
        return work_progress()


class PlainProgress(_Shown):
    """Notes as lines; of a stage a line now and then."""

    def __init__(self) -> None:
        self._making = ProgressLine()
        self._began = self._said = 0.0
        self._expected: float | None = None

    def hear(self, event: RunEvent) -> None:
        """Show an event, if it is worth a line."""
        match event:
            case Note():
                console.note(event.text)
            case Failed():
                console.note(f"failed: {event.reason}".splitlines()[0])
            case Expected():
                self._expect(event)
            case StageBegan():
                self._began = self._said = time.monotonic()
                self._expected = event.expected_seconds
            case Advanced():
                self._advance(event)
            case StageEnded():
                pass
            case Underway():
                self._underway(event)

    def _expect(self, event: Expected) -> None:
        """Say how long a run will take, unless that is but a moment."""
        span = expected_time.total(event.stages)
        if span.high is None or span.high >= _WORTH_SAYING:
            parts = [
                f"{one.name} ({expected_time.pieces_in_words(one)}):"
                f" {expected_time.span_in_words(one.span)}"
                for one in event.stages
            ]
            console.note(f"expected time: {expected_time.span_in_words(span)}; {', '.join(parts)}")

    def _advance(self, event: Advanced) -> None:
        now = time.monotonic()
        if now - self._said >= _PLAIN_SECONDS and event.done < event.total:
            self._said = now
            left = expected_time.seconds_left(
                self._expected, now - self._began, event.done, event.total
            )
            console.note(
                f"{event.done} of {event.total} {event.name}, {expected_time.left_in_words(left)}"
            )

    def _underway(self, event: Underway) -> None:
        if event.progress is None:
            self._making.end()
        else:
            self._making.show(making_text(event.progress), event.progress.seconds)


class Bars(PlainProgress):
    """Notes as lines; of a stage a bar, with the time left."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Progress | None = None

    def hear(self, event: RunEvent) -> None:
        """Show an event."""
        match event:
            case StageBegan():
                self._begin(event)
            case Advanced() if self._bar is not None:
                self._bar.advance(self._bar.task_ids[0])
            case StageEnded() if self._bar is not None:
                self._bar.stop()
                self._bar = None
            case _:
                super().hear(event)

    def _begin(self, event: StageBegan) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _Left(event.expected_seconds),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.add_task(event.name, total=event.total)
        self._bar.start()


class JsonLines(_Shown):
    """Each event as a JSON object on a line of its own, with the word `event`."""

    def hear(self, event: RunEvent) -> None:
        """Print it."""
        console.emit(_entry(event))


class Quiet(_Shown):
    """Nothing: errors alone are printed, by others."""

    def hear(self, event: RunEvent) -> None:
        """Let it pass."""


class ProgressLine:
    """A line that is written over on a terminal, and now and then a line elsewhere."""

    def __init__(self) -> None:
        self._last: float | None = None

    def show(self, text: str, seconds: float) -> None:
        """Show `text`, `seconds` after the beginning."""
        on_terminal, last = sys.stderr.isatty(), self._last
        if not on_terminal and last is not None and 0 <= seconds - last < _PLAIN_SECONDS:
            return
        self._last = seconds
        if on_terminal:
            width = shutil.get_terminal_size().columns - 1
            click.echo(f"\r\x1b[K{visible(text)[:width]}", err=True, nl=False)
        else:
            console.note(text)

    def end(self) -> None:
        """Clear the line where it can be."""
        if sys.stderr.isatty() and self._last is not None:
            click.echo("\r\x1b[K", err=True, nl=False)
        self._last = None


class _Work:
    """The current step, its begin, and the part of it that is done."""

    def __init__(self) -> None:
        self._doing, self._done = "", 0.0
        self._began = self._since = time.monotonic()
        self._line, self._over = ProgressLine(), threading.Event()

    def tell(self, doing: str, done: float | None = None, /) -> None:
        if not done and doing != self._doing:
            self._since = time.monotonic()
        self._doing, self._done = doing, done or 0.0

    def show_until_over(self) -> None:
        """Show it now and then, also while there is nothing new."""
        while not self._over.wait(_BETWEEN_SECONDS):
            now = time.monotonic()
            if self._doing and now - self._began >= _SILENT_SECONDS:
                text = f"{self._doing}, {now - self._began:.0f} s"
                if self._done:
                    left = (now - self._since) * (1 - self._done) / self._done
                    text += f", about {left:.0f} s left"
                with contextlib.suppress(OSError):  # stderr has no reader any more
                    self._line.show(text, now - self._began)

    def end(self) -> None:
        self._over.set()

    def clear(self) -> None:
        with contextlib.suppress(OSError):
            self._line.end()


@contextlib.contextmanager
def work_progress() -> Iterator[Tell]:
    """Show the current step on one line of stderr, if it takes more than a moment.

    Nothing else may be printed meanwhile.
    """
    work = _Work()
    thread = threading.Thread(target=work.show_until_over, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system allows no more threads
        yield work.tell
        return
    try:
        yield work.tell
    finally:
        work.end()
        thread.join()
        work.clear()


def making_text(progress: BuildProgress | ImageProgress) -> str:
    """Return how far a machine's set-up is; what usually is true is said while it may hold."""
    if isinstance(progress, ImageProgress):
        low, high = _IMAGE_SECONDS
        usually = f"usually {low} to {high} s"
        usual = usually if progress.seconds <= high else "longer than usual"
        made = f"making the guest {progress.title}, once: {progress.what}"
        return f"{made}, {progress.seconds:.0f} s, {usual}"
    if progress.waiting:
        waiting = "waiting for another build of this source"
        return f"{progress.title}: {waiting}, {progress.seconds:.0f} s"
    left = f", at most about {progress.left:.0f} s left" if progress.left is not None else ""
    return f"building {progress.title}: {progress.done} steps, {progress.seconds:.0f} s{left}"


class _Left(ProgressColumn):
    """The time left of a task that was expected to take so many seconds."""

    def __init__(self, expected: float | None) -> None:
        super().__init__()
        self._expected = expected

    def render(self, task: Task) -> Text:
        """Return it as text."""
        done, of = int(task.completed), int(task.total or 0)
        return Text(
            expected_time.left_in_words(
                expected_time.seconds_left(self._expected, task.elapsed or 0, done, of)
            )
        )


def _entry(event: RunEvent) -> AnyEvent:
    """Return an event as JSON shows it."""
    match event:
        case Note():
            return NoteEvent(text=event.text)
        case Failed():
            return FailedEvent(
                reason=event.reason, configuration=event.configuration, workload=event.workload
            )
        case Expected():
            return ExpectedEvent(stages=tuple(map(StageEntry.of, event.stages)))
        case Underway():
            progress = event.progress
            text = None if progress is None else making_text(progress)
            return SetupEvent(text=text, seconds=None if progress is None else progress.seconds)
        case _:
            return _of_stage(event)


def _of_stage(event: StageBegan | Advanced | StageEnded) -> AnyEvent:
    match event:
        case StageBegan():
            return StageEvent(
                name=event.name, total=event.total, expected_seconds=event.expected_seconds
            )
        case Advanced():
            return AdvanceEvent(name=event.name, done=event.done, total=event.total)
        case StageEnded():
            return StageEndEvent(name=event.name)
