"""How much worse a configuration is over many metrics: one figure, as published sources give it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.analysis.finding import Cell


_PER_OPERATION = "/op"


@dataclass(frozen=True)
class MeanPenalty:
    """The geometric mean of a configuration's costs, as a multiple of the baseline's.

    If a workload has metrics for each operation, only these count: the others are their sums.
    `workload` None stands for all workloads together. `metrics` is the number included, each once;
    `unknown` could not be, since the baseline or the metric has no value. NaN if none was included.
    """

    configuration: str
    workload: str | None
    baseline: str
    ratio: float
    metrics: int
    unknown: int

    @property
    def percent(self) -> float:
        """Return by how many per cent it is worse than the baseline."""
        return 100 * (self.ratio - 1)


def is_rate(unit: str) -> bool:
    """Return whether a higher value of this unit is better."""
    return unit.endswith("/s") or unit == "index"


def cost_ratio(cell: Cell) -> float:
    """Return the cost as a multiple of the baseline's: for a rate, the inverse ratio. Or NaN."""
    if not is_rate(cell.unit):
        return cell.ratio
    return 1 / cell.ratio if cell.ratio else math.nan


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
    cells = _apart(cells)
    workloads: list[str | None] = list(dict.fromkeys(cell.workload for cell in cells))
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


def _apart(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that are not sums of others."""
    single = {cell.workload for cell in cells if cell.unit.endswith(_PER_OPERATION)}
    return [c for c in cells if c.workload not in single or c.unit.endswith(_PER_OPERATION)]


def _mean(configuration: str, workload: str | None, cells: Sequence[Cell]) -> MeanPenalty:
    ratios = [cost_ratio(cell) for cell in cells]
    known = list(_known(ratios))
    return MeanPenalty(
        configuration=configuration,
        workload=workload,
        baseline=cells[0].baseline,
        ratio=geometric_mean(known),
        metrics=len(known),
        unknown=len(ratios) - len(known),
    )


def _known(ratios: Iterable[float]) -> Iterable[float]:
    return (ratio for ratio in ratios if math.isfinite(ratio) and ratio > 0)
