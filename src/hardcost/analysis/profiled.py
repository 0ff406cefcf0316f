"""Where a cost arises: by how much each function's own instructions differ.

A metric's cost is the median of the differences between samples, pair by pair. So it is the
difference of one pair, or the mean of two; and what the functions of just these windows executed
adds up to it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from hardcost.analysis.estimates import series as series_of
from hardcost.analysis.estimates import shift, value
from hardcost.analysis.finding import CLOCK, Moved, Profiled, Stack
from hardcost.errors import TrialError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hardcost.instruments.windows import Profile
    from hardcost.instruments.windows import Profiled as Seen
    from hardcost.store.record import Record
    from hardcost.workloads.measured import Measured

Path = tuple[str, ...]
Counts = dict[Path, float]
ByName = dict[str, float]


def profiled(records: Sequence[Record], before: str, after: str) -> tuple[Profiled, ...]:
    """Return where the cost of `after` over `before` arises, for each metric.

    Raises:
        TrialError: A trial was not profiled.
    """
    known = series_of(records)
    found = []
    for configuration, workload, metric in known:
        if configuration != before:
            continue
        of, against = known[after, workload, metric], known[before, workload, metric]
        sides = _sides(records, (before, after), workload, metric)
        found.append(
            Profiled(
                workload=workload,
                metric=metric,
                unit=of.unit,
                before=before,
                after=after,
                value=value(against).value,
                cost=shift(of, against).value,
                functions=_functions(*sides),
                stacks=_stacks(*sides),
            )
        )
    return tuple(found)


def _sides(
    records: Sequence[Record], names: tuple[str, str], workload: str, metric: str
) -> tuple[Counts, Counts]:
    """Return the two configurations' instructions by stack, for one operation."""
    trials = [
        {
            (record.seed, record.repetition): record
            for record in records
            if record.configuration == name and record.workload == workload
        }
        for name in names
    ]
    keys = [key for key in trials[0] if key in trials[1]]
    sides: tuple[Counts, Counts] = (defaultdict(float), defaultdict(float))
    for key in keys:
        pair = [trial[key] for trial in trials]
        measured = [_measured(record, metric) for record in pair]
        chosen = list(_chosen(measured[0].samples, measured[1].samples))
        weight = 1 / (len(keys) * len(chosen))
        for side, record, one in zip(sides, pair, measured, strict=True):
            for sample in chosen:
                for path, count in _window(record, one, sample).items():
                    side[path] += count * weight
    return sides


def _measured(record: Record, metric: str) -> Measured:
    return next(one for one in record.measured if one.metric == metric)


def _chosen(before: Sequence[float], after: Sequence[float]) -> Iterator[int]:
    """Yield the numbers of the samples whose difference is the median, or the two around it."""
    differences = [b - a for a, b in zip(before, after, strict=False)]
    order = np.argsort(np.asarray(differences), kind="stable")
    count = len(differences)
    for place in {(count - 1) // 2, count // 2}:
        wanted = differences[int(order[place])]
        yield differences.index(wanted)


def _window(record: Record, measured: Measured, sample: int) -> Counts:
    """Return a sample's instructions by stack, which add up to the sample.

    Raises:
        TrialError: It was not profiled.
    """
    profile = record.profile
    seen = None if profile is None else _seen(profile, measured.metric)
    if profile is None or seen is None:
        raise TrialError(f"{record.configuration}, {record.workload}: it was not profiled")
    paths = _paths(profile)
    counts: Counts = {
        paths[number]: count / seen.operations
        for number, count in seen.windows[seen.samples[sample]].items()
    }
    rest = measured.samples[sample] - seen.ticks[sample] / seen.operations
    if rest:
        counts[CLOCK,] = rest
    return counts


def _seen(profile: Profile, metric: str) -> Seen | None:
    return next((one for one in profile.metrics if one.metric == metric), None)


def _paths(profile: Profile) -> list[Path]:
    """Return the names from the process to the function, by the number of the frame."""
    paths: list[Path] = [()]
    for frame in profile.frames:
        paths.append((*paths[frame.above], frame.name))
    return paths


def _stacks(before: Counts, after: Counts) -> tuple[Stack, ...]:
    return tuple(
        Stack(path, before.get(path, 0.0), after.get(path, 0.0))
        for path in sorted({*before, *after})
    )


def _functions(before: Counts, after: Counts) -> tuple[Moved, ...]:
    """Return every function, that with the largest difference of its own first."""
    owns = [_own(side) for side in (before, after)]
    totals = [_total(side) for side in (before, after)]
    moved = [
        Moved(
            function=name,
            own_before=owns[0].get(name, 0.0),
            own_after=owns[1].get(name, 0.0),
            total_before=totals[0].get(name, 0.0),
            total_after=totals[1].get(name, 0.0),
        )
        for name in {*totals[0], *totals[1]}
    ]
    return tuple(sorted(moved, key=lambda one: (-abs(one.own), -abs(one.total), one.function)))


def _own(side: Mapping[Path, float]) -> ByName:
    counts: ByName = defaultdict(float)
    for path, count in side.items():
        counts[path[-1]] += count
    return counts


def _total(side: Mapping[Path, float]) -> ByName:
    """Return each function's instructions with those of what it calls; a recursion counts once."""
    counts: ByName = defaultdict(float)
    for path, count in side.items():
        for name in set(path[1:] or path):
            counts[name] += count
    return counts
