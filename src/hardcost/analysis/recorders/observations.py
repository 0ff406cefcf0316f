"""Observations of the recorders, summed over the trials of a configuration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hardcost.model.finding.observation import ObservedIn
from hardcost.model.finding.study import StudyFinding
from hardcost.model.observation import Observed
from hardcost.model.role import Role
from hardcost.model.workload import Workload

IDLE = "idle"
"""The name under which `cpu` counts the time when no process ran."""

EVENTS = "key:"
"""The prefix of a key among the totals of `audit`."""

OTHERS = "(others)"
"""The name under which small parts are joined."""

_LEAST = 0.02
"""The smallest fraction of a timeline's whole that has a name of its own."""

_QUEUES = frozenset({"backlog"})
"""Series of states, as opposed to counts from row to row."""

_MODES = ("user", "system")
"""The series of `cpu` that say in which mode processes ran."""

_SAMPLED = 5
"""Fewest rows of an interval, for modes: they are sampled about once a row."""

_LOOKED_UP = ("lookups", "misses", "reclaims")
"""The series of `avc` that a timeline shows; the others follow from them."""

_PEAKS = frozenset({"backlog_peak"})
"""Totals combined by maximum instead of mean."""


@dataclass(frozen=True)
class Amounts:
    """One instrument's totals under one configuration: means over `trials`; for peaks, the maximum.

    `own` is the recorder's own cost, as a mean, in ticks; all others are in `unit`.
    """

    configuration: Role
    workload: Workload
    instrument: str
    unit: str
    totals: dict[str, float]
    own: float
    trials: int


@dataclass(frozen=True)
class Shares:
    """The share of the busy processor time of each process under one configuration.

    It covers the measured time if that is known, else the whole recording; means over trials. The
    shares add up to 1, or there are none if nothing was busy. `idle` is the fraction of the same
    time when no process ran, NaN if unknown.
    """

    configuration: Role
    workload: Workload
    parts: dict[str, float]
    idle: float


@dataclass(frozen=True)
class Timeline:
    """Series over time in intervals: `ends` in ticks since recording began, a value for each.

    `what` describes the values.
    """

    what: str
    ends: tuple[float, ...]
    series: dict[str, tuple[float, ...]]


