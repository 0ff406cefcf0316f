"""The smallest cost that is distinguishable from chance, by the apparent cost of placebos.

A placebo is compared just as a control is. Its apparent cost is chance: it depends on where the
kernel's memory happened to lie. A control's cost of the same size may be no more than that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from scipy import special

from hardcost.analysis.estimates.estimates import Series, on_grid, series_of, shift
from hardcost.model.finding.bill import Least
from hardcost.model.finding.cell import Cell
from hardcost.model.role import PlaceboRole, Role, placebo_pairs
from hardcost.model.workload import MetricId, Workload
from hardcost.store.record import Record

FALSE_ALARMS = 0.01
"""The rate at which a control without a cost may seem to have one, if chance is normal."""


def smallest_distinguishable(metric: MetricId, known: Mapping[Role, Series]) -> Least:
    """Return the smallest distinguishable cost on a metric, from its trials by role."""
    shifts = [shift(known[placebo], known[on]).value for placebo, on in placebo_pairs(known)]
    if not shifts:
        return Least(metric, 0.0, 0)
    rare = next(iter(known.values())).chance  # too rare for a bill's own placebos to show it
    return Least(metric, max(rare, placebo_bound(shifts)), len(shifts))


def smallest_costs(metrics: Mapping[MetricId, Mapping[Role, Series]]) -> dict[MetricId, float]:
    """Return the smallest distinguishable cost on each metric, from its trials by role."""
    return {
        metric: smallest_distinguishable(metric, known).cost for metric, known in metrics.items()
    }


def allowing_for_chance(cells: Sequence[Cell], records: Sequence[Record]) -> tuple[Cell, ...]:
    """Return the cells without those of placebos, whose differences bound chance.

    A ratio's interval is as wide as chance at least, so that no difference of that size seems
    exact. Times have intervals of their own.
    """
    metrics: dict[tuple[Workload, str], dict[Role, Series]] = {}
    for (role, workload, metric), trials in series_of(records).items():
        metrics.setdefault((workload, metric), {})[role] = trials
    bounds = {
        (workload, metric): smallest_distinguishable(MetricId(metric, workload), known).cost
        for (workload, metric), known in metrics.items()
        if not any(one.timed for one in known.values())
    }
    names = {cell.configuration for cell in cells}
    return tuple(
        _widen_cell(cell, bounds.get((cell.workload, cell.metric), 0.0))
        for cell in cells
        if not _is_placebo(cell, names)
    )


def _is_placebo(cell: Cell, names: AbstractSet[Role]) -> bool:
    """Say whether a cell is of a placebo of one of the configurations `names`."""
    role = cell.configuration
    return isinstance(role, PlaceboRole) and role.of in names


def _widen_cell(cell: Cell, by: float) -> Cell:
    against = cell.value - cell.difference
    if not by or cell.configuration == cell.baseline or not against > 0:
        return replace(cell, least=by)
    share = by / against
    return replace(
        cell,
        least=by,
        ratio_low=min(cell.ratio_low, cell.ratio - share),
        ratio_high=max(cell.ratio_high, cell.ratio + share),
    )


def placebo_bound(shifts: Sequence[float]) -> float:
    """Return the bound for the next placebo's shift: 0 without any, in the shifts' unit.

    It is at least the largest shift seen. If shifts are normal with mean 0, as for configurations
    without effect, the next one over the root mean square of n of them has Student's distribution
    with n degrees of freedom. The bound is its two-sided quantile for `FALSE_ALARMS`.
    """
    if not shifts:
        return 0.0
    square = math.fsum(one * one for one in shifts) / len(shifts)
    quantile = float(special.stdtrit(len(shifts), 1 - FALSE_ALARMS / 2))
    return on_grid(max(quantile * math.sqrt(square), *map(abs, shifts)))


def interaction_bound(least: float, controls: int, *, fixed: bool = False) -> float:
    """Return the bound for an interaction of so many controls by chance, in `least`'s unit.

    The profile's total less each control's cost contains the profile's own trial `controls` - 1
    times and every other trial once; their variances add up. A cost contains two trials. A `fixed`
    price beside the costs adds six. One control can't interact: the bound is infinite.
    """
    if controls < 2:  # noqa: PLR2004  (two interact)
        return math.inf
    return least * math.sqrt(((controls - 1) ** 2 + controls + 1 + 6 * fixed) / 2)
