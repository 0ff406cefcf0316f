"""The events of a run, typed, for whoever shows them: the core itself prints nothing."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from auditrules.library.caller import Tell
from hardcost.measure.expected_time import Stage
from hardcost.supply.progress import BuildProgress, ImageProgress


@dataclass(frozen=True)
class Note:
    """A line for the user."""

    text: str


@dataclass(frozen=True)
class Expected:
    """How long the run's stages are expected to take, known before the first begins."""

    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class StageBegan:
    """`total` pieces of work of one kind begin, which should take so many seconds (None: unknown).

    `name` is the plural of a piece, such as `trials`.
    """

    name: str
    total: int
    expected_seconds: float | None


@dataclass(frozen=True)
class Advanced:
    """One more piece of a stage has ended, well or not: `done` of `total`."""

    name: str
    done: int
    total: int


@dataclass(frozen=True)
class StageEnded:
    """A stage has ended: it is done, or was given up."""

    name: str


@dataclass(frozen=True)
class Failed:
    """A trial, or a boot that trials need, has failed, and the run continues.

    `configuration` and `workload` are a trial's; None where several trials share what failed.
    """

    reason: str
    configuration: str | None = None
    workload: str | None = None


@dataclass(frozen=True)
class Underway:
    """The progress of a long piece of a machine's set-up; None: it has ended."""

    progress: BuildProgress | ImageProgress | None


RunEvent = Note | Expected | StageBegan | Advanced | StageEnded | Failed | Underway
"""Anything that can happen."""


class Monitor(ABC):
    """Hears what happens, in order."""

    @abstractmethod
    def hear(self, event: RunEvent) -> None:
        """Take an event; must not raise."""

    def note(self, text: str) -> None:
        """Hear a line for the user."""
        self.hear(Note(text))

    def underway(self, progress: BuildProgress | ImageProgress | None) -> None:
        """Hear how far a machine's set-up is."""
        self.hear(Underway(progress))

    def work(self) -> AbstractContextManager[Tell]:
        """Give a function that reports what long work is doing, and may be called at any time."""
        return contextlib.nullcontext(lambda _doing, _done=None: None)

    @contextlib.contextmanager
    def stage(
        self, name: str, total: int, expected_seconds: float | None = None
    ) -> Iterator[Callable[[], None]]:
        """Hear a stage from its begin to its end; gives the function that counts one piece."""
        done = 0

        def advance() -> None:
            nonlocal done
            done += 1
            self.hear(Advanced(name, done, total))

        self.hear(StageBegan(name, total, expected_seconds))
        try:
            yield advance
        finally:
            self.hear(StageEnded(name))


class Silent(Monitor):
    """Hears everything and shows nothing."""

    def hear(self, event: RunEvent) -> None:
        """Let it pass."""
