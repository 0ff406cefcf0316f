"""Estimates: a value with its interval, out of the raw samples of one or more trials."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from hardcost.analysis.finding import Cell
from hardcost.errors import TrialError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.design.plan import Plan
    from hardcost.store.record import Record
    from hardcost.workloads.measured import Measured

CONFIDENCE = 0.95
_GRID = 1024  # estimates are multiples of 1/1024 of a unit, so that sums of them are exact


@dataclass(frozen=True)
class Estimate:
    """A value and its interval, in the metric's unit; all three equal where nothing varies."""

    value: float
    low: float
    high: float


Key = tuple[int, int]
"""Seed and repetition: what pairs a trial of one configuration with one of another."""


@dataclass(frozen=True)
class Series:
    """One metric under one configuration, by seed and repetition.

    `medians` and `minima` are over a trial's samples, in `unit`.
    """

    unit: str
    medians: Mapping[Key, float]
    minima: Mapping[Key, float]


def on_grid(number: float) -> float:
    """Return `number` as the nearest multiple of 1/1024, whose sums and differences are exact."""
    return round(number * _GRID) / _GRID


def interval(values: Sequence[float]) -> Estimate:
    """Return the mean of independent values and its 95 % confidence interval.

    Student's t on the mean (W. S. Gosset, "The probable error of a mean", 1908). One value has no
    interval of its own: low and high are the value.
    """
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean())
    if len(numbers) == 1 or float(np.ptp(numbers)) == 0.0:
        return Estimate(mean, mean, mean)
    error = float(stats.sem(numbers))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(numbers) - 1)) * error
    return Estimate(mean, mean - half, mean + half)


def series(records: Sequence[Record]) -> dict[tuple[str, str, str], Series]:
    """Return every metric's trials, by configuration, workload and metric, in their order."""
    gathered: defaultdict[tuple[str, str, str], dict[Key, Measured]] = defaultdict(dict)
    for record in records:
        for metric in record.measured:
            key = (record.configuration, record.workload, metric.metric)
            gathered[key][record.seed, record.repetition] = metric
    return {
        key: Series(
            unit=next(iter(trials.values())).unit,
            medians={pair: float(np.median(trial.samples)) for pair, trial in trials.items()},
            minima={pair: float(np.min(trial.samples)) for pair, trial in trials.items()},
        )
        for key, trials in gathered.items()
    }


def paired(of: Series, against: Series) -> list[tuple[float, float]]:
    """Return the medians of both, seed by seed and repetition by repetition.

    Raises:
        TrialError: They have no trial in common.
    """
    pairs = [
        (median, against.medians[key])
        for key, median in of.medians.items()
        if key in against.medians
    ]
    if not pairs:
        raise TrialError("two configurations were measured with no seed in common")
    return pairs


def difference(of: Series, against: Series) -> Estimate:
    """Return `of` - `against`, paired, on the grid."""
    estimate = interval([on_grid(a) - on_grid(b) for a, b in paired(of, against)])
    return Estimate(*(on_grid(x) for x in (estimate.value, estimate.low, estimate.high)))


def ratio(of: Series, against: Series) -> Estimate:
    """Return `of` / `against`: the geometric mean over the pairs; NaN where a value is not > 0."""
    pairs = paired(of, against)
    if any(a <= 0 or b <= 0 for a, b in pairs):
        return Estimate(float("nan"), float("nan"), float("nan"))
    if all(pair == pairs[0] for pair in pairs):
        exact = pairs[0][0] / pairs[0][1]
        return Estimate(exact, exact, exact)
    logarithm = interval([float(np.log(a / b)) for a, b in pairs])
    return Estimate(*(float(np.exp(x)) for x in (logarithm.value, logarithm.low, logarithm.high)))


def cells(plan: Plan, records: Sequence[Record]) -> tuple[Cell, ...]:
    """Return a cell for each configuration, workload and metric, in the plan's order."""
    known = series(records)
    order = {configuration.name: at for at, configuration in enumerate(plan.configurations)}
    keys = sorted(known, key=lambda key: order[key[0]])
    return tuple(_cell(plan, key, known[key], known[plan.baseline, *key[1:]]) for key in keys)


def _cell(plan: Plan, key: tuple[str, str, str], mine: Series, baseline: Series) -> Cell:
    configuration, workload, metric = key
    estimate = interval([on_grid(median) for median in mine.medians.values()])
    by = ratio(mine, baseline)
    return Cell(
        configuration=configuration,
        workload=workload,
        metric=metric,
        unit=mine.unit,
        value=on_grid(estimate.value),
        low=on_grid(estimate.low),
        high=on_grid(estimate.high),
        minimum=on_grid(min(mine.minima.values())),
        trials=len(mine.medians),
        baseline=plan.baseline,
        difference=difference(mine, baseline).value,
        ratio=by.value,
        ratio_low=by.low,
        ratio_high=by.high,
    )