def timelines(observed: Observed, most: int) -> tuple[Timeline, ...]:
    """Return the series of one trial in at most `most` intervals of as many rows each.

    For `cpu` the share of each process (and idle time), then those of programs and of the kernel as
    far as it samples them, in longer intervals. For `avc` counts per million ticks. For all others
    counts in an interval, and the highest of the queue `backlog`.
    """
    names = [n for n, values in observed.series.items() if len(values) == len(observed.times)]
    if not observed.times or not names:
        return ()
    if observed.instrument == "cpu":
        processes = [name for name in names if name not in _MODES]
        modes = [name for name in (*_MODES, IDLE) if name in names]
        sampled = max(1, min(most, len(observed.times) // _SAMPLED))
        parts = (
            _shorten_series(observed, processes, most, "share of the time by process"),
            _shorten_series(observed, modes, sampled, "share of the time by mode, sampled"),
        )
        return tuple(_as_shares(_merge_small(part)) for part in parts if set(part.series) - {IDLE})
    if observed.instrument == "avc":
        shown = [name for name in names if name in _LOOKED_UP]
        return (_as_rates(_shorten_series(observed, shown, most, "counts per million ticks")),)
    return (_shorten_series(observed, names, most, "counts, and the longest queue"),)


def _shorten_series(observed: Observed, names: Sequence[str], most: int, what: str) -> Timeline:
    """Return series in at most `most` intervals of as many rows each."""
    times = observed.times
    rows = -(-len(times) // most)
    starts = range(0, len(times), rows)
    return Timeline(
        what,
        tuple(times[min(at + rows, len(times)) - 1] for at in starts),
        {
            name: tuple(_sum_or_peak(name, observed.series[name][at : at + rows]) for at in starts)
            for name in names
        },
    )


def _sum_or_peak(name: str, values: Sequence[float]) -> float:
    return max(values) if name in _QUEUES else math.fsum(values)


def _merge_small(line: Timeline) -> Timeline:
    """Return `line` with the small series merged into one."""
    sums = {name: math.fsum(values) for name, values in line.series.items()}
    least = _LEAST * math.fsum(sums.values())
    small = [n for n, amount in sums.items() if n == OTHERS or (amount < least and n != IDLE)]
    kept = {name: values for name, values in line.series.items() if name not in small}
    if small:
        columns = zip(*(line.series[name] for name in small), strict=True)
        kept[OTHERS] = tuple(math.fsum(column) for column in columns)
    return replace(line, series=kept)


def _as_shares(line: Timeline) -> Timeline:
    sums = [math.fsum(column) for column in zip(*line.series.values(), strict=True)]
    series = {
        name: tuple(v / whole if whole else 0.0 for v, whole in zip(values, sums, strict=True))
        for name, values in line.series.items()
    }
    return replace(line, series=series)


def _as_rates(line: Timeline) -> Timeline:
    lengths = [end - begin for begin, end in zip((0.0, *line.ends), line.ends, strict=False)]
    series = {
        name: tuple(
            1e6 * v / length if length > 0 else 0.0
            for v, length in zip(values, lengths, strict=True)
        )
        for name, values in line.series.items()
    }
    return replace(line, series=series)


def amounts_of_instrument(finding: StudyFinding, instrument: str) -> tuple[Amounts, ...]:
    """Return an instrument's amounts by workload and configuration, in the finding's order."""
    known: dict[tuple[Workload, Role], list[ObservedIn]] = {}
    for one in finding.observed:
        if one.instrument == instrument:
            known.setdefault((one.workload, one.configuration), []).append(one)
    return tuple(_amounts(trials) for trials in known.values())


def cpu_shares(finding: StudyFinding) -> tuple[Shares, ...]:
    """Return the processes' shares of the busy time, by workload and configuration."""
    seen = tuple(_while_measured(one) for one in finding.observed if one.instrument == "cpu")
    return tuple(
        _shares(amounts)
        for amounts in amounts_of_instrument(replace(finding, observed=seen), "cpu")
    )


@dataclass(frozen=True)
class LoadCounts:
    """The number of requests, mails or transactions in a load, and the counts meanwhile."""

    operations: int
    counted: float

    @property
    def each(self) -> float:
        """Return the count for each operation; NaN if there were none."""
        return self.counted / self.operations if self.operations else math.nan


def counts_during_load(
    finding: StudyFinding, instrument: str, name: str
) -> dict[tuple[Role, Workload], LoadCounts]:
    """Return the counts of the series `name` while a load ran, by configuration and workload.

    If a step of the load begins or ends between two rows, the count between them is divided in
    proportion to time. The trials of a configuration are added. Only load steps count.
    """
    loads: dict[tuple[Role, Workload], LoadCounts] = {}
    for one in finding.observed:
        seen = one
        steps = [step for step in seen.steps if step.operations is not None]
        if seen.instrument != instrument or name not in seen.series or not steps:
            continue
        key = (one.configuration, one.workload)
        before = loads.get(key, LoadCounts(0, 0.0))
        loads[key] = LoadCounts(
            before.operations + sum(step.operations or 0 for step in steps),
            before.counted
            + math.fsum(_count_between(seen, name, step.begin, step.end) for step in steps),
        )
    return loads


def _count_between(seen: Observed, name: str, begin: float, end: float) -> float:
    """Return the counts of a series from `begin` to `end`, rows divided in proportion to time."""
    rows = zip((0.0, *seen.times), seen.times, seen.series[name], strict=False)
    return math.fsum(
        counted * max(0.0, min(end, to) - max(begin, since)) / (to - since)
        for since, to, counted in rows
        if to > since
    )


def _amounts(trials: Sequence[ObservedIn]) -> Amounts:
    names = dict.fromkeys(name for one in trials for name in one.totals)
    first = trials[0]
    return Amounts(
        configuration=first.configuration,
        workload=first.workload,
        instrument=first.instrument,
        unit=first.unit_of_totals,
        totals={
            name: _mean_or_peak(name, [one.totals.get(name, 0.0) for one in trials])
            for name in names
        },
        own=math.fsum(one.own_ticks for one in trials) / len(trials),
        trials=len(trials),
    )


def _mean_or_peak(name: str, values: Sequence[float]) -> float:
    return max(values) if name in _PEAKS else math.fsum(values) / len(values)


def _while_measured(seen: ObservedIn) -> ObservedIn:
    """Return the time of each process in the measured steps, as totals."""
    steps = [step for step in seen.steps if step.is_measured]
    names = [name for name in seen.series if name not in _MODES]
    if not steps or set(names) <= {IDLE}:  # nothing says what was measured, or by whom
        return seen
    totals = {
        name: math.fsum(_count_between(seen, name, step.begin, step.end) for step in steps)
        for name in names
    }
    return seen.model_copy(update={"totals": totals})


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
