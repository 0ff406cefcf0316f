"""A trace: which process ran when, and who woke it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hardcost.model.document import IfAny, Words
from hardcost.model.finding.head import Found, Score
from hardcost.model.role import Role
from hardcost.model.workload import Workload


@dataclass(frozen=True)
class Deed:
    """Something that a process did with a record; it was done at the moment `when`."""

    when: int
    what: str


@dataclass(frozen=True)
class Piece:
    """A process runs from the moment `begin` to `end`, in instructions since the trace began.

    `process` is its number, from 0. `doing` are system calls, a kernel thread's function or its
    own code. `woken_by` is who woke it, at the moment `woken`; None where it had not slept.
    `stopped`: where in the kernel it stopped, None where it did not sleep then. `deeds`: what it
    did with records.
    """

    process: int
    begin: int
    end: int
    doing: Words
    woken_by: int | None = None
    woken: int | None = None
    stopped: str | None = None
    deeds: tuple[Deed, ...] = ()

    @property
    def does(self) -> str:
        """Its actions, as text."""
        return ", ".join(self.doing)

    @property
    def instructions(self) -> int:
        """How many it executed."""
        return self.end - self.begin


@dataclass(frozen=True)
class Wake:
    """A process, `by`, made another run; None: an interrupt did, whoever ran."""

    when: int
    by: int | None
    process: int


@dataclass(frozen=True)
class AccessAnswer:
    """A process, `by`, allowed or denied the access that another `asked` for at that moment."""

    when: int
    by: int
    process: int
    asked: int


@dataclass(frozen=True)
class ProcessShare:
    """A process's share of a trace, in instructions: it ran, could have run, or slept."""

    process: str
    ran: int
    ready: int
    slept: int


@dataclass(frozen=True, kw_only=True)
class Traced:
    """A trace: `processes` are names, to which the numbers of pieces and wakes refer.

    It is `length` instructions long, the sum of its pieces. It is a part of a window of `ticks`, of
    which `before` come before it and `after` behind it. `returned` is when the call did that is
    traced, `arrived` when the last process was done with a record; None of neither.
    """

    workload: Workload
    configuration: Role
    metric: str
    length: int
    ticks: int
    before: int
    after: int
    idle: int
    caller: int | None = None
    returned: int | None = None
    arrived: int | None = None
    processes: tuple[str, ...]
    pieces: tuple[Piece, ...]
    wakes: tuple[Wake, ...]
    answers: IfAny[tuple[AccessAnswer, ...]] = ()

    def shares(self) -> tuple[ProcessShare, ...]:
        """Return the share of each process, those that ran most first."""
        ran = [0] * len(self.processes)
        ready = [0] * len(self.processes)
        for piece in self.pieces:
            ran[piece.process] += piece.instructions
        for number in range(len(self.processes)):
            ready[number] = self._ready(number)
        rows = [
            ProcessShare(name, ran[at], ready[at], self.length - ran[at] - ready[at])
            for at, name in enumerate(self.processes)
            if ran[at]
        ]
        return tuple(sorted(rows, key=lambda row: (-row.ran, row.process)))

    def _ready(self, number: int) -> int:
        """Return how long a process could have run while others did."""
        mine = [piece for piece in self.pieces if piece.process == number]
        last: Piece | None = None
        ready = 0
        for piece in mine:
            if piece.woken is not None:
                ready += piece.begin - max(piece.woken, last.end if last else 0)
            elif last is not None and last.stopped is None:
                ready += piece.begin - last.end
            last = piece
        if last is not None and last.stopped is None:
            ready += self.length - last.end
        return ready


@dataclass(frozen=True, kw_only=True)
class Traces(Found):
    """Traces: which process ran when.

    Version 1 had a model of several processors.
    """

    version: Literal[2] = 2  # type: ignore[assignment]  # its own
    kind: Literal["trace"] = "trace"
    scores: IfAny[dict[Role, Score]] = field(default_factory=dict)
    traces: tuple[Traced, ...]
