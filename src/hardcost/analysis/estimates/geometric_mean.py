"""How much worse a configuration is over many metrics: one figure, as published sources give it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from hardcost.analysis.estimates.estimates import Estimate, mean_ratio, middle_ratio
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import MeanPenalty
from hardcost.model.role import Role
from hardcost.model.workload import Workload
from hardcost.units import is_rate

_PER_OPERATION, _COUNTED = "/op", "insn"
_ROUNDING = 1e-12  # relative: ratios of exact counts, which have no resolution, are rounded too


def cost_ratio(cell: Cell) -> float:
    """Return the cost as a multiple of the baseline's: for a rate, the inverse ratio. Or NaN."""
    return _inverse(cell, cell.ratio)


def _inverse(cell: Cell, ratio: float) -> float:
    if not is_rate(cell.unit):
        return ratio
    return 1 / ratio if ratio else math.nan


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean of positive ratios; NaN of none.

    The mean for ratios: unlike the arithmetic one it is the same whichever side is the baseline
    (P. J. Fleming and J. J. Wallace, "How not to lie with statistics: the correct way to summarize
    benchmark results", Communications of the ACM 29(3), 1986).
    """
    if not ratios:
        return math.nan
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))


def mean_penalties(cells: Sequence[Cell]) -> tuple[MeanPenalty, ...]:
    """Return the means of each configuration but its own baseline, in the cells' order.

    Those of each workload come first, then that of all workloads if there are several. Each metric
    of each workload counts once, however many metrics its workload has.
    """
    cells = _without_sums(cells)
    workloads: list[Workload | None] = list(dict.fromkeys(cell.workload for cell in cells))
    if len(workloads) > 1:
        workloads.append(None)
    means = []
    for name in dict.fromkeys(c.configuration for c in cells if c.configuration != c.baseline):
        own = [cell for cell in cells if cell.configuration == name]
        for workload in workloads:
            some = [cell for cell in own if workload in {None, cell.workload}]
            if some:
                means.append(_mean(name, workload, some))
    return tuple(means)


def _without_sums(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that are not sums of others."""
    single = {cell.workload for cell in cells if cell.unit.endswith(_PER_OPERATION)}
    return [c for c in cells if c.workload not in single or c.unit.endswith(_PER_OPERATION)]


def _mean(configuration: Role, workload: Workload | None, cells: Sequence[Cell]) -> MeanPenalty:
    ratios = [cost_ratio(cell) for cell in cells]
    known = list(_usable_ratios(ratios))
    interval = _interval(_comparable(cells))
    return MeanPenalty(
        configuration=configuration,
        workload=workload,
        baseline=cells[0].baseline,
        ratio=geometric_mean(known),
        metrics=len(known),
        unknown=len(ratios) - len(known),
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
    )


def _comparable(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if math.isfinite(cell.ratio) and cell.ratio > 0]


def _interval(cells: Sequence[Cell]) -> Estimate | None:
    """Return the mean over pairs of trials of the pairs' own means; None of fewer than two pairs.

    Draws of an exact instrument have the mean of their middle half.
    """
    means = list(_of_pairs(cells).values())
    return _middle(means, cells) if len(means) > 1 else None


def _of_pairs(cells: Sequence[Cell]) -> dict[int, float]:
    """Return the mean of each pair of trials over the cells, by the pair's number.

    A cell of a single trial enters each pair with the same ratio. A pair that lacks a metric which
    others have is left out.
    """
    found = {}
    for at in range(max((len(cell.ratios) for cell in cells), default=0)):
        own = [
            _inverse(cell, cell.ratios[at]) if cell.ratios else cost_ratio(cell) for cell in cells
        ]
        if all(math.isfinite(ratio) and ratio > 0 for ratio in own):
            found[at] = geometric_mean(own)
    return found


def _middle(means: Sequence[float], cells: Sequence[Cell]) -> Estimate:
    drawn = all(cell.unit.startswith(_COUNTED) for cell in cells)
    return middle_ratio(means) if drawn else mean_ratio(means)


def distinguishable(cells: Sequence[Cell], others: Sequence[Cell]) -> bool:
    """Say whether two configurations' means over the same metrics differ by more than chance.

    They are compared pair by pair. Where they have a single trial, their intervals must be apart;
    exact counts have points, and draws their resolution.
    """
    cells, others = _comparable(_without_sums(cells)), _comparable(_without_sums(others))
    known = {(cell.workload, cell.metric) for cell in cells}
    known &= {(cell.workload, cell.metric) for cell in others}
    mine, theirs = (
        [c for c in some if (c.workload, c.metric) in known] for some in (cells, others)
    )
    if not known:
        return False
    a, b = _of_pairs(mine), _of_pairs(theirs)
    ratios = [a[at] / b[at] for at in a if at in b]
    if len(ratios) > 1:
        by = _middle(ratios, [*mine, *theirs])
        return not by.low <= 1 <= by.high
    (low, high), (other_low, other_high) = _bounds(mine), _bounds(theirs)
    coarse = max(_ROUNDING, *(cell.resolution for cell in (*mine, *theirs)))
    return max(low / other_high, other_low / high) > 1 + coarse


def _bounds(cells: Sequence[Cell]) -> tuple[float, float]:
    """Return the means of the lower and of the upper ends of the cells' costs."""
    ends = [
        sorted((_inverse(cell, cell.ratio_low), _inverse(cell, cell.ratio_high))) for cell in cells
    ]
    return geometric_mean([low for low, _ in ends]), geometric_mean([high for _, high in ends])


def _usable_ratios(ratios: Iterable[float]) -> Iterable[float]:
    return (ratio for ratio in ratios if math.isfinite(ratio) and ratio > 0)
