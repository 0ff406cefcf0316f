"""Estimates: a value with its interval, from the raw samples of one or more trials."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy import special  # scipy.stats would say the same, but takes half a second to import

from hardcost.analysis.estimates import bootstrap
from hardcost.errors import TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.names import instrument_named
from hardcost.model.finding.bill import Total
from hardcost.model.finding.cell import Cell
from hardcost.model.role import Baseline, Role
from hardcost.model.workload import MetricId, Workload, metric_among
from hardcost.plan.factorial import block_of
from hardcost.plan.plan import Plan
from hardcost.store.record import Record
from hardcost.workloads import syscalls

CONFIDENCE = 0.95
FEWEST_RANKED = 5
"""So many draws have a range that holds the median in about 95 % of cases."""

_GRID = 1024  # estimates are multiples of 1/1024 of a unit, so that sums of them are exact


@dataclass(frozen=True)
class Estimate:
    """A value and its interval, in the metric's unit; all three equal where nothing varies."""

    value: float
    low: float
    high: float


_UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"))

SeriesKey = tuple[int, int]
"""Seed, and repetition or perturbation: the key that pairs trials of two configurations."""


@dataclass(frozen=True)
class Series:
    """One metric under one configuration: samples and their median by key, all in `unit`.

    `drawn`: the trials are draws of an exact instrument, each under another perturbation. In place
    of medians they have interquartile means: windows often alternate between two lengths, of which
    a median says only which is the more frequent, and a mean in what shares they occur. `chance` is
    by how much rare draws move the mean, in `unit`. `timed`: the instrument is not exact, so that
    trials measured together are alike, and what the n-th sample of each has in common is nothing.
    `long_turns` is the mean of the trials' medians at longer turns of several processors.
    """

    unit: str
    samples: Mapping[SeriesKey, tuple[float, ...]]
    medians: Mapping[SeriesKey, Estimate]
    drawn: bool = False
    chance: float = 0.0
    timed: bool = False
    long_turns: float | None = None

    @property
    def minimum(self) -> float:
        """The smallest sample of all trials."""
        return on_grid(min(min(samples) for samples in self.samples.values()))


def on_grid(number: float) -> float:
    """Return `number` as the nearest multiple of 1/1024, whose sums and differences are exact."""
    return round(number * _GRID) / _GRID


def median(samples: Sequence[float]) -> Estimate:
    """Return the median of a trial's samples and its 95 % confidence interval, on the grid.

    The interval lies between order statistics. It assumes only independent samples (W. R. Thompson,
    "On confidence ranges for the median", 1936). Identical samples, usual under an exact
    instrument, give a point. Up to five samples can't give 95 %: then the interval is their whole
    range.
    """
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    count = len(ordered)
    below = max(_binomial_quantile(count) - 1, 0)
    return Estimate(
        on_grid(float(np.median(ordered))),
        on_grid(float(ordered[below])),
        on_grid(float(ordered[count - 1 - below])),
    )


def interquartile_mean(samples: Sequence[float]) -> float:
    """Return the mean of the middle half of samples: those without the quarters at both ends."""
    ordered = sorted(samples)
    ends = len(ordered) // 4
    return math.fsum(ordered[ends : len(ordered) - ends]) / (len(ordered) - 2 * ends)


