"""What happens in a run, shown on stderr: a terminal's progress, plain lines, or JSON lines."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, Literal, Protocol

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

from hardcost.cli import console
from hardcost.machines.progress import BuildProgress, ImageProgress
from hardcost.report.text import visible
from hardcost.run import timing
from hardcost.run.monitor import (
    Advanced,
    Event,
    Expected,
    Failed,
    Monitor,
    Note,
    StageBegan,
    StageEnded,
    Underway,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Form = Literal["auto", "plain", "json", "none"]
"""What `--progress` takes."""

_WORTH_SAYING = 10.0  # seconds that a run is expected to take, from which on that is said
_PLAIN_SECONDS = 10  # between two lines of progress where stderr is no terminal
_SILENT_SECONDS = 2.0  # that work may take without a word
_BETWEEN_SECONDS = 0.2  # between two lines of progress on a terminal
_IMAGE_SECONDS = (60, 300)  # that making the Debian image takes, by processor and network
_EVENTS: Mapping[type[Event], str] = {
    Note: "note",
    Failed: "failed",
    Expected: "expected",
    StageBegan: "stage",
    Advanced: "advance",
    StageEnded: "stage-end",
    Underway: "setup",
}


def monitor_of(form: Form) -> Monitor:
    """Return what shows a run's progress in a form; `auto` is a terminal's where stderr is one."""
    if form == "json":
        return JsonLines()
    if form == "none":
        return Quiet()
    if form == "auto" and sys.stderr.isatty():
        return Bars()
    return Lines()


class Lines(Monitor):
    """Notes as lines; of a stage a line now and then."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._making = ProgressLine()
        self._began = self._said = 0.0
        self._expected: float | None = None

    def hear(self, event: Event) -> None:
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
        span = timing.total(event.stages)
        if span.high is None or span.high >= _WORTH_SAYING:
            parts = [
                f"{one.name} ({timing.count(one)}): {timing.said(one.span)}" for one in event.stages
            ]
            console.note(f"expected time: {timing.said(span)}; {', '.join(parts)}")

    def _advance(self, event: Advanced) -> None:
        now = time.monotonic()
        if now - self._said >= _PLAIN_SECONDS and event.done < event.total:
            self._said = now
            left = timing.left(self._expected, now - self._began, event.done, event.total)
            console.note(f"{event.done} of {event.total} {event.name}, {timing.left_said(left)}")

    def _underway(self, event: Underway) -> None:
        if event.progress is None:
            self._making.end()
        else:
            self._making.show(making_text(event.progress), event.progress.seconds)


class Bars(Lines):
    """Notes as lines; of a stage a bar, with the time left."""

    def __init__(self) -> None:
        """No bar is shown yet."""
        super().__init__()
        self._bar: Progress | None = None

    def hear(self, event: Event) -> None:
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


class JsonLines(Monitor):
    """Each event as a JSON object on a line of its own, with the word `event`."""

    def hear(self, event: Event) -> None:
        """Print it."""
        console.emit(_data(event))


class Quiet(Monitor):
    """Nothing: errors alone are printed, by others."""

    def hear(self, event: Event) -> None:
        """Let it pass."""


class ProgressLine:
    """A line that is written over on a terminal, and now and then a line elsewhere."""

    def __init__(self) -> None:
        """Nothing is shown yet."""
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


class Tell(Protocol):
    """Takes what is being done, as often as one likes."""

    def __call__(self, doing: str, done: float | None = None, /) -> None:
        """Begin `doing`, or go on with it; `done` is the part that is done, where that is known."""


class _Work:
    """What is being done, since when, and what part of it is done."""

    def __init__(self) -> None:
        self._doing, self._done = "", 0.0
        self._began = self._since = time.monotonic()
        self._line, self._over = ProgressLine(), threading.Event()

    def tell(self, doing: str, done: float | None = None, /) -> None:
        if not done and doing != self._doing:
            self._since = time.monotonic()
        self._doing, self._done = doing, done or 0.0

    def show_until_over(self) -> None:
        """Show it now and then, also while nothing new is told."""
        while not self._over.wait(_BETWEEN_SECONDS):
            now = time.monotonic()
            if self._doing and now - self._began >= _SILENT_SECONDS:
                text = f"{self._doing}, {now - self._began:.0f} s"
                if self._done:
                    left = (now - self._since) * (1 - self._done) / self._done
                    text += f", about {left:.0f} s left"
                with contextlib.suppress(OSError):  # nobody reads it
                    self._line.show(text, now - self._began)

    def end(self) -> None:
        self._over.set()

    def clear(self) -> None:
        with contextlib.suppress(OSError):
            self._line.end()


@contextlib.contextmanager
def work_progress() -> Iterator[Tell]:
    """Show what is being done on one line of stderr, where it takes more than a moment.

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
        return Text(timing.left_said(timing.left(self._expected, task.elapsed or 0, done, of)))


def _data(event: Event) -> Mapping[str, object]:
    """Return an event as JSON shows it."""
    name = {"event": _EVENTS[type(event)]}
    if isinstance(event, Expected):
        return {**name, "stages": timing.data(event.stages)}
    if isinstance(event, Underway):
        progress = event.progress
        text = None if progress is None else making_text(progress)
        return {**name, "text": text, "seconds": None if progress is None else progress.seconds}
    return {**name, **dataclasses.asdict(event)}
