"""Answers of the probe, a type for each, with one of the machine; how they are found among others.

A guest's answers are hostile until they are one of these: `read_answer` refuses what isn't, and
names the field. What a text in an answer says is up to whoever reads the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from hardcost.errors import TrialError
from hardcost.protocol.types import I32, U32, U64, ClockName, MessagePart

_SHOWN = 80  # characters of a line that can't be read which an error repeats
_Row = tuple[U64, ...]


class ReadyAnswer(MessagePart):
    """The guest stands still now, for a snapshot to be taken."""

    event: Literal["ready"] = "ready"


class HelloAnswer(MessagePart):
    """The first line of each session.

    `gap` are the ticks of the time-stamp counter that the stop for a snapshot took, on several
    processors those that others used up during it; None where there was no stop.
    """

    event: Literal["hello"] = "hello"
    protocol: U32
    probe: str
    kernel: str
    gap: U64 | None


class MadeAnswer(MessagePart):
    """`Make` is done: how many were missing, and the inode number of each path."""

    event: Literal["made"] = "made"
    directories: U64
    files: U64
    inodes: dict[str, U64]


class InstalledAnswer(MessagePart):
    """`Install` is done."""

    event: Literal["installed"] = "installed"
    path: str
    bytes: U64


class WrittenAnswer(MessagePart):
    """`Write` is done: what stood there and stands there now; None where that can't be read."""

    event: Literal["written"] = "written"
    path: str
    before: str | None
    after: str | None


class AuditAnswer(MessagePart):
    """`Audit` is done: auditctl's exit status and words, and the rules that the kernel holds.

    `exit` is None if a signal ended it.
    """

    event: Literal["audit"] = "audit"
    exit: I32 | None
    stdout: str
    stderr: str
    loaded: U64


class ClockAnswer(MessagePart):
    """The first answer to `Calls`: the lengths of empty windows."""

    event: Literal["clock"] = "clock"
    clock: ClockName
    overhead: Annotated[_Row, Field(min_length=1)]


class AuditCounts(MessagePart):
    """Audit records of one process tree in one span of time.

    `records` are SYSCALL records, `by_key` those that bear a key; `lost` those that the kernel
    dropped, whoever caused them.
    """

    records: U64
    lost: U32
    by_key: dict[str, U64]


class NamedAnswer(MessagePart):
    """An answer that has the name of its request."""

    name: str


class CallCounters(MessagePart):
    """A processor's counts of a call in so many `windows`, by event.

    It did so in a process that was not timed, and in all that this started. `enabled` are the
    nanoseconds in which it should have counted, `running` those in which it did.
    """

    windows: Annotated[U32, Field(gt=0)]
    counts: dict[str, U64]
    enabled: U64
    running: U64

    @property
    def whole(self) -> bool:
        """Whether it counted all the while; else others needed the counters, too."""
        return 0 < self.enabled == self.running


class CallAnswer(NamedAnswer):
    """A measured call: the ticks of each window, the clock's overhead included.

    `companions` are the nanoseconds that each copy beside it ran meanwhile, by its processor.
    """

    event: Literal["call"] = "call"
    clock: ClockName
    batch: U32
    samples: _Row
    uid: U32
    loginuid: U32 | None
    audit: AuditCounts | None
    output: str
    companions: dict[str, U64] = Field(default_factory=dict)
    counters: CallCounters | None = None


class CountersAnswer(MessagePart):
    """`Counters` is done: `refused` is the kernel's error number; None where it counts them."""

    event: Literal["counters"] = "counters"
    names: tuple[str, ...]
    refused: I32 | None


class Ended(MessagePart):
    """How a program ended, and its output, up to 64 KiB of each stream.

    `status` is None where a `signal` ended it; `user` and `system` are microseconds of processor
    time.
    """

    status: I32 | None
    signal: I32 | None
    user: U64
    system: U64
    stdout: str
    stdout_bytes: U64
    stderr: str
    stderr_bytes: U64
    audit: AuditCounts | None

    @property
    def how(self) -> str:
        """How it ended, in words."""
        return f"signal {self.signal}" if self.status is None else f"status {self.status}"