def mean(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of two or more independent values and its confidence interval.

    Student's t on the mean (W. S. Gosset, "The probable error of a mean", 1908).
    """
    numbers = np.asarray(values, dtype=np.float64)
    middle = float(numbers.mean())
    if float(np.ptp(numbers)) == 0.0:
        return Estimate(middle, middle, middle)
    quantile = float(special.stdtrit(len(numbers) - 1, (1 + confidence) / 2))
    half = quantile * float(numbers.std(ddof=1) / math.sqrt(len(numbers)))
    return Estimate(middle, middle - half, middle + half)


def middle_of_draws(values: Sequence[float]) -> Estimate:
    """Return the interquartile mean of independent draws and its 95 % confidence interval.

    Now and then a draw lies far off, since something rare happened in it. The interval lies between
    order statistics, as that of a `median`: such a draw moves one end of it at most, and not the
    estimate. Of five draws it is their range, which has 93.75 %. Fewer than that could not be
    ranked so: they have `mean` and its interval.
    """
    if len(values) < FEWEST_RANKED:
        return mean(values)
    ordered = sorted(values)
    below = max(_binomial_quantile(len(ordered)) - 1, 0)
    return Estimate(interquartile_mean(values), ordered[below], ordered[-1 - below])


def mean_of_trials(trials: Mapping[SeriesKey, float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of an inexact instrument's trials and its confidence interval.

    Trials are drawn by blocks if there are enough of these (`bootstrap`); the values of a few
    trials are taken for independent, as `mean` does.
    """
    blocks: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    for key, one in trials.items():
        blocks[block_of(*key)].append(one)
    if len(blocks) < bootstrap.FEWEST_BLOCKS:
        return mean(list(trials.values()), confidence)
    means = [math.fsum(some) / len(some) for some in blocks.values()]
    return Estimate(*bootstrap.interval(means, confidence))


@cache
def _binomial_quantile(count: int) -> int:
    """Return the lower 2.5 % quantile of how many of `count` tosses of a coin are heads."""
    at_most = special.bdtr(np.arange(count), count, 0.5)
    return int(np.searchsorted(at_most, (1 - CONFIDENCE) / 2))


Measurement = tuple[Role, Workload, str]
"""A configuration's role, a workload and a metric, which together name a measurement."""


def series_of(records: Sequence[Record]) -> dict[Measurement, Series]:
    """Return the trials of every metric, by role, workload and metric, in their order.

    What one trial measured several times, each under a perturbation, counts as several trials.
    """
    facts: dict[Measurement, tuple[str, Instrument]] = {}
    gathered: defaultdict[Measurement, dict[SeriesKey, tuple[float, ...]]] = defaultdict(dict)
    longer: defaultdict[Measurement, list[float]] = defaultdict(list)
    for record in records:
        for metric in record.measured:
            key = (record.role, record.workload, metric.metric)
            facts.setdefault(key, (metric.unit, instrument_named(record.instrument)))
            if metric.long_turns:
                longer[key].append(median(metric.long_turns).value)
            for number, samples in {record.repetition: metric.samples, **metric.perturbed}.items():
                gathered[key][record.seed, number] = samples
    found = {key: _series(key, trials, *facts[key]) for key, trials in gathered.items()}
    for key, values in longer.items():
        found[key] = replace(found[key], long_turns=on_grid(math.fsum(values) / len(values)))
    return found


def _series(
    key: Measurement,
    trials: Mapping[SeriesKey, tuple[float, ...]],
    unit: str,
    instrument: Instrument,
) -> Series:
    _, workload, metric = key
    drawn = instrument.exact and len({number for _, number in trials}) > 1
    call = syscalls.known_calls().get(metric) if workload.name in syscalls.OF_CALLS else None
    return Series(
        unit=unit,
        samples=trials,
        medians={
            pair: _point_estimate(interquartile_mean(samples)) if drawn else median(samples)
            for pair, samples in trials.items()
        },
        drawn=drawn,
        chance=call.chance if call is not None and instrument.exact else 0.0,
        timed=not instrument.exact,
    )


def _point_estimate(value: float) -> Estimate:
    return Estimate(on_grid(value), on_grid(value), on_grid(value))


def by_metric(records: Sequence[Record]) -> dict[MetricId, dict[Role, Series]]:
    """Return the trials of every metric by role; workloads, if several, prefix names."""
    known = series_of(records)
    workloads = {workload for _, workload, _ in known}
    metrics: dict[MetricId, dict[Role, Series]] = {}
    for (role, workload, metric), trials in known.items():
        metrics.setdefault(metric_among(workloads, workload, metric), {})[role] = trials
    return metrics


def total(metric: MetricId, known: Mapping[Role, Series], role: Role, least: float = 0.0) -> Total:
    """Return the cost of a `role` over the baseline on a metric, sample by sample."""
    profile, baseline = known[role], known[Baseline()]
    base, cost = value(baseline).value, shift(profile, baseline).value
    return Total(metric, profile.unit, base, base + cost, cost, least)


def value(of: Series) -> Estimate:
    """Return the estimate of a metric: the one trial's median, or the mean of several."""
    found = {key: one.value for key, one in of.medians.items()}
    return next(iter(of.medians.values())) if len(found) == 1 else _mean(of, found)


def shift(of: Series, against: Series) -> Estimate:
    """Return by how much `of` exceeds `against`: the cost of the difference between them.

    Samples are compared pairwise, since the n-th sample of both meets the kernel in the same phase
    (its page lists fill and drain). This removes that source of spread, which a difference of
    medians keeps. One pair of trials gives the median of the samples' differences with its
    interval; several give the mean of these medians, or of draws the interquartile mean of those.

    Of two runs of a program, one may have more samples; unpaired samples are left out. Trials of an
    inexact instrument are compared by their medians.

    Raises:
        TrialError: They have no trial in common.
    """
    shifts = {
        key: [a - b for a, b in _sample_pairs(of.samples[key], against.samples[key])]
        for key in _common(of, against)
    }
    if len(shifts) == 1:
        return median(next(iter(shifts.values())))
    if of.timed:
        return _mean(of, {k: of.medians[k].value - against.medians[k].value for k in shifts})
    if of.drawn:
        return _mean(of, {key: interquartile_mean(one) for key, one in shifts.items()})
    return _mean(of, {key: median(one).value for key, one in shifts.items()})


def _mean(of: Series, values: Mapping[SeriesKey, float]) -> Estimate:
    """Return the mean over trials, of draws that of their middle half, and an honest interval.

    It is not narrower than chance may make it.

    Draws often agree to the instruction, while one in twenty or forty would not: of those a few
    draws know nothing.
    """
    if of.timed:
        found = mean_of_trials(values)
    else:
        found = (middle_of_draws if of.drawn else mean)(list(values.values()))
    low = min(found.low, found.value - of.chance)
    high = max(found.high, found.value + of.chance)
    return _estimate_on_grid(Estimate(found.value, low, high))


def ratio(of: Series, against: Series) -> Estimate:
    """Return `of` / `against`: the geometric mean over the pairs; NaN where a value is not > 0."""
    common = _common(of, against)
    pairs = [(of.medians[key], against.medians[key]) for key in common]
    if any(min(a.low, a.value, b.low, b.value) <= 0 for a, b in pairs):
        return _UNKNOWN
    if of is against:  # which its medians' own intervals would leave in doubt
        return Estimate(1.0, 1.0, 1.0)
    a, b = pairs[0]
    # Trials that agree to the last digit add nothing to one of them.
    if all(pair == pairs[0] for pair in pairs):
        return Estimate(a.value / b.value, a.low / b.high, a.high / b.low)
    ratios = [a.value / b.value for a, b in pairs]
    if of.drawn:
        return middle_ratio(ratios)
    if not of.timed:
        return mean_ratio(ratios)
    logarithms = {key: math.log(one) for key, one in zip(common, ratios, strict=True)}
    return _exponentiate(mean_of_trials(logarithms))


def cells(plan: Plan, records: Sequence[Record]) -> tuple[Cell, ...]:
    """Return a cell for each configuration, workload and metric, in the plan's order.

    If the baseline's trial failed, a cell has nothing to be compared with: NaN.
    """
    known = series_of(records)
    order = {configuration.role: at for at, configuration in enumerate(plan.configurations)}
    keys = sorted(known, key=lambda key: order[key[0]])
    every = sorted({pair for one in known.values() for pair in one.medians})
    base = {one.role: plan.baseline_of(one) for one in plan.configurations}
    return tuple(
        _cell(key, known[key], base[key[0]], known.get((base[key[0]], *key[1:])), every)
        for key in keys
    )


def _cell(
    key: Measurement,
    mine: Series,
    against: Role,
    baseline: Series | None,
    every: Sequence[SeriesKey],
) -> Cell:
    role, workload, metric = key
    estimate = value(mine)
    by, difference = _UNKNOWN, float("nan")
    if baseline is not None and mine.medians.keys() & baseline.medians.keys():
        by, difference = ratio(mine, baseline), estimate.value - value(baseline).value
    return Cell(
        configuration=role,
        workload=workload,
        metric=metric,
        unit=mine.unit,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        minimum=mine.minimum,
        trials=len(mine.medians),
        baseline=against,
        difference=difference,
        ratio=by.value,
        ratio_low=by.low,
        ratio_high=by.high,
        each=tuple(one.value for _, one in sorted(mine.medians.items())),
        ratios=_ratios(mine, baseline, every),
        long_turns=mine.long_turns,
    )


def _ratios(mine: Series, baseline: Series | None, every: Sequence[SeriesKey]) -> tuple[float, ...]:
    """Return the ratio of each pair, NaN where one of the two has none; () of a single pair."""
    if baseline is None or len(mine.medians) == 1:
        return ()
    return tuple(
        mine.medians[key].value / baseline.medians[key].value
        if key in mine.medians and key in baseline.medians and baseline.medians[key].value
        else float("nan")
        for key in every
    )


def _common(of: Series, against: Series) -> list[SeriesKey]:
    """Return the seeds and repetitions that both were measured with."""
    keys = [key for key in of.medians if key in against.medians]
    if not keys:
        raise TrialError("two configurations were measured with no seed in common")
    return keys


def _sample_pairs(a: Sequence[float], b: Sequence[float]) -> list[tuple[float, float]]:
    return list(zip(a, b, strict=False))


def mean_ratio(ratios: Sequence[float]) -> Estimate:
    """Return the geometric mean of several ratios above 0, and its interval, as of `mean`."""
    return _exponentiate(mean([math.log(one) for one in ratios]))


def middle_ratio(ratios: Sequence[float]) -> Estimate:
    """Return the middle of several ratios above 0, and its interval, as of `middle_of_draws`."""
    return _exponentiate(middle_of_draws([math.log(one) for one in ratios]))


def _exponentiate(logarithm: Estimate) -> Estimate:
    return Estimate(*(math.exp(x) for x in (logarithm.value, logarithm.low, logarithm.high)))


def _estimate_on_grid(estimate: Estimate) -> Estimate:
    return Estimate(*(on_grid(x) for x in (estimate.value, estimate.low, estimate.high)))
