"""The workload of `hardcost trace --call`: one call, and its record's way to its end.

`crates/caller` makes the call, and gives way until no other process has anything to do any more.
The window that is traced goes from the program's start to its end; in it, two readings of the clock
enclose the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Annotated

from pydantic import Field

from hardcost.instruments.instrument import Instrument
from hardcost.instruments.windows import Windows
from hardcost.protocol.answers import Answer
from hardcost.protocol.ask import install, run
from hardcost.protocol.requests import USER, Request
from hardcost.workloads import programs
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import WorkloadParameters, one_of, whole_number
from hardcost.workloads.syscalls import calls

NAME = "onecall"
PROGRAM = "hardcost-caller"
"""The program that makes the call."""

_NOOP = "hardcost-noop"
_PLACE = "/run"  # what lies there fapolicyd allows to be executed
_MOST_MS = 10_000


class Parameters(WorkloadParameters):
    """Which call is made, and for how long its record's way is watched."""

    call: Annotated[str, one_of("calls", calls)] = Field(description="the call")
    wait: Annotated[int, whole_number(_MOST_MS)] = Field(
        40,
        description="how many milliseconds of the guest's time to watch afterwards (default: 40)",
    )


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return the requests to the probe."""
    folder = resources.files("hardcost") / "bin"
    found: list[Request] = [
        install(f"{_PLACE}/{name}", (folder / name).read_bytes(), 0o755)
        for name in (PROGRAM, _NOOP)
    ]
    words = [f"{_PLACE}/{PROGRAM}", parameters.call, str(parameters.wait), f"{_PLACE}/{_NOOP}"]
    return [
        *found,
        run(
            NAME,
            words,
            clock=instrument.clock,
            user="user",
            login=USER,
            context=programs.CONTEXT,
            environment={"LC_ALL": "C.UTF-8"},
            folder="/tmp",  # noqa: S108  (the guest's)
        ),
    ]


def read_metrics(
    parameters: Parameters,  # noqa: ARG001  (the interface's)
    answers: Sequence[Answer],
    instrument: Instrument,
) -> tuple[MetricSamples, ...]:
    """Return the one metric: the whole run of the program, its preparations included.

    Raises:
        TrialError: The program failed.
    """
    answer = programs.successful_answer(answers, NAME, "making the call")
    return (programs.metric(NAME, instrument.whole, programs.ticks(answer)),)


def windows(
    parameters: Parameters,  # noqa: ARG001  (the interface's)
    answers: Sequence[Answer],
    instrument: Instrument,  # noqa: ARG001  (the same)
) -> tuple[Windows, ...]:
    """Return the one window."""
    return tuple(programs.windows(answers, [NAME]))


KIND = WorkloadKind(
    name=NAME,
    title="one call, from its entry until its audit records are handled",
    parameters=Parameters,
    audit_note="what the daemon does with the record is in it",
    guest="small",
    program=PROGRAM,
    requests=requests,
    measured=read_metrics,
    windows=windows,
)
