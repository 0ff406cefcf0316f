"""The workload `fio`: reading and writing the disk directly, in the nine published cases.

Each case works on files that were laid out before, through libaio and past the page cache. The
guest's disk is memory: there is the work of the kernel and of fio, and no waiting for a device. An
exact instrument counts a fixed number of I/Os; otherwise each case runs for some seconds. With
`iops` and `mbps` the kernel lets no more through (io.max of a control group), as a disk of that
speed would: then an I/O's cost holds the waiting too, for which an exact instrument counts the
instructions of an idle processor, one each nanosecond.

What an I/O costs is fio's own running time of a case over its I/Os. fio reports that time in whole
milliseconds: the cases are so large that one is 0.5 % of them at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from hardcost.errors import InputError, TrialError
from hardcost.files import json_value
from hardcost.instruments.instrument import Instrument
from hardcost.protocol.answers import Answer, RanAnswer
from hardcost.protocol.ask import run
from hardcost.protocol.requests import Request
from hardcost.workloads import programs
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import JOINED, ONCE, WorkloadParameters, one_of, whole_number

NAME = "fio"


_MOST_SIZE = 512  # MiB: four such files take 2 GiB of the 3 that are free on the guest's disk
_MOST_IOPS = 1_000_000
_MOST_MBPS = 100_000
_MOST_SECONDS = 600
_JOBS = 4  # most of a case; as many files are laid out
_SPARE_SECONDS = 600
_LIMITED_SECONDS = 0.6  # several of the tenths by which the kernel deals a limited disk out
_NS_PER_MS = 1_000_000  # under `insn` too: there an instruction takes a nanosecond
_DIRECTIONS = ("read", "write")

# A control group for which the disk under / has a limit; a partition's is that of its whole disk.
_LIMIT = """
disk=$(mountpoint -d /)
if [ -e "/sys/dev/block/$disk/partition" ]; then disk=$(cat "/sys/dev/block/$disk/../dev"); fi
echo +io >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/disk
echo "$disk $1" >/sys/fs/cgroup/disk/io.max
cat /sys/fs/cgroup/disk/io.max
"""
_ENTER = """
echo $$ >/sys/fs/cgroup/disk/cgroup.procs
exec setpriv --reuid=user --regid=user --init-groups "$@"
"""


@dataclass(frozen=True)
class Disk:
    """The disk of the cases: files of `size` MiB, and the disk's limits; 0 is none.

    `iops` are I/Os a second, `mbps` million bytes, each for either direction.
    """

    size: int
    iops: int = 0
    mbps: int = 0

    @property
    def limits(self) -> str:
        """The limits in the words of io.max; empty without any."""
        iops = [f"riops={self.iops}", f"wiops={self.iops}"] if self.iops else []
        mbps = [f"rbps={self.mbps}000000", f"wbps={self.mbps}000000"] if self.mbps else []
        return " ".join([*iops, *mbps])


@dataclass(frozen=True)
class FioCase:
    """A case: blocks of `block` KiB, `depth` of them at a time, in each of `jobs` jobs.

    Under an exact instrument each job goes `passes` times through its file; less where the disk has
    a limit, as much as it does in some tenths of a second.
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

    def amount(self, disk: Disk) -> int:
        """Return the MiB that each job goes through under an exact instrument."""
        memory = disk.size * self.passes
        rates = [disk.iops * self.block << 10] if disk.iops else []
        rates += [disk.mbps * 1_000_000] if disk.mbps else []
        if not rates:
            return memory
        return min(memory, math.ceil(min(rates) * _LIMITED_SECONDS / self.jobs / (1 << 20)))

    def operations(self, disk: Disk) -> int:
        """Return its I/Os under an exact instrument."""
        return self.jobs * (self.amount(disk) << 10) // self.block


CASES: Final = tuple(
    FioCase(kind, order, block, depth, jobs, passes)
    for kind, orders, block, depth, jobs, passes in (
        ("bandwidth", ("read", "write"), 128, 128, 1, 50),
        ("latency", ("read", "write", "randread", "randwrite"), 4, 1, 1, 7),
        ("iops", ("randread", "randwrite", "randrw"), 4, 32, _JOBS, 2),
    )
    for order in orders
)
"""The published cases."""


_CaseName = Annotated[str, one_of("cases", lambda: [case.name for case in CASES])]


