"""The keys of profiles and traces in results as JSON."""

from __future__ import annotations

from pydantic import Field

from hardcost.report.jsonkeys import Entry, Number, says_nothing


class MovedEntry(Entry):
    """A function of a profile's metric: its own instructions, and those with what it calls."""

    function: str
    own_before: Number
    own_after: Number
    total_before: Number
    total_after: Number


class StackEntry(Entry):
    """A stack of a profile's metric: the process, then functions, each called by the one before."""

    functions: tuple[str, ...]
    before: Number
    after: Number


class ProcessEntry(Entry):
    """What processes of a name, or a subsystem, executed for one operation."""

    name: str
    before: Number
    after: Number


class LineEntry(Entry):
    """A line of a function's source, with instructions as a function has them."""

    file: str
    number: int
    text: str
    own_before: Number
    own_after: Number
    total_before: Number
    total_after: Number


class SourceEntry(Entry):
    """The lines of a function, counted one by one."""

    function: str
    lines: tuple[LineEntry, ...]


class ProfileEntry(Entry):
    """A metric of `profiles`: differences of `functions` or any other parts make `cost`."""

    workload: str
    metric: str
    unit: str
    before: str
    after: str
    value: Number
    cost: Number
    functions: tuple[MovedEntry, ...]
    processes: tuple[ProcessEntry, ...]
    stacks: tuple[StackEntry, ...]
    subsystems: tuple[ProcessEntry, ...]
    source: SourceEntry | None = Field(None, exclude_if=says_nothing)


class DeedEntry(Entry):
    """What a process had done with a record at the moment `when`."""

    when: int
    what: str


class PieceEntry(Entry):
    """A process runs; `process` and `woken_by` are places in the trace's `processes`, from 0.

    `woken_by` is null where nobody woke it, or an interrupt did: then there is a moment, `woken`.
    """

    process: int
    begin: int
    end: int
    doing: str
    woken_by: int | None
    woken: int | None
    stopped: str | None
    deeds: tuple[DeedEntry, ...]


class WakeEntry(Entry):
    """A process makes another run; null: an interrupt does."""

    when: int
    by: int | None
    process: int


class AnswerEntry(Entry):
    """A process answers what another `asked` for at that moment."""

    when: int
    by: int
    process: int
    asked: int


class ModelledEntry(Entry):
    """A trace on so many processors, by a model: `path` is whose the longest chain is."""

    processors: int
    length: int
    drained: int
    work: int
    limit: int
    path: tuple[tuple[str, int], ...]
    busiest: tuple[str, int]


class TraceEntry(Entry):
    """A trace: `pieces` add up to `length`; with what is around it, to `ticks`; (modelled)."""

    workload: str
    configuration: str
    metric: str
    length: int
    ticks: int
    before: int
    after: int
    idle: int
    caller: int | None
    returned: int | None
    arrived: int | None
    processes: tuple[str, ...]
    pieces: tuple[PieceEntry, ...]
    wakes: tuple[WakeEntry, ...]
    answers: tuple[AnswerEntry, ...] = Field((), exclude_if=says_nothing)
    modelled: tuple[ModelledEntry, ...] = Field((), exclude_if=says_nothing)


class OwnEntry(Entry):
    """By how many instructions a function itself executes more for one operation."""

    function: str
    own: Number


class ByControlEntry(Entry):
    """A control and a metric of `by_control`: the differences of `functions` add up to `cost`."""

    control: str
    place: str
    metric: str
    cost: Number
    functions: tuple[OwnEntry, ...]