class ParallelSpan(MessagePart):
    """What became of a span of several processors' time, in instructions.

    `ticks` is what all executed, between two readings of the clock, and `executed` that without the
    one with the clock, whose count is estimated; `idle` how much of it each measured processor
    executed because it had nothing to do.
    """

    ticks: U64
    executed: U64
    idle: _Row


class CommandAnswer(Ended):
    """One run of a measured program.

    `interruptions` of the kernel's ticks came within it, each `period` nanoseconds after the last;
    both are 0 where they were not counted.
    """

    event: Literal["command"] = "command"
    ticks: U64
    interruptions: U64
    period: U64
    parallel: ParallelSpan | None = None


class RanAnswer(NamedAnswer, Ended):
    """A program that was run to its end; `ticks` is None where it was not measured.

    It ran from `begin` to `end`, in ticks since the watch; None without one.
    """

    event: Literal["ran"] = "ran"
    ticks: U64 | None
    begin: U64 | None
    end: U64 | None
    parallel: ParallelSpan | None = None


class StartedAnswer(NamedAnswer):
    """A service that answers, after `attempts`; `context` is the security label of its process."""

    event: Literal["started"] = "started"
    pid: I32
    ticks: U64
    attempts: U32
    context: str | None
    begin: U64 | None
    end: U64 | None


class StoppedAnswer(NamedAnswer):
    """A service that was stopped; `forced`: it stayed, and had to be killed."""

    event: Literal["stopped"] = "stopped"
    status: I32 | None
    signal: I32 | None
    forced: bool
    logs: dict[str, str]


class MountedAnswer(MessagePart):
    """`Mount` is done: the options that the kernel shows."""

    event: Literal["mounted"] = "mounted"
    path: str
    options: tuple[str, ...]


class ContentAnswer(NamedAnswer):
    """The end of a file; `text` is None if there is no such file."""

    event: Literal["content"] = "content"
    path: str
    text: str | None
    bytes: U64 | None


class CountedAnswer(NamedAnswer):
    """`Count` is done: numbers by what they say, and how often each text was there."""

    event: Literal["counted"] = "counted"
    numbers: dict[str, U64]
    texts: dict[str, U64]


class AwaitedAnswer(NamedAnswer):
    """`Await` is done: it is so."""

    event: Literal["awaited"] = "awaited"


class ParallelAnswer(MessagePart):
    """`Parallel` is done: what was counted in a span in which all processors only counted.

    `clock` is the count of the processor with the clock, `counts` those of the measured ones,
    `ticks` what all executed, in instructions.
    """

    event: Literal["parallel"] = "parallel"
    clock: Annotated[U64, Field(gt=0)]
    counts: Annotated[_Row, Field(min_length=2)]
    ticks: U64


class DroppedAnswer(MessagePart):
    """`DropCaches` is done."""

    event: Literal["dropped"] = "dropped"


class PerturbedAnswer(MessagePart):
    """`Perturb` is done: what comes next is measured under that perturbation."""

    event: Literal["perturbed"] = "perturbed"
    number: U32


class WatchingAnswer(MessagePart):
    """`Watch` is done."""

    event: Literal["watching"] = "watching"


class CpuSeen(MessagePart):
    """Processor time of the processes of each name, in nanoseconds, in all and by row.

    `split` of it is of processes that ended, and known for those of a row together alone.
    """

    processors: Annotated[U64, Field(gt=0)]
    processes: dict[str, U64]
    idle: U64
    series: dict[str, _Row]
    user: _Row
    system: _Row
    split: U64
    exact: bool


class AuditSeen(MessagePart):
    """The state of the kernel's queue of audit records, in all and by row."""

    lost: U64
    backlog_peak: U64
    lost_series: _Row
    backlog_series: _Row


class AvcSeen(MessagePart):
    """The statistics of SELinux's cache of decisions, in all and by row."""

    totals: dict[str, U64]
    series: dict[str, _Row]