class Parameters(WorkloadParameters):
    """What is read and written, how fast the disk is, and how long each case takes."""

    size: Annotated[int, whole_number(_MOST_SIZE)] = Field(
        16, description="of each job's file in MiB, 1 to 512 (default: 16; published: 10240)"
    )
    cases: Annotated[tuple[_CaseName, ...], JOINED, ONCE] = Field(
        tuple(case.name for case in CASES),
        description="joined by '+', such as latency-read+iops-randrw (default: all nine)",
    )
    iops: Annotated[int | None, whole_number(_MOST_IOPS, least=_MOST_IOPS // 1000)] = Field(
        None,
        description="the disk does so many I/Os a second at most, 1000 to 1000000 (default: no"
        " limit)",
    )
    mbps: Annotated[int | None, whole_number(_MOST_MBPS, least=_MOST_MBPS // 1000)] = Field(
        None, description="and so many million bytes, 100 to 100000 (default: no limit)"
    )
    seconds: Annotated[int, whole_number(_MOST_SECONDS)] = Field(
        3, description="under time: of each case, 1 to 600 (default: 3; published: 30)"
    )

    def check(self, instrument: Instrument) -> None:
        """Check that the values are for this instrument.

        Raises:
            InputError: Seconds are given to an exact one.
        """
        if instrument.exact and "seconds" in self.model_fields_set:
            raise InputError(
                f"the workload {NAME} has no use for seconds under the instrument"
                f" {instrument.name}",
                hint="an exact instrument counts a fixed number of I/Os: give size",
            )


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return the requests to the probe."""
    disk, seconds = _disk(parameters), parameters.seconds
    common = [
        *("fio", "--name=fio", f"--directory={programs.HOME}", f"--size={disk.size}m"),
        *("--ioengine=libaio", "--direct=1", "--fallocate=none", "--group_reporting"),
        *("--randrepeat=1", "--allrandrepeat=1", "--clocksource=clock_gettime"),
        "--output-format=json",
    ]
    lay_out = [*common, f"--numjobs={_JOBS}", "--rw=read", "--create_only=1"]
    job: list[Request] = [programs.as_user("lay out", lay_out, limit_seconds=_SPARE_SECONDS)]
    if disk.limits:
        job.append(run("limit", ["sh", "-ec", _LIMIT, "limit", disk.limits], expect=None))
    for case in _chosen_cases(parameters):
        amount = (
            [f"--io_size={case.amount(disk)}m"]
            if instrument.exact
            else ["--time_based", f"--runtime={seconds}"]
        )
        words = [
            *common,
            *(f"--rw={case.order}", f"--bs={case.block}k", f"--iodepth={case.depth}"),
            *(f"--numjobs={case.jobs}", *amount),
        ]
        job.append(_case(case, words, instrument, disk, seconds + _SPARE_SECONDS))
    files = [f"{programs.HOME}/fio.{number}.0" for number in range(_JOBS)]
    return [*job, programs.as_user("remove", ["rm", *files])]


def _case(
    case: FioCase, words: Sequence[str], instrument: Instrument, disk: Disk, seconds: float
) -> Request:
    """Return the request for a case; only root may enter the group that the disk is limited for."""
    if not disk.limits:
        return programs.as_user(case.name, words, instrument, limit_seconds=seconds)
    entered = ["sh", "-ec", _ENTER, "enter", *words]
    return programs.as_user(case.name, entered, instrument, user="root", limit_seconds=seconds)


def read_metrics(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[MetricSamples, ...]:
    """Return what an I/O of each case took, in the instrument's unit for an operation.

    Raises:
        TrialError: fio failed, met an error, or did not do all of its I/Os.
    """
    disk = _disk(parameters)
    programs.successful_answer(answers, "lay out", "laying out fio's files")
    if disk.limits:
        limited = programs.successful_answer(answers, "limit", "limiting the disk").stdout
        if not set(disk.limits.split()) <= set(limited.split()):
            raise TrialError(f"the disk's limits did not take: {limited[:200]!r}")
    found: list[MetricSamples] = []
    for case in _chosen_cases(parameters):
        answer = programs.successful_answer(answers, case.name, f"fio's case {case.name}")
        operations, milliseconds = _read_report(answer, case)
        if instrument.exact and operations != case.operations(disk):
            raise TrialError(
                f"fio did {operations} I/Os in {case.name}, not {case.operations(disk)}"
            )
        cost = milliseconds * _NS_PER_MS / operations
        found.append(programs.metric(case.name, instrument.per_op, cost, [answer]))
    programs.successful_answer(answers, "remove", "removing fio's files")
    return tuple(found)


def _chosen_cases(parameters: Parameters) -> tuple[FioCase, ...]:
    return tuple(case for case in CASES if case.name in parameters.cases)


def _disk(parameters: Parameters) -> Disk:
    """Return what cases work on."""
    return Disk(parameters.size, parameters.iops or 0, parameters.mbps or 0)


def _read_report(answer: RanAnswer, case: FioCase) -> tuple[int, int]:
    """Return how many I/Os a case did and the milliseconds that they took, by fio's own report."""
    if answer.stdout_bytes != len(answer.stdout.encode()):
        raise TrialError(f"fio's report of {case.name} is too long to be read")
    try:
        (job,) = json_value(answer.stdout)["jobs"]
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


KIND = WorkloadKind(
    name=NAME,
    title=(
        "one I/O of fio, direct, by libaio: in large blocks (bandwidth), one at a time (latency),"
        " and many at a time of four jobs (iops); fio reports its time to the millisecond"
    ),
    parameters=Parameters,
    audit_note="an I/O's cost holds the work of daemons on audit records while fio runs",
    guest="debian",
    packages=("fio",),
    # Ticks fall elsewhere when a load begins later (docs/determinism.md).
    resolution=0.005,
    requests=requests,
    measured=read_metrics,
)
