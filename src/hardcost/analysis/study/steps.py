"""What changes from one level of an axis to the next, such as from kernel to kernel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from hardcost.report.comparison import Pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.analysis.finding import Cell, Finding

WHATEVER = "every other axis at its default"


@dataclass(frozen=True)
class Line:
    """A state at each level of the axis: (level, the configuration's name), in their order."""

    state: str
    points: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Change:
    """A metric of a workload in a state, at one level of the axis and at the next."""

    state: str
    before: str
    after: str
    pair: Pair


def lines(finding: Finding) -> tuple[Line, ...]:
    """Return a line for each state that was measured at two or more levels of the axis."""
    found: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for name, own in finding.levels.items():
        level = dict(own).get(finding.successive or "")
        if level is not None:
            others = tuple(one for one in own if one[0] != finding.successive)
            found.setdefault(others, {})[level] = name
    return tuple(
        Line(_state(finding.successive or "", next(iter(points.values()))), tuple(points.items()))
        for points in found.values()
        if len(points) > 1
    )


def changes(finding: Finding) -> Iterator[Change]:
    """Yield each change of each state, workload and metric, from one level to the next."""
    cells: dict[str, list[Cell]] = {}
    for cell in finding.cells:
        cells.setdefault(cell.configuration, []).append(cell)
    for line in lines(finding):
        for (before, first), (after, second) in pairwise(line.points):
            later = {(cell.workload, cell.metric): cell for cell in cells.get(second, ())}
            for cell in cells.get(first, ()):
                other = later.get((cell.workload, cell.metric))
                if other is not None:
                    yield Change(line.state, before, after, Pair(cell, other))


def _state(axis: str, configuration: str) -> str:
    """Return a configuration's name without its level of the axis."""
    words = (word for word in configuration.split(" ") if not word.startswith(f"{axis}="))
    return " ".join(words) or WHATEVER
