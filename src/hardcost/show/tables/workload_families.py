"""Workloads that differ only in a parameter, such as the number of concurrent copies."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hardcost.analysis.estimates.geometric_mean import mean_penalties
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.head import Found
from hardcost.model.finding.study import failures_of, levels_of
from hardcost.model.workload import Workload
from hardcost.show.sentences.single_draws import draw_notes, draw_ratio
from hardcost.show.tables.layout import Column, ColumnGroup, Grid
from hardcost.show.text import ABSENT, ratio
from hardcost.units import visible

_NUMBERED = re.compile(r"(.*?)(\d+)")

_USUAL = "wall"
"""The metric that summarises a whole program, if there is one."""


@dataclass(frozen=True)
class Family:
    """Cells of one unit that belong into one chart.

    `title` names what they have in common. `panels` maps a panel's name to its bars' cells, each
    with its level, such as `4`; a single level is "". `axis` names the levels, such as
    `concurrency`.
    """

    title: str
    unit: str
    panels: dict[str, list[tuple[str, Cell]]]
    axis: str = ""

    @property
    def workloads(self) -> list[Workload]:
        """Return the workloads in their order."""
        return list(dict.fromkeys(c.workload for own in self.panels.values() for _, c in own))

    @property
    def levels(self) -> list[str]:
        """Return the levels in their order."""
        return list(dict.fromkeys(level for own in self.panels.values() for level, _ in own))


def summary_grids(finding: Found) -> list[Grid]:
    """Return one table for each family of several workloads: multiples of the baseline.

    It has one metric: that of the whole program if there is one, else the mean of all.
    """
    several = [family for family in families(finding.cells) if len(family.workloads) > 1]
    return [_summary(finding, family) for family in several]


def _summary(finding: Found, family: Family) -> Grid:
    cells = [cell for own in family.panels.values() for _, cell in own]
    baseline, own_workloads = cells[0].baseline, family.workloads
    whole = _USUAL in family.panels
    ratios = {(m.configuration, m.workload): m.ratio for m in mean_penalties(cells)}
    if whole:
        ratios = {(c.configuration, c.workload): c.ratio for _, c in family.panels[_USUAL]}
    words = {key: ratio(found) for key, found in ratios.items()}
    drawn = [c for _, c in family.panels[_USUAL] if c.resolution] if whole else []
    words |= {(c.configuration, c.workload): draw_ratio(c) for c in drawn}
    words |= {(c.configuration, c.workload): "base" for c in cells if c.configuration == baseline}
    lost = [
        (f.configuration, f.workload) for f in failures_of(finding) if f.workload in own_workloads
    ]
    words = dict.fromkeys(lost, "failed") | words
    known = {name for name, _ in words}
    names = [
        name
        for name in dict.fromkeys((*levels_of(finding), *sorted(known, key=str)))
        if name in known
    ]
    groups = [
        ColumnGroup(
            "", (Column(visible(level), tuple(words.get((n, workload), ABSENT) for n in names)),)
        )
        for level, workload in zip(family.levels, own_workloads, strict=True)
    ]
    what = _USUAL if whole else "mean of all metrics"
    by = f" by {visible(family.axis)}" if family.axis else ""
    title = f"{visible(family.title)}: {what}{by}, as a multiple of {visible(baseline)} "
    title += f"(instrument {visible(finding.instrument)})"
    labels = (Column("configuration", tuple(map(visible, names)), left=True),)
    return Grid(title, labels, tuple(groups), notes=tuple(draw_notes(drawn)))


def families(cells: Sequence[Cell]) -> list[Family]:
    """Return the cells by workload and unit; workloads that differ only in parameters share one.

    For a single workload with numbered metrics (`ab-1`, `ab-16`), the numbers are levels.
    """
    kinds: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if math.isfinite(cell.value) and cell.value > 0:
            kinds.setdefault((cell.workload.name, cell.unit), []).append(cell)
    return [_family(unit, own) for (_, unit), own in kinds.items()]


def _family(unit: str, cells: Sequence[Cell]) -> Family:
    """Return cells of one workload as a family, whose levels are the parameters that differ.

    Of one parameter they are its values; a word stands for none.
    """
    parameters = [cell.workload.parameters for cell in cells]
    common = tuple(one for one in parameters[0] if all(one in others for others in parameters))
    different = [tuple(one for one in own if one not in common) for own in parameters]
    keys = {key for own in different for key, _ in own}
    axis = keys.pop() if len(keys) == 1 else ""
    family = Family(str(Workload(cells[0].workload.name, common)), str(unit), {}, axis)
    for own, cell in zip(different, cells, strict=True):
        words = (value if key == axis else f"{key}={value}" for key, value in own)
        family.panels.setdefault(cell.metric, []).append((" ".join(words), cell))
    if not any(different):
        return _numbers_as_levels(family)
    panels = {
        metric: [(level or "default", cell) for level, cell in own]
        for metric, own in family.panels.items()
    }
    return replace(family, panels=panels)


def _numbers_as_levels(family: Family) -> Family:
    """Return `family` with metrics that differ only in a number as levels of one panel."""
    found = {metric: _NUMBERED.fullmatch(metric) for metric in family.panels}
    stems = [match[1] for match in found.values() if match]
    if len(stems) < len(found) or len(set(stems)) == len(stems):
        return family
    panels: dict[str, list[tuple[str, Cell]]] = {}
    for metric, match in found.items():
        if match:
            cells = [(match[2], cell) for _, cell in family.panels[metric]]
            panels.setdefault(match[1].rstrip("-="), []).extend(cells)
    return replace(family, panels=panels)
