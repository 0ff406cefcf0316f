"""The processor's counts of each call, put together over the trials of a configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from hardcost.instruments import counters
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import Role
from hardcost.model.workload import Workload


@dataclass(frozen=True)
class Counted:
    """The median counts for an operation of a call, by event, over the `trials` that have them.

    In `left_out` further trials others needed the counters, too, so that not all was counted.
    """

    configuration: Role
    workload: Workload
    call: str
    counts: Mapping[str, float]
    trials: int
    left_out: int

    @property
    def per_cycle(self) -> float:
        """Instructions for each cycle, of those that are counted together; NaN if none are."""
        # Where only programs are counted there are no instructions of the kernel.
        cycles = self.counts.get("cycles", self.counts.get("cycles:u", 0.0))
        instructions = self.counts.get("instructions:u", math.nan)
        instructions += self.counts.get("instructions:k", 0.0)
        return instructions / cycles if cycles else math.nan


def counts_by_call(finding: StudyFinding) -> tuple[Counted, ...]:
    """Return the counts by call, in the finding's order."""
    seen: dict[tuple[Role, Workload, str], dict[str, list[float]]] = {}
    for one in finding.observed:
        if one.instrument != counters.NAME:
            continue
        for name, value in one.totals.items():
            call, event = counters.call_and_event(name)
            place = seen.setdefault((one.configuration, one.workload, call), {})
            place.setdefault(event, []).append(value)
    return tuple(_counts_of_call(*place, events) for place, events in seen.items())


def _counts_of_call(
    configuration: Role, workload: Workload, call: str, events: Mapping[str, list[float]]
) -> Counted:
    counts = {name: median(of) for name, of in events.items() if name != counters.SHARED}
    return Counted(
        configuration,
        workload,
        call,
        counts,
        trials=max((len(events[name]) for name in counts), default=0),
        left_out=len(events.get(counters.SHARED, ())),
    )
