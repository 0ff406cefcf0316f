"""The workload `dd`: a file written out of /dev/zero in blocks of a mebibyte, in four ways.

The four differ in when dd waits for the disk: once at the end (for the data alone, or for the
file's properties too), or with each block. A first block is written before and not measured. The
guest's disk is memory, so there is work and no waiting for a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from hardcost.errors import TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.windows import Windows
from hardcost.protocol.answers import Answer
from hardcost.protocol.requests import Request
from hardcost.workloads import programs
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import JOINED, ONCE, WorkloadParameters, one_of, whole_number

_FLAGS = {
    "fdatasync": "conv=fdatasync",
    "fsync": "conv=fsync",
    "dsync": "oflag=dsync",
    "sync": "oflag=sync",
}
_MOST = 20000
_MIB = 1 << 20
_FILE = f"{programs.HOME}/dd.data"

_CaseName = Annotated[str, one_of("cases", lambda: _FLAGS)]


class Parameters(WorkloadParameters):
    """How much is written, and in which of the four ways."""

    count: Annotated[int, whole_number(_MOST)] = Field(
        64, description="blocks of 1 MiB, 1 to 20000 (default: 64; published: 20000)"
    )
    cases: Annotated[tuple[_CaseName, ...], JOINED, ONCE] = Field(
        tuple(_FLAGS), description="joined by '+': fdatasync, fsync, dsync, sync (default: all)"
    )


def disk(parameters: Parameters) -> int:
    """Return how many GiB the root has to have at least for the file; 0 if any will do."""
    return programs.disk(parameters.count * _MIB)


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return the requests to the probe."""
    # The first file ever written to the disk costs more, unless a daemon has written one.
    first = ["dd", "if=/dev/zero", f"of={_FILE}", "bs=1M", "count=1", "conv=fsync"]
    job: list[Request] = [
        programs.as_user("warm up", first),
        programs.as_user("warm up rm", ["rm", _FILE]),
    ]
    for case in programs.in_order(parameters.cases, _FLAGS):
        words = [
            "dd",
            "if=/dev/zero",
            f"of={_FILE}",
            "bs=1M",
            f"count={parameters.count}",
            _FLAGS[case],
        ]
        job += [
            programs.as_user(case, words, instrument),
            programs.as_user(f"{case} size", ["stat", "--format=%s", _FILE]),
            programs.as_user(f"{case} rm", ["rm", _FILE]),
        ]
    return job


def read_metrics(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[MetricSamples, ...]:
    """Return a metric for each case, in the instrument's unit for a whole run.

    Raises:
        TrialError: dd failed, or the file is not as large as it should be.
    """
    size = parameters.count * _MIB
    programs.successful_answer(answers, "warm up", "dd's first file")
    found: list[MetricSamples] = []
    for case in programs.in_order(parameters.cases, _FLAGS):
        done = programs.successful_answer(answers, case, f"dd {_FLAGS[case]}")
        written = programs.successful_answer(
            answers, f"{case} size", "looking at what dd wrote"
        ).stdout
        if written.strip() != str(size):
            raise TrialError(
                f"dd {_FLAGS[case]} made a file of {written.strip()[:40]} bytes, not {size}"
            )
        found.append(programs.metric(case, instrument.whole, programs.ticks(done), [done]))
    return tuple(found)


def windows(
    parameters: Parameters,
    answers: Sequence[Answer],
    instrument: Instrument,  # noqa: ARG001  (the interface's)
) -> tuple[Windows, ...]:
    """Return the cases."""
    return tuple(programs.windows(answers, programs.in_order(parameters.cases, _FLAGS)))


KIND = WorkloadKind(
    name="dd",
    title=(
        "dd from /dev/zero to the disk, whole: data or all synchronised at the end, or block by"
        " block"
    ),
    parameters=Parameters,
    audit_note="dd's cost holds the work on its audit records until it ends",
    guest="debian",
    packages=("coreutils",),
    # Ticks fall elsewhere when a load begins later (docs/determinism.md).
    resolution=0.005,
    requests=requests,
    measured=read_metrics,
    windows=windows,
    disk=disk,
)
