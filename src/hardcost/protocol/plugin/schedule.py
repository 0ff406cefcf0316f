"""The emulator's notes on a window: which process ran when, and who woke whom.

It comes one thing a line, behind the window's own line; the plugin writes it in
`crates/tcg-plugin/src/follower/scheduler_events.rs`. Moments are instructions since the window
began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

NoteKind = Literal["runs", "begins", "wakes", "answers", "leaves", "reads"]
"""A process runs from here on; it begins a function, makes another run, answers its question,
leaves the kernel, or reads the clock."""

# Numbers on a line of each kind.
_WORDS = {"runs": 3, "begins": 2, "wakes": 3, "answers": 3, "leaves": 1, "reads": 1}
_MOST_TASKS = 1 << 20  # a guest may start any number of them


@dataclass(frozen=True)
class ScheduleNote:
    """Something that happened at the moment `when`.

    `process` is the one that runs from then on, or is woken or answered; 0: unknown, or of no
    interest. `place` is where it happened, in the tree of stacks; of `runs`, where the process
    before stopped.
    """

    kind: NoteKind
    when: int
    process: int = 0
    place: int = 0


@dataclass(frozen=True)
class Schedule:
    """All that was noted of a window, in order; `processes` are names, numbered from 1.

    `is_cut`: there was more than is kept.
    """

    processes: tuple[str, ...]
    notes: tuple[ScheduleNote, ...]
    is_cut: bool = False


class Reader:
    """Reads the notes on one window after the other."""

    def __init__(self) -> None:
        self._processes: list[str] = []
        self._notes: list[ScheduleNote] = []
        self._is_cut = False

    def task(self, name: str) -> None:
        """Take the name of the next process.

        Raises:
            ValueError: There are too many.
        """
        if len(self._processes) >= _MOST_TASKS:
            raise ValueError("there are too many processes")
        self._processes.append(name)

    def take(self, kind: str, rest: str, total: int, places: int) -> bool:
        """Take a line of a window of so many instructions; False if it is none of these.

        Raises:
            ValueError: It makes no sense.
        """
        if kind == "cut":
            self._is_cut = True
            return True
        if kind not in _WORDS:
            return False
        numbers = [int(word) for word in rest.split(" ")]
        if len(numbers) != _WORDS[kind]:
            raise ValueError(f"what was noted is {kind} {rest[:40]!r}")
        when, *others = numbers
        place = others.pop() if others else 0
        process = others.pop() if others else 0
        latest = self._notes[-1].when if self._notes else 0
        known = 0 <= process <= len(self._processes) and 0 <= place <= places
        if not known or not latest <= when <= total:
            raise ValueError(f"what was noted makes no sense: {kind} {rest[:40]!r}")
        self._notes.append(ScheduleNote(cast(NoteKind, kind), when, process, place))
        return True

    def finish(self) -> Schedule | None:
        """Return the schedule of the window, and begin with the next; None if there is none."""
        found = Schedule(tuple(self._processes), tuple(self._notes), self._is_cut)
        self._processes, self._notes, self._is_cut = [], [], False
        return found if found.notes else None
