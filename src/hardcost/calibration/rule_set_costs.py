"""Rule sets, measured in a guest: the cost of an operation of `syscalls` under each.

The guest's work lies in a file system of its own, /tmp, that numbers its files one after another
from 2, while what rules watch lies in the root's. So it is known in advance in which bucket each
visited file falls, and the probe says the same of the files that are watched.
"""

from __future__ import annotations

import dataclasses
import itertools
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from auditrules.cost import events
from auditrules.kernel.event import Event, FileId
from auditrules.kernel.semantics import BUCKETS
from hardcost.errors import InputError, TrialError
from hardcost.machines.machine import Machine
from hardcost.mechanisms.audit import PREAMBLE
from hardcost.protocol.answers import (
    Answer,
    AuditAnswer,
    CallAnswer,
    ClockAnswer,
    MadeAnswer,
    all_of,
    only,
)
from hardcost.protocol.ask import make
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import USER, Audit, CallPlan, MeasureCalls, Request
from hardcost.protocol.types import MessagePart
from hardcost.workloads import syscalls

_A = TypeVar("_A", bound=MessagePart)

PROGRAMS = ("/bin/noop", "/hardcost-noop")
"""What `exec` visits in a guest: the name that it executes, a link, and what that leads to."""

_WARM_UP = 8  # windows before the first that counts
_APART = 12  # milliseconds from one to the next, at least: what one leaves behind is freed
_DELETE_ALL = "-D"
_WATCHED, _WORK = 1, 2  # numbers for two devices, so that files of one are none of the other


class Often(NamedTuple):
    """How often an operation is measured: so many samples in each of so many processes."""

    samples: int
    processes: int = 1


@dataclass(frozen=True)
class RuleSetRequest:
    """Rules, and how often each operation is to be measured under them."""

    rules: tuple[str, ...]
    often: Mapping[str, Often]

    def runs(self) -> Iterator[tuple[str, int]]:
        """Yield operation and samples of each process, in the order in which they run."""
        for name, often in self.often.items():
            yield from itertools.repeat((name, often.samples), often.processes)


@dataclass(frozen=True)
class Watched:
    """Files that the guest has to hold because rules name them."""

    directories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class RuleSetLevels:
    """Levels by operation for each rule set, and the numbers of the files that rules watch.

    A level is the instructions of one operation: the median of a process's samples. There is one
    for each process.
    """

    levels: tuple[Mapping[str, Sequence[float]], ...]
    files: Mapping[str, FileId]


async def measure(
    machine: Machine, sets: Sequence[RuleSetRequest], watched: Watched, limit_seconds: float
) -> RuleSetLevels:
    """Measure operations under each rule set in turn, in one guest.

    Raises:
        InputError: auditctl refuses a rule.
        TrialError: The guest failed.
    """
    job: list[Request] = [make(watched.directories, (*watched.files, *PROGRAMS))]
    for wanted in sets:
        job += _requests(wanted)
    answers = (await machine.execute(Boot(), job, limit_seconds)).answers
    inodes = only(answers, MadeAnswer).inodes
    files = {path: FileId(0, _WATCHED, number) for path, number in inodes.items()}
    return RuleSetLevels(tuple(_levels(answers, sets)), files)


def _requests(wanted: RuleSetRequest) -> list[Request]:
    text = "".join(f"{line}\n" for line in (*PREAMBLE, _DELETE_ALL, *wanted.rules))
    calls = tuple(
        CallPlan(name=name, batch=1, samples=samples, warmup=_WARM_UP, apart=_APART)
        for name, samples in wanted.runs()
    )
    return [Audit(rules=text), MeasureCalls(clock="tsc", calls=calls)]


