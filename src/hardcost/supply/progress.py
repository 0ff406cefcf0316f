"""Progress of a machine's long work, as values, and the interface of who receives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

_TELLING_STEPS = 50  # done before a build's pace says anything


@dataclass(frozen=True)
class BuildProgress:
    """How far a build is: steps done, of at most about so many, and the seconds since it began.

    `of` is None where nothing is known of how many a kernel takes. `waiting`: it has not begun,
    since another of the same source is under way.
    """

    title: str
    done: int
    of: int | None
    seconds: float
    waiting: bool = False

    @property
    def left(self) -> float | None:
        """Return about how many seconds are left at most; None where it is too early to say."""
        if self.of is None or not _TELLING_STEPS <= self.done <= self.of:
            return None
        return self.seconds / self.done * (self.of - self.done)


@dataclass(frozen=True)
class ImageProgress:
    """The current step for an image, and the seconds since its making began."""

    title: str
    what: str
    seconds: float


class Listener(Protocol):
    """Who hears what a machine says while it gets ready."""

    def note(self, text: str) -> None:
        """Hear a line for the user."""

    def underway(self, progress: BuildProgress | ImageProgress | None) -> None:
        """Hear how far a long piece of work is, about twice a second; None: it has ended."""
