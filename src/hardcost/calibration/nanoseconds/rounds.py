"""Rule sets, timed on a machine that is there already: in rounds, each in an order of its own.

A round measures every set once, in one trial each; the next has the reverse order. Rounds are what
intervals come from, since the trials of one share what the machine did meanwhile.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hardcost.analysis.estimates.bootstrap import FEWEST_BLOCKS
from hardcost.analysis.estimates.disturbance import disturbances
from hardcost.calibration.nanoseconds.rule_sets import TimedSet
from hardcost.errors import InputError, TrialError
from hardcost.instruments.time import TIME
from hardcost.machines.machine import Execution, Machine
from hardcost.mechanisms.audit import PREAMBLE
from hardcost.protocol.answers import Answer, AuditAnswer, CallAnswer, ClockAnswer, all_of, only
from hardcost.protocol.ask import make
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import USER, Audit, CallPlan, MeasureCalls, Request
from hardcost.workloads import syscalls

ROUNDS = FEWEST_BLOCKS
"""Rounds that are measured: as few as can be resampled."""

TimedLevel = dict[str, dict[str, float]]
"""Nanoseconds of one operation, by set and operation, in one round."""

_LIMIT_SECONDS = 600.0  # of one trial, on a machine that is slow or busy
_CHANGES = frozenset({"audit", "make"})


@dataclass(frozen=True)
class Timed:
    """The measurements of each round; `disturbed` of its `trials` were measured again once."""

    rounds: tuple[TimedLevel, ...]
    trials: int
    disturbed: int


class Needed(NamedTuple):
    """Paths that have to exist because rules name them."""

    directories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class TimedSetRequest:
    """A set, and the paths that have to exist because it names them."""

    rules: TimedSet
    watched: Needed


def check(machine: Machine) -> None:
    """Check that times can be measured under audit rules there.

    Raises:
        InputError: They can't.
    """
    able = machine.capabilities
    if TIME.name not in able.instruments or able.kernels:
        raise not_running_error(machine.name)
    if able.requests is not None and not able.requests >= _CHANGES:
        raise InputError(
            f"{machine.name} is not to be changed, and its prices are measured under audit rules",
            hint="--yes, said by root, has rules loaded for each trial and taken out after it",
        )


def not_running_error(name: str) -> InputError:
    """Return the error of a machine that boots for each trial: its times are an emulator's."""
    return InputError(
        f"prices in nanoseconds are those of a machine that runs already, and {name} is none",
        hint="such machines are host and ssh:root@HOST",
    )


async def time_rounds(
    machine: Machine, sets: Sequence[TimedSetRequest], rounds: int, hear: Callable[[int, int], None]
) -> Timed:
    """Time all sets in so many rounds; `hear` gets how many trials of how many are done.

    Raises:
        InputError: auditctl refuses a rule.
        MachineError: A trial failed.
    """
    order = list(sets)
    shuffled = random.Random(rounds)  # noqa: S311  (an order, not a secret)
    found: list[TimedLevel] = []
    disturbed = 0
    done = itertools.count(1)
    for number in range(rounds):
        if number % 2:
            order.reverse()
        else:
            shuffled.shuffle(order)
        level: TimedLevel = {}
        for one in order:
            execution = await _trial(machine, one)
            if disturbances(execution.surroundings, execution.host_seconds):
                disturbed += 1
                execution = await _trial(machine, one)
            level[one.rules.name] = _levels(execution.answers, one.rules)
            hear(next(done), rounds * len(sets))
        found.append(level)
    return Timed(tuple(found), rounds * len(sets), disturbed)


async def _trial(machine: Machine, one: TimedSetRequest) -> Execution:
    rules = one.rules.rules
    lines = (*PREAMBLE, *rules) if rules else ()
    watched = one.watched
    job: list[Request] = [
        *([make(watched.directories, watched.files)] if any(watched) else []),
        Audit(rules="".join(f"{line}\n" for line in lines)),
        MeasureCalls(clock=TIME.clock, calls=tuple(_plans(one.rules.processes))),
    ]
    return await machine.execute(Boot(), job, _LIMIT_SECONDS)


def _plans(processes: Mapping[str, int]) -> Iterator[CallPlan]:
    calls = syscalls.calls()
    for name, number in processes.items():
        call = calls[name]
        plan = CallPlan(
            name=name,
            batch=call.batch_under(TIME),
            samples=call.samples_under(TIME),
            warmup=call.warmup,
            apart=call.apart,
        )
        yield from itertools.repeat(plan, number)


def _levels(answers: Sequence[Answer], one: TimedSet) -> dict[str, float]:
    """Return the mean over processes of the medians of their windows, by operation."""
    loaded = only(answers, AuditAnswer)
    if loaded.loaded != len(one.rules):
        said = (loaded.stderr.strip() or "nothing")[:300]
        raise InputError(
            f"the machine holds {loaded.loaded} of {len(one.rules)} rules; auditctl said: {said}"
        )
    empty = min(only(answers, ClockAnswer).overhead)
    medians: defaultdict[str, list[float]] = defaultdict(list)
    for answer in all_of(answers, CallAnswer):
        if not answer.samples or not answer.batch or answer.loginuid != USER:
            raise TrialError(f"the machine did not measure {answer.name} as it should have")
        operations = answer.batch * syscalls.calls()[answer.name].operations
        medians[answer.name].append((statistics.median(answer.samples) - empty) / operations)
    missing = [name for name, number in one.processes.items() if len(medians[name]) != number]
    if missing:
        raise TrialError(f"the machine did not measure {missing[0]} as often as it was asked to")
    return {name: math.fsum(each) / len(each) for name, each in medians.items()}
