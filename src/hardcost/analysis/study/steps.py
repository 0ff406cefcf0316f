"""Changes from one level of an axis to the next, such as from kernel to kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hardcost.analysis.change.comparison import compare_cells
from hardcost.analysis.study.axes import level_of, name_of_levels
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import LevelChange, StudyFinding
from hardcost.model.role import AxisLevel, Role

WHATEVER = "every other axis at its default"


@dataclass(frozen=True)
class AxisPath:
    """A state at each level of the axis: (level, configuration), in their order."""

    state: str
    points: tuple[tuple[str, Role], ...]


def lines(finding: StudyFinding) -> tuple[AxisPath, ...]:
    """Return a line for each state that was measured at two or more levels of the axis."""
    found: dict[tuple[AxisLevel, ...], dict[str, Role]] = {}
    for name, own in finding.levels.items():
        level = level_of(own, finding.successive or "")
        if level is not None:
            others = tuple(one for one in own if one.axis != finding.successive)
            found.setdefault(others, {})[level] = name
    return tuple(
        AxisPath(name_of_levels(others) or WHATEVER, tuple(points.items()))
        for others, points in found.items()
        if len(points) > 1
    )


def changes(finding: StudyFinding) -> Iterator[LevelChange]:
    """Yield each change of each state, workload and metric, from one level to the next."""
    cells: dict[Role, list[Cell]] = {}
    for cell in finding.cells:
        cells.setdefault(cell.configuration, []).append(cell)
    for line in lines(finding):
        for (before, first), (after, second) in pairwise(line.points):
            later = {(cell.workload, cell.metric): cell for cell in cells.get(second, ())}
            for cell in cells.get(first, ()):
                other = later.get((cell.workload, cell.metric))
                if other is not None:
                    later_one = compare_cells(cell, other, first)
                    yield LevelChange(
                        state=line.state,
                        workload=other.workload,
                        metric=other.metric,
                        unit=str(other.unit),
                        before=before,
                        after=after,
                        difference=later_one.difference,
                        ratio=later_one.ratio,
                        least=later_one.least,
                    )