def _levels(
    answers: Sequence[Answer], sets: Sequence[RuleSetRequest]
) -> Iterator[dict[str, list[float]]]:
    """Return the levels of each operation for each set, out of the answers in their order."""
    loaded, clocks = iter(all_of(answers, AuditAnswer)), iter(all_of(answers, ClockAnswer))
    measured = iter(all_of(answers, CallAnswer))
    for wanted in sets:
        _check(_next(loaded), wanted)
        empty = min(_next(clocks).overhead)
        found: defaultdict[str, list[float]] = defaultdict(list)
        for name, _ in wanted.runs():
            answer = _next(measured)
            if answer.name != name or not answer.samples or answer.loginuid != USER:
                raise TrialError(f"the guest did not measure {name} as it should have")
            found[name].append(level([sample - empty for sample in answer.samples], name))
        yield dict(found)


def _next(answers: Iterator[_A]) -> _A:
    answer = next(answers, None)
    if answer is None:
        raise TrialError("the guest did not do all that it was asked to measure")
    return answer


def _check(answer: AuditAnswer, wanted: RuleSetRequest) -> None:
    if answer.loaded == len(wanted.rules):
        return
    said = (answer.stderr.strip() or "nothing")[:300]
    raise InputError(
        f"the guest holds {answer.loaded} of {len(wanted.rules)} rules; auditctl said: {said}"
    )


def level(samples: Sequence[float], name: str) -> float:
    """Return the instructions of one operation: the median of its samples."""
    return statistics.median(samples) / syscalls.calls()[name].operations


# What the operations visit ----------------------------------------------------------------------

_MAKES = {
    "stat": 1, "fstat": 1, "open": 1, "access": 1, "lseek": 1, "rename": 1, "link": 1, "chmod": 1,
    "chown": 1, "utimensat": 1, "setxattr": 1,
}  # fmt: skip
"""Files that an operation finds in its working directory, made before the first window."""

_MAKES_EACH_TIME = {"creat", "mkdir"}
_FIRST = 2  # the first inode number after that of /tmp itself
_FOLDERS_LIST = BUCKETS - 2  # crates/measured/src/audit_inode_buckets.rs


def calls_by_set(
    sets: Sequence[RuleSetRequest], files: Mapping[str, FileId]
) -> Iterator[dict[str, tuple[tuple[Event, ...], ...]]]:
    """Return the calls of each operation with the files they visit, by set as `measure` runs them.

    An operation that visits new files each time comes in as many variants as there are buckets.
    """
    following = _FIRST
    for wanted in sets:
        found: dict[str, tuple[tuple[Event, ...], ...]] = {}
        for name, samples in wanted.runs():
            # The probe makes the folder until its number is of that list; its file has the next.
            folder = following + (_FOLDERS_LIST - following) % BUCKETS
            first = folder + 1
            following = first + _MAKES.get(name, 0)
            if name in _MAKES_EACH_TIME:
                following += samples + _WARM_UP
                starts = range(first + _WARM_UP, first + _WARM_UP + samples)
            else:
                starts = range(first, first + 1)
            found.setdefault(name, tuple(_operation(name, folder, at, files) for at in starts))
        yield found


def _operation(name: str, folder: int, file: int, files: Mapping[str, FileId]) -> tuple[Event, ...]:
    places = {}
    if name in _MAKES or name in _MAKES_EACH_TIME:
        places = {"folder": FileId(0, _WORK, folder)} | dict.fromkeys(
            ("file", "folder2"), FileId(0, _WORK, file)
        )
    for kind, path in zip(("program", "program2"), PROGRAMS, strict=True):
        if path in files:
            places[kind] = files[path]
    return tuple(_place_files(events.typical(call), places) for call in events.operations()[name])


def _place_files(event: Event, places: Mapping[str, FileId]) -> Event:
    """Return the call with its files where the guest has them, as far as that is known."""
    names = tuple(
        dataclasses.replace(
            name, file=places.get((name.path or "").removeprefix(f"{events.PLACE}/"), name.file)
        )
        for name in event.names
    )
    return dataclasses.replace(event, names=names)
