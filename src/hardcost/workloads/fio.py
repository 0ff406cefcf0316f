"""The workload `fio`: reading and writing the disk directly, in the nine published cases.

Each case works on files that were laid out before, through libaio and past the page cache. The
guest's disk is memory: there is the work of the kernel and of fio, and no waiting for a device. An
exact instrument counts a fixed number of I/Os; otherwise each case runs for some seconds.

What an I/O costs is fio's own running time of a case over its I/Os. fio tells that time in whole
milliseconds: the cases are so large that one is 0.5 % of them at most.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hardcost.errors import InputError, TrialError
from hardcost.workloads import programs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.instruments.instrument import Instrument
    from hardcost.workloads.measured import Measured

NAME = "fio"
TITLE = (
    "one I/O of fio, direct, by libaio: in large blocks (bandwidth), one at a time (latency), and"
    " many at a time of four jobs (iops); fio tells its time to the millisecond"
)
PARAMETERS = {
    "size": "of each job's file in MiB, 1 to 512 (default: 16; published: 10240)",
    "cases": "joined by '+', such as latency-read+iops-randrw (default: all nine)",
    "seconds": "under time: of each case, 1 to 600 (default: 3; published: 30)",
}
AUDIT_NOTE = "an I/O's cost holds the work of daemons on audit records while fio runs"
GUEST: Final = "debian"
PACKAGES = ("fio",)

_SIZE = 16
_MOST_SIZE = 512
_SECONDS = 3
_MOST_SECONDS = 600
_JOBS = 4  # most of a case; as many files are laid out
_SPARE_SECONDS = 600
_NS_PER_MS = 1_000_000  # under `insn` too: there an instruction takes a nanosecond
_DIRECTIONS = ("read", "write")


@dataclass(frozen=True)
class Case:
    """A case: blocks of `block` KiB, `depth` of them at a time, in each of `jobs` jobs.

    Under an exact instrument each job goes through its file `passes` times.
    """

    kind: str
    order: str
    block: int
    depth: int
    jobs: int
    passes: int

    @property
    def name(self) -> str:
        """Its metric."""
        return f"{self.kind}-{self.order}"

    def operations(self, size: int) -> int:
        """Return its I/Os under an exact instrument, its files being of `size` MiB."""
        return self.jobs * self.passes * (size << 10) // self.block


CASES: Final = tuple(
    Case(kind, order, block, depth, jobs, passes)
    for kind, orders, block, depth, jobs, passes in (
        ("bandwidth", ("read", "write"), 128, 128, 1, 50),
        ("latency", ("read", "write", "randread", "randwrite"), 4, 1, 1, 7),
        ("iops", ("randread", "randwrite", "randrw"), 4, 32, _JOBS, 2),
    )
    for order in orders
)
"""The published cases."""


def requests(parameters: Mapping[str, str], instrument: Instrument) -> list[dict[str, Any]]:
    """Return what the probe is asked to do.

    Raises:
        InputError: A parameter's value is none of those that there are, or is not for this
            instrument.
    """
    size = programs.number(NAME, parameters, "size", _SIZE, most=_MOST_SIZE)
    if instrument.exact and "seconds" in parameters:
        raise InputError(
            f"the workload {NAME} has no use for seconds under the instrument {instrument.name}",
            hint="an exact instrument counts a fixed number of I/Os: give size",
        )
    seconds = programs.number(NAME, parameters, "seconds", _SECONDS, most=_MOST_SECONDS)
    common = [
        *("fio", "--name=fio", f"--directory={programs.HOME}", f"--size={size}m"),
        *("--ioengine=libaio", "--direct=1", "--fallocate=none", "--group_reporting"),
        *("--randrepeat=1", "--allrandrepeat=1", "--clocksource=clock_gettime"),
        "--output-format=json",
    ]
    lay_out = [*common, f"--numjobs={_JOBS}", "--rw=read", "--create_only=1"]
    job = [programs.as_user("lay out", lay_out, limit_seconds=_SPARE_SECONDS)]
    for case in _chosen(parameters):
        amount = (
            [f"--io_size={size * case.passes}m"]
            if instrument.exact
            else ["--time_based", f"--runtime={seconds}"]
        )
        words = [
            *(f"--rw={case.order}", f"--bs={case.block}k", f"--iodepth={case.depth}"),
            *(f"--numjobs={case.jobs}", *amount),
        ]
        limit = seconds + _SPARE_SECONDS
        job.append(programs.as_user(case.name, [*common, *words], instrument, limit_seconds=limit))
    files = [f"{programs.HOME}/fio.{number}.0" for number in range(_JOBS)]
    return [*job, programs.as_user("remove", ["rm", *files])]


def measured(
    parameters: Mapping[str, str], answers: Sequence[Mapping[str, Any]], instrument: Instrument
) -> tuple[Measured, ...]:
    """Return what an I/O of each case took, in the instrument's unit for an operation.

    Raises:
        TrialError: fio failed, met an error, or did not do all of its I/Os.
    """
    size = programs.number(NAME, parameters, "size", _SIZE, most=_MOST_SIZE)
    programs.done(answers, "lay out", "laying out fio's files")
    found: list[Measured] = []
    for case in _chosen(parameters):
        answer = programs.done(answers, case.name, f"fio's case {case.name}")
        operations, milliseconds = _told(answer, case)
        if instrument.exact and operations != case.operations(size):
            raise TrialError(
                f"fio did {operations} I/Os in {case.name}, not {case.operations(size)}"
            )
        cost = milliseconds * _NS_PER_MS / operations
        found.append(programs.metric(case.name, instrument.per_op, cost, [answer]))
    programs.done(answers, "remove", "removing fio's files")
    return tuple(found)


def _chosen(parameters: Mapping[str, str]) -> tuple[Case, ...]:
    names = programs.chosen(NAME, parameters, "cases", [case.name for case in CASES])
    return tuple(case for case in CASES if case.name in names)


def _told(answer: Mapping[str, Any], case: Case) -> tuple[int, int]:
    """Return how many I/Os a case did and the milliseconds that they took, by fio's own report."""
    if answer["stdout_bytes"] != len(answer["stdout"].encode()):
        raise TrialError(f"fio's report of {case.name} is too long to be read")
    try:
        (job,) = json.loads(answer["stdout"])["jobs"]
        error = int(job["error"])
        sides = [job[direction] for direction in _DIRECTIONS]
        operations = sum(int(side["total_ios"]) for side in sides)
        milliseconds = max(int(side["runtime"]) for side in sides)
        unfinished = sum(int(side["short_ios"]) + int(side["drop_ios"]) for side in sides)
        moved = sum(int(side["io_bytes"]) for side in sides)
    except (ValueError, KeyError, TypeError) as wrong:
        raise TrialError(f"fio's report of {case.name} can't be read: {wrong!r}") from wrong
    if error or unfinished:
        raise TrialError(f"fio met error {error} and {unfinished} unfinished I/Os in {case.name}")
    if moved != operations * (case.block << 10):
        raise TrialError(f"fio moved {moved} bytes in {operations} I/Os of {case.name}")
    if operations == 0 or milliseconds == 0:
        raise TrialError(f"fio's case {case.name} is too short to be measured")
    return operations, milliseconds
