"""The workload `syscalls`: what one system call costs, for each of some two dozen calls.

The first six are those of lmbench's lat_syscall; the others are calls that audit rules name, and
the work that processes and sockets do most. The calls are data, in `syscalls.toml`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from hardcost.errors import TrialError
from hardcost.instruments.windows import Windows
from hardcost.protocol.answers import CallAnswer, ClockAnswer, all_of, only
from hardcost.protocol.requests import USER, CallPlan, Calls
from hardcost.workloads.measured import Measured
from hardcost.workloads.parameters import JOINED, ONCE, WorkloadParameters, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.instruments.instrument import Instrument
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

NAME = "syscalls"
TITLE = "the cost of one system call, for each of 26 calls"
AUDIT_NOTE = (
    "a call's cost is what its own process executes; handing an audit record to the daemon is work"
    " of a kernel thread and the daemon, comes later, and is not in it"
)
GUEST: Final = "small"
PACKAGES: Final[tuple[str, ...]] = ()
_WARM_UP = 8  # windows before the first sample: caches of names, slabs and pages fill
_APART = 4  # milliseconds between windows, at least: records reach the audit daemon


@dataclass(frozen=True)
class Call:
    """One call: `batch` operations in a sample and the number of `samples`, by instrument.

    `warmup` windows come before the first sample. Windows begin `apart` ms apart, or more.
    """

    name: str
    what: str
    batch: Mapping[str, int]
    samples: Mapping[str, int]
    operations: int = 1
    warmup: int = _WARM_UP
    apart: int = _APART


@cache
def calls() -> dict[str, Call]:
    """Return all calls by name, in the order of reports."""
    text = (resources.files("hardcost.workloads") / "syscalls.toml").read_text()
    return {name: Call(name=name, **facts) for name, facts in tomllib.loads(text).items()}


_CallName = Annotated[str, one_of("calls", calls)]


class Parameters(WorkloadParameters):
    """Which calls are measured, in the order in which they are reported."""

    calls: Annotated[tuple[_CallName, ...], JOINED, ONCE] = Field(
        default_factory=lambda: tuple(calls()),
        description="the calls to measure, joined by '+', such as null+open (default: all)",
    )


def chosen(parameters: Parameters) -> tuple[Call, ...]:
    """Return the calls that the parameter `calls` names."""
    return tuple(calls()[name] for name in parameters.calls)


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return what the probe is asked to do."""
    rows = tuple(
        CallPlan(
            name=call.name,
            batch=call.batch[instrument.name],
            samples=call.samples[instrument.name],
            warmup=call.warmup,
            apart=call.apart,
        )
        for call in chosen(parameters)
    )
    return [Calls(clock=instrument.clock, calls=rows)]


def measured(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[Measured, ...]:
    """Return a metric for each call, in units for one operation, out of the probe's answers.

    A sample is the ticks of its window less those of an empty window, over the operations in it.

    Raises:
        TrialError: An answer is missing, or says something else than was asked for.
    """
    by_name = {answer.name: answer for answer in all_of(answers, CallAnswer)}
    missing = [call.name for call in chosen(parameters) if call.name not in by_name]
    if missing:
        raise TrialError(f"the guest did not measure {', '.join(missing)}")
    empty = min(only(answers, ClockAnswer).overhead)
    return tuple(
        _metric(call, by_name[call.name], empty, instrument) for call in chosen(parameters)
    )


def windows(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[Windows, ...]:
    """Return the windows in their order: those with nothing in them, and each call's.

    Raises:
        TrialError: An answer is missing.
    """
    by_name = {answer.name: answer for answer in all_of(answers, CallAnswer)}
    return (
        Windows(None, only(answers, ClockAnswer).overhead),
        *(
            Windows(
                call.name,
                by_name[call.name].samples,
                before=call.warmup,
                operations=call.batch[instrument.name] * call.operations,
            )
            for call in chosen(parameters)
        ),
    )


def _metric(call: Call, answer: CallAnswer, empty: int, instrument: Instrument) -> Measured:
    expected = call.samples[instrument.name]
    ticks = answer.samples
    if len(ticks) != expected:
        raise TrialError(
            f"the guest gave {len(ticks)} samples of {call.name} instead of {expected}"
        )
    audit = answer.audit
    if answer.uid != USER or (audit is not None and answer.loginuid != USER):
        raise TrialError(
            f"{call.name} ran as user {answer.uid} with login user {answer.loginuid},"
            f" not as {USER}: rules that test who acts would not be measured"
        )
    operations = call.batch[instrument.name] * call.operations
    return Measured(
        metric=call.name,
        unit=instrument.per_op,
        samples=tuple((tick - empty) / operations for tick in ticks),
        fired=None if audit is None else audit.by_key,
        lost=0 if audit is None else audit.lost,
    )
