"""Where costs arise: instructions by function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hardcost.model.document import IfAny, IfKnown, Internal, Number, Place
from hardcost.model.finding.head import Found, Score
from hardcost.model.role import Role
from hardcost.model.workload import Workload

KERNEL = "kernel"
"""The prefix of the names of frames in the kernel."""


CLOCK = "[clock]"
"""The frame of what a sample is less than its window: what reading the clock takes and, of a
program's run, more or fewer of the kernel's ticks than such a run has on average."""


@dataclass(frozen=True)
class Moved:
    """A function's instructions for one operation under two configurations.

    `own` are those that it executed itself, `total` those of what it called, too. A name in
    brackets is no function: code without a symbol, waiting, the clock.
    """

    function: str
    own_before: Number
    own_after: Number
    total_before: Number
    total_after: Number

    @property
    def own(self) -> float:
        """By how much its own instructions differ."""
        return self.own_after - self.own_before

    @property
    def total(self) -> float:
        """The difference including the functions that it calls."""
        return self.total_after - self.total_before


@dataclass(frozen=True)
class Process:
    """Instructions for one operation, of processes of one name or of a subsystem."""

    name: str
    before: Number
    after: Number


@dataclass(frozen=True)
class Stack:
    """Functions, each called by the one before, and the instructions of the last."""

    functions: tuple[str, ...]
    before: Number
    after: Number


@dataclass(frozen=True)
class SourceLine:
    """A line of a function's source, and its instructions for one operation.

    `own` are its own instructions, `total` those with all that it calls. `text` is the line, which
    lies in `file`; number 0 is code that belongs to no line.
    """

    file: str
    number: int
    text: str
    own_before: Number = 0.0
    own_after: Number = 0.0
    total_before: Number = 0.0
    total_after: Number = 0.0


@dataclass(frozen=True)
class SourceListing:
    """A function's lines, in the order of files and numbers; small gaps are lines without code."""

    function: str
    lines: tuple[SourceLine, ...]


@dataclass(frozen=True)
class Own:
    """By how many instructions a function itself executes more for one operation."""

    function: str
    own: Number


@dataclass(frozen=True)
class OfProcessor:
    """What one of several processors executes for one operation; `number` is from 1.

    It is idle where no process but one that keeps it counting wants to run. The differences of
    `functions` add up to that of what it executes else.
    """

    number: int
    busy_before: Number
    busy_after: Number
    idle_before: Number
    idle_after: Number
    functions: tuple[Own, ...]


@dataclass(frozen=True)
class Hotspots:
    """Where the cost of the configuration `after` over `before` arises, on one metric.

    `value` is what the metric is under `before`. The differences of the functions' own instructions
    add up to `cost`, and so do those of the processes and of the stacks. Functions and processes
    come by the size of that difference. `source` has the lines of a function, where those were
    counted one by one: their own instructions add up to the function's. `places` are functions
    below the kernel's subsystem and file that they are in, and add up to the cost as well.

    On several processors `value` and `cost` are instructions that they execute, those of an idle
    processor left out, and not how long the metric takes; `processors` has each by itself.
    """

    workload: Workload
    metric: str
    unit: str
    before: Role
    after: Role
    value: Number
    cost: Number
    functions: tuple[Moved, ...]
    processes: tuple[Process, ...]
    stacks: tuple[Stack, ...]
    subsystems: tuple[Process, ...] = field(init=False, default=())
    source: IfKnown[SourceListing | None] = None
    places: Internal[tuple[Stack, ...]] = ()
    processors: IfAny[tuple[OfProcessor, ...]] = ()

    def __post_init__(self) -> None:
        """Sum up the kernel's subsystems and the programs, the largest difference first."""
        sums: dict[str, list[float]] = {}
        for one in self.places:
            kernel, *below = one.functions
            both = sums.setdefault(below[0] if kernel == KERNEL else kernel, [0.0, 0.0])
            both[0] += one.before
            both[1] += one.after
        found = (Process(name, *both) for name, both in sums.items())
        ordered = sorted(found, key=lambda one: (-abs(one.after - one.before), one.name))
        object.__setattr__(self, "subsystems", tuple(ordered))


@dataclass(frozen=True)
class OfControl:
    """Where the cost of one control of a profile arises, on one metric.

    It is what the profile costs without the control against the whole profile, so `cost` is the
    control's in the bill; the differences of `functions` add up to it.
    """

    control: str
    place: Place
    metric: str
    cost: Number
    functions: tuple[Own, ...]


@dataclass(frozen=True, kw_only=True)
class Calls(Found):
    """Where the cost of a profile arises: instructions by function, and by the calls to it.

    `by_control` says the same of single controls.
    """

    kind: Literal["calls"] = "calls"
    scores: IfAny[dict[Role, Score]] = field(default_factory=dict)
    hotspots: tuple[Hotspots, ...]
    by_control: IfAny[tuple[OfControl, ...]] = ()
