"""The workload `syscalls`: the cost of one system call, for each of some two dozen calls.

The first six are those of lmbench's lat_syscall; the others are calls that audit rules name, and
the work that processes and sockets do most. The calls are data, in `syscalls.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Final

from pydantic import Field

from hardcost.errors import InputError, TrialError
from hardcost.instruments import counters
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.windows import Windows
from hardcost.model.observation import Observed
from hardcost.protocol.answers import (
    Answer,
    CallAnswer,
    ClockAnswer,
    PerturbedAnswer,
    all_of,
    find,
    only,
)
from hardcost.protocol.requests import ROOT, USER, CallPlan, MeasureCalls, Perturb, Request
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import JOINED, ONCE, WorkloadParameters, one_of, whole_number

NAME = "syscalls"
MORE = "syscalls-more"
AUDIT_NOTE = (
    "a call's cost is what its own process executes; a kernel thread and the audit daemon handle"
    " its audit records later, and their work is not included"
)
_SAMPLES = 25  # windows, where nearly all are equal
_TIMED_SAMPLES = 99  # windows of time, which scatter
_WARM_UP = 4  # windows before the first sample: of calls that don't move, up to 2 cost more
PERTURBED_SAMPLES = 9  # windows of a call under a perturbation
_MOST_COPIES = 1024  # processors
_APART = 4  # milliseconds between windows, at least: records reach the audit daemon


@dataclass(frozen=True)
class MeasuredCall:
    """One call: `batch` operations in a sample of time, and `samples` under an exact instrument.

    `warmup` windows come before the first sample. Windows begin `apart` ms apart, or more. `moves`:
    what it costs depends on where its memory lies and when it begins
    (`bench/accuracy/moving_metrics.py`). `chance` is by how many instructions what is rare moves
    it.
    """

    name: str
    what: str
    batch: int
    samples: int = _SAMPLES
    operations: int = 1
    warmup: int = _WARM_UP
    apart: int = _APART
    moves: bool = False
    chance: float = 0.0

    def batch_under(self, instrument: Instrument) -> int:
        """Return how many operations a sample holds; an exact instrument needs only one."""
        return 1 if instrument.exact else self.batch

    def samples_under(self, instrument: Instrument) -> int:
        """Return how many samples are taken, an odd number, so that the median is one of them."""
        return self.samples if instrument.exact else _TIMED_SAMPLES


@cache
def calls() -> dict[str, MeasuredCall]:
    """Return all calls by name, in the order of reports."""
    return _read(NAME)


@cache
def more() -> dict[str, MeasuredCall]:
    """Return the calls of the workload `syscalls-more` by name, in the order of reports."""
    return _read(MORE)


@cache
def known_calls() -> dict[str, MeasuredCall]:
    """Return all calls that can be measured, by name."""
    return calls() | more()


OF_CALLS: Final = {NAME: calls, MORE: more}
"""The workloads that measure calls, with what reads theirs."""


def _read(workload: str) -> dict[str, MeasuredCall]:
    text = (resources.files("hardcost.workloads") / f"{workload}.toml").read_text()
    return {name: MeasuredCall(name=name, **facts) for name, facts in tomllib.loads(text).items()}


_CallName = Annotated[str, one_of("calls", calls)]


class Parameters(WorkloadParameters):
    """Which calls are measured, in the order in which they are reported, and beside how many."""

    calls: Annotated[tuple[_CallName, ...], JOINED, ONCE] = Field(
        default_factory=lambda: tuple(calls()),
        description="the calls to measure, joined by '+', such as null+open (default: all)",
    )
    copies: Annotated[int, whole_number(_MOST_COPIES)] = Field(
        1,
        description=(
            "how many processes make the call at the same time, each on its own processor; one of"
            " them is measured (default: 1; only under time)"
        ),
    )

    def check(self, instrument: Instrument) -> None:
        """Check that the instrument measures calls, and sees several processors if they make them.

        Raises:
            InputError: It does not.
        """
        if instrument is PARALLEL:
            raise InputError(
                "single calls are measured on one processor, and --processors is for programs",
                hint="leave --processors out, or take --workload 'unixbench copies=4', filecopy or"
                " another of `hardcost list workloads`",
            )
        if self.copies > 1 and instrument.exact:
            raise InputError(
                f"copies={self.copies} is not for the instrument {instrument.name}: it counts on"
                " one emulated processor, where no process waits for another",
                hint="--instrument time --machine host, or ssh:USER@HOST",
            )


def chosen_calls(parameters: Parameters) -> tuple[MeasuredCall, ...]:
    """Return the calls that the parameter `calls` names."""
    return tuple(known_calls()[name] for name in parameters.calls)


def moves(parameters: Parameters) -> bool:
    """Say whether the cost of one of the calls depends on perturbations."""
    return any(call.moves for call in chosen_calls(parameters))


def requests(
    parameters: Parameters, instrument: Instrument, perturbations: Sequence[int] = (0,)
) -> list[Request]:
    """Return the requests to the probe.

    What moves is measured under each of the perturbations, in a process of its own each time; the
    rest comes first, under none.
    """
    asked = chosen_calls(parameters)
    if tuple(perturbations) == (0,):
        return [_plan(asked, instrument, parameters.copies)]
    found: list[Request] = []
    if still := [call for call in asked if not call.moves]:
        found.append(_plan(still, instrument))
    moving = [call for call in asked if call.moves]
    for number in perturbations:
        found += [Perturb(number=number), _plan(moving, instrument, samples=PERTURBED_SAMPLES)]
    return found


def _plan(
    some: Sequence[MeasuredCall],
    instrument: Instrument,
    copies: int = 1,
    samples: int | None = None,
) -> MeasureCalls:
    rows = tuple(
        CallPlan(
            name=call.name,
            batch=call.batch_under(instrument),
            samples=samples or call.samples_under(instrument),
            warmup=call.warmup,
            apart=call.apart,
        )
        for call in some
    )
    return MeasureCalls(clock=instrument.clock, calls=rows, copies=copies if copies > 1 else None)


def read_metrics(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[MetricSamples, ...]:
    """Return a metric for each call, in units for one operation, out of the probe's answers.

    A sample is the ticks of its window less those of an empty window, over the operations in it.

    Raises:
        TrialError: An answer is missing, or says something else than was asked for.
    """
    for one in all_of(answers, CallAnswer):
        if len(one.companions) != parameters.copies - 1:
            raise TrialError(
                f"the machine ran {len(one.companions)} copies beside {one.name} instead of"
                f" {parameters.copies - 1}"
            )
    found = _by_perturbation(answers)
    perturbed = {number: some for number, some in found.items() if number}
    return tuple(
        _perturbed_metric(call, perturbed, instrument)
        if call.moves and perturbed
        else _metric(call, found[0], call.samples_under(instrument), instrument)
        for call in chosen_calls(parameters)
    )


def windows(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[Windows, ...]:
    """Return the windows in their order: those with nothing in them, and each call's."""
    by_name = {call.name: call for call in chosen_calls(parameters)}
    found: list[Windows] = []
    numbers: list[int] = []
    for answer in answers:
        if isinstance(answer, PerturbedAnswer):
            numbers.append(answer.number)
        elif isinstance(answer, ClockAnswer):
            found.append(Windows(None, answer.overhead))
        elif isinstance(answer, CallAnswer):
            call = by_name[answer.name]
            found.append(
                Windows(
                    call.name,
                    answer.samples,
                    before=call.warmup,
                    operations=call.batch_under(instrument) * call.operations,
                    number=numbers[-1] if len(numbers) > 1 else 0,
                )
            )
    return tuple(found)


