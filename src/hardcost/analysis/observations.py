"""What riding instruments saw, summed over the trials of a configuration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.finding import Finding, ObservedIn

IDLE = "idle"
"""The name under which `cpu` counts the time in which no process ran."""

EVENTS = "key:"
"""What stands before a key among the totals of `audit`."""

OPERATIONS = "operations"
"""The name under which the requests, mails or transactions of a watch are counted."""

_PEAKS = frozenset({"backlog_peak"})
"""Totals of which the largest counts, not the mean."""


@dataclass(frozen=True)
class Amounts:
    """One instrument's totals under one configuration: means over `trials`, of peaks the largest.

    `own` is what watching took, as a mean, in ticks; all others are in `unit`.
    """

    configuration: str
    workload: str
    instrument: str
    unit: str
    totals: dict[str, float]
    own: float
    trials: int


@dataclass(frozen=True)
class Shares:
    """Which part of the busy processor time each process had under one configuration.

    The parts add up to 1, unless nothing was busy: then there are none. `idle` is the part of the
    whole watch in which no process ran, NaN where that is unknown.
    """

    configuration: str
    workload: str
    parts: dict[str, float]
    idle: float


def observed_by(finding: Finding, instrument: str) -> tuple[Amounts, ...]:
    """Return what an instrument saw, by workload and configuration, in the finding's order."""
    known: dict[tuple[str, str], list[ObservedIn]] = {}
    for one in finding.observed:
        if one.observed.instrument == instrument:
            known.setdefault((one.workload, one.configuration), []).append(one)
    return tuple(_amounts(trials) for trials in known.values())


def cpu_shares(finding: Finding) -> tuple[Shares, ...]:
    """Return the processes' shares of the busy time, by workload and configuration."""
    return tuple(_shares(amounts) for amounts in observed_by(finding, "cpu"))


def per_operation(amounts: Amounts, name: str) -> float:
    """Return the total called `name` for each operation; NaN where either is not known."""
    operations = amounts.totals.get(OPERATIONS, 0.0)
    return amounts.totals.get(name, math.nan) / operations if operations else math.nan


def _amounts(trials: Sequence[ObservedIn]) -> Amounts:
    names = dict.fromkeys(name for one in trials for name in one.observed.totals)
    first = trials[0]
    return Amounts(
        configuration=first.configuration,
        workload=first.workload,
        instrument=first.observed.instrument,
        unit=first.observed.unit_of_totals,
        totals={
            name: _joined(name, [one.observed.totals.get(name, 0.0) for one in trials])
            for name in names
        },
        own=math.fsum(one.observed.own_ticks for one in trials) / len(trials),
        trials=len(trials),
    )


def _joined(name: str, values: Sequence[float]) -> float:
    return max(values) if name in _PEAKS else math.fsum(values) / len(values)


def _shares(amounts: Amounts) -> Shares:
    busy = {name: ticks for name, ticks in amounts.totals.items() if name != IDLE and ticks > 0}
    whole = math.fsum(busy.values())
    idle = amounts.totals.get(IDLE, math.nan)
    return Shares(
        configuration=amounts.configuration,
        workload=amounts.workload,
        parts={name: ticks / whole for name, ticks in busy.items()},
        idle=idle / (idle + whole) if idle + whole > 0 else math.nan,
    )
