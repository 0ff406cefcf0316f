"""The least difference that a machine shows: one state measured as if it were two."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hardcost.analysis.estimates.bootstrap import FEWEST_BLOCKS
from hardcost.analysis.estimates.estimates import SeriesKey, mean_of_trials, median
from hardcost.instruments.time import TIME
from hardcost.machines.machine import Machine
from hardcost.measure.execute import USUAL_LIMITS
from hardcost.protocol.boot import Boot
from hardcost.workloads import syscalls

CALLS = ("null", "stat", "open")
"""The calls that are measured: a cheap one, and two that depend on memory."""

CONFIDENCE = 0.99
_BLOCKS = ("abba", "baab")


@dataclass(frozen=True)
class Resolution:
    """A call's time, and the difference of two equal states, in `unit`.

    [low, high] is the 99 % interval of that difference, whose truth is 0. Half of its width is the
    smallest difference that is distinguishable from chance in as many `blocks`.
    """

    call: str
    unit: str
    value: float
    low: float
    high: float
    blocks: int

    @property
    def smallest(self) -> float:
        """The smallest difference that is distinguishable from chance, in `unit`."""
        return (self.high - self.low) / 2

    @property
    def is_fair(self) -> bool:
        """Whether no difference is found where there is none."""
        return self.low <= 0 <= self.high


async def resolutions(
    machine: Machine, seconds: float, heard: Callable[[float], None]
) -> tuple[Resolution, ...]:
    """Measure for about so many seconds, and return what is found of each call.

    `heard` gets the seconds that are left, after each block.

    Raises:
        MachineError: A trial failed.
    """
    parameters = syscalls.Parameters(calls=CALLS)
    job = syscalls.requests(parameters, TIME)
    sides: dict[str, dict[str, dict[SeriesKey, float]]] = {
        call: {"a": {}, "b": {}} for call in CALLS
    }
    until, blocks = time.monotonic() + seconds, 0
    while blocks < FEWEST_BLOCKS or time.monotonic() < until:
        # In "abba" and "baab" the first two are a pair, and so are the last two.
        for at, side in enumerate(_BLOCKS[blocks % 2]):
            done = await machine.execute(Boot(), job, USUAL_LIMITS["small"])
            for metric in syscalls.read_metrics(parameters, done.answers, TIME):
                known = sides[metric.metric][side]
                known[0, 2 * blocks + at // 2] = median(metric.samples).value
        blocks += 1
        heard(max(0.0, until - time.monotonic()))
    return tuple(
        _resolution_of_call(call, sides[call]["a"], sides[call]["b"], blocks) for call in CALLS
    )


def _resolution_of_call(
    call: str, a: Mapping[SeriesKey, float], b: Mapping[SeriesKey, float], blocks: int
) -> Resolution:
    differences = {key: b[key] - a[key] for key in a}
    found = mean_of_trials(differences, CONFIDENCE)
    value = sum(a.values()) / len(a)
    return Resolution(call, TIME.per_op, value, found.low, found.high, blocks)