def observe_counters(answers: Sequence[Answer]) -> tuple[Observed, ...]:
    """Return the processor's counts of an operation of each call, where it counts."""
    operations = {name: call.operations for name, call in known_calls().items()}
    return counters.observations_of_calls(all_of(answers, CallAnswer), operations)


def _by_perturbation(answers: Sequence[Answer]) -> dict[int, list[Answer]]:
    """Return the answers under each perturbation, by its number; 0 is none."""
    found: dict[int, list[Answer]] = {0: []}
    number = 0
    for answer in answers:
        if isinstance(answer, PerturbedAnswer):
            number = answer.number
        found.setdefault(number, []).append(answer)
    return found


def _perturbed_metric(
    call: MeasuredCall, answers: Mapping[int, Sequence[Answer]], instrument: Instrument
) -> MetricSamples:
    """Return the metric of a call that was measured under perturbations."""
    each = {
        number: _metric(call, some, PERTURBED_SAMPLES, instrument)
        for number, some in answers.items()
    }
    first, *others = each
    return each[first].model_copy(
        update={
            "perturbed": {number: each[number].samples for number in others},
            "lost": sum(one.lost for one in each.values()),
        }
    )


def _metric(
    call: MeasuredCall, answers: Sequence[Answer], expected: int, instrument: Instrument
) -> MetricSamples:
    answer = find(answers, CallAnswer, call.name)
    if answer is None:
        raise TrialError(f"the machine did not measure {call.name}")
    ticks = answer.samples
    if len(ticks) != expected:
        raise TrialError(
            f"the machine gave {len(ticks)} samples of {call.name} instead of {expected}"
        )
    audit = answer.audit
    audited = audit is not None and (answer.uid, answer.loginuid) != (USER, USER)
    if answer.uid == ROOT or audited:
        raise TrialError(
            f"{call.name} ran as user {answer.uid} with login user {answer.loginuid},"
            f" not as {USER}: rules that test who acts would not be measured"
        )
    empty = min(only(answers, ClockAnswer).overhead)
    # A machine whose clock is slow to read makes windows some times as long.
    if not answer.batch or answer.batch % call.batch_under(instrument):
        raise TrialError(
            f"the machine measured {call.name} {answer.batch} at a time, which was not asked for"
        )
    operations = answer.batch * call.operations
    return MetricSamples(
        metric=call.name,
        unit=instrument.per_op,
        samples=tuple((tick - empty) / operations for tick in ticks),
        fired=None if audit is None else audit.by_key,
        lost=0 if audit is None else audit.lost,
    )


KIND = WorkloadKind(
    name=NAME,
    title="the cost of single system calls, such as open and fork",
    parameters=Parameters,
    audit_note=AUDIT_NOTE,
    guest="small",
    requests=requests,
    perturbed=requests,
    measured=read_metrics,
    moves=moves,
    windows=windows,
    counted=observe_counters,
)