class WatchedAnswer(MessagePart):
    """The result of a watch. `times` are the ends of its rows, in ticks; `own` is in nanoseconds.

    A part is None where it was not asked for, or the machine has no such thing.
    """

    event: Literal["watched"] = "watched"
    period: Annotated[U64, Field(gt=0)]
    ticks: Annotated[U64, Field(gt=0)]
    nanoseconds: Annotated[U64, Field(gt=0)]
    times: _Row
    own: U64
    cpu: CpuSeen | None
    audit: AuditSeen | None
    avc: AvcSeen | None

    @property
    def rate(self) -> float:
        """Ticks of the watch's clock in a nanosecond of the guest's."""
        return self.ticks / self.nanoseconds

    @property
    def own_ticks(self) -> float:
        """Processor time of the watching itself, in ticks."""
        return self.own * self.rate


class ErrorAnswer(MessagePart):
    """A request failed, and none after it is tried: why, and the ends of logs by name."""

    event: Literal["error"] = "error"
    request: U64 | None
    message: str
    logs: dict[str, str]


class EndAnswer(MessagePart):
    """The last line of each session."""

    event: Literal["end"] = "end"


ProbeAnswer = Annotated[
    ReadyAnswer
    | HelloAnswer
    | MadeAnswer
    | InstalledAnswer
    | WrittenAnswer
    | AuditAnswer
    | ClockAnswer
    | CallAnswer
    | CountersAnswer
    | CommandAnswer
    | RanAnswer
    | StartedAnswer
    | StoppedAnswer
    | MountedAnswer
    | ContentAnswer
    | CountedAnswer
    | AwaitedAnswer
    | DroppedAnswer
    | ParallelAnswer
    | PerturbedAnswer
    | WatchingAnswer
    | WatchedAnswer
    | ErrorAnswer
    | EndAnswer,
    Field(discriminator="event"),
]
"""Any that the probe gives."""


class BootedAnswer(MessagePart):
    """The machine's own word on a guest that goes on from a snapshot.

    `instructions` are those that it had executed when it stopped: firmware, kernel, and the probe
    until it was ready for a job.
    """

    event: Literal["booted"] = "booted"
    instructions: U64


Answer = ProbeAnswer | BootedAnswer
"""Any that the probe or the machine gives."""

_A = TypeVar("_A", bound=MessagePart)
_N = TypeVar("_N", bound=NamedAnswer)


@cache  # not sooner: to put it together takes long, and few commands read answers
def _reader() -> TypeAdapter[ProbeAnswer]:
    return TypeAdapter(ProbeAnswer)


def read_answer(line: bytes) -> ProbeAnswer:
    """Return the answer that a line of the probe's is.

    Raises:
        TrialError: It is none; where it is one with a wrong field, that is named.
    """
    try:
        return _reader().validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = first["loc"]
    if not where:
        raise TrialError(f"the machine wrote an invalid answer: {line[:_SHOWN]!r}")
    event, *field = where
    if not field:
        raise TrialError(
            f"the machine's answer '{event}' is not a JSON object of the protocol: {first['msg']}"
        )
    place = ".".join(map(str, field))[:_SHOWN]
    raise TrialError(
        f"the machine's answer '{event}' has a wrong field, {place}: {first['msg']}",
        hint="`make setup` builds the probe that fits, if this one is older than hardcost",
    )


def all_of(answers: Iterable[Answer], kind: type[_A]) -> list[_A]:
    """Return the answers of a kind, in their order."""
    return [answer for answer in answers if isinstance(answer, kind)]


def only(answers: Iterable[Answer], kind: type[_A]) -> _A:
    """Return the answer of a kind that comes once.

    Raises:
        TrialError: There is none, or more than one.
    """
    found = all_of(answers, kind)
    if len(found) != 1:
        event = kind.model_fields["event"].default
        raise TrialError(f"the machine answered '{event}' {len(found)} times instead of once")
    return found[0]


def find(answers: Iterable[Answer], kind: type[_N], name: str) -> _N | None:
    """Return the first answer of a kind to the request called `name`; None if there is none."""
    return next((one for one in all_of(answers, kind) if one.name == name), None)


def answer_named(answers: Iterable[Answer], kind: type[_N], name: str) -> _N:
    """Return the first answer of a kind to the request called `name`.

    Raises:
        TrialError: There is none.
    """
    found = find(answers, kind, name)
    if found is None:
        raise TrialError(f"the machine did not answer to '{name}'")
    return found
