"""Tables of what changes from one level of an axis to the next: metrics down, levels across."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hardcost.analysis.change.comparison import compare_cells
from hardcost.analysis.study.steps import AxisPath, lines
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import Role
from hardcost.model.workload import Workload
from hardcost.show.sentences.single_draws import ABOUT_ZERO
from hardcost.show.tables.layout import Column, ColumnGroup, Grid
from hardcost.show.text import ABSENT, decimals, interval, ratio, signed_number
from hardcost.units import visible

_SAME = "="


def successive_grids(finding: StudyFinding) -> list[Grid]:
    """Return a table for each workload and state of a study with a successive axis."""
    workloads = dict.fromkeys(cell.workload for cell in finding.cells)
    return [
        grid for one in workloads for line in lines(finding) for grid in _grids(finding, one, line)
    ]


def _grids(finding: StudyFinding, workload: Workload, line: AxisPath) -> Iterator[Grid]:
    cells = {
        (cell.configuration, cell.metric): cell
        for cell in finding.cells
        if cell.workload == workload
    }
    names = [name for _, name in line.points]
    metrics = list(dict.fromkeys(metric for name, metric in cells if name in names))
    if not metrics:
        return
    units = {cell.unit for (name, _), cell in cells.items() if name in names}
    labels = [Column("metric", tuple(map(visible, metrics)), left=True)]
    if len(units) > 1:
        unit = {metric: cell.unit for (_, metric), cell in cells.items()}
        labels.append(Column("unit", tuple(visible(unit[one]) for one in metrics), left=True))
    axis = visible(finding.successive or "")
    groups = []
    for nth, (level, name) in enumerate(line.points):
        before = names[nth - 1] if nth else None
        columns = _columns(cells, metrics, before, name)
        groups.append(ColumnGroup(f"{axis} {visible(level)}", columns))
    of = f"{visible(workload)}, {visible(line.state)}"
    unit_words = f"{visible(next(iter(units)))}, " if len(units) == 1 else ""
    title = f"From {axis} to {axis}: {of}: {unit_words}instrument {visible(finding.instrument)}"
    yield Grid(title, tuple(labels), tuple(groups))


def _columns(
    cells: Mapping[tuple[Role, str], Cell], metrics: Sequence[str], before: Role | None, name: Role
) -> tuple[Column, ...]:
    """Return a level's values and, after the first level, how they differ from those before."""
    rows = [
        _texts(None if before is None else cells.get((before, one)), cells.get((name, one)))
        for one in metrics
    ]
    value, change, by = (tuple(texts) for texts in zip(*rows, strict=True))
    if before is None:
        return (Column("value", value),)
    return (Column("value", value), Column("diff", change, optional=True), Column("ratio", by))


def _texts(before: Cell | None, cell: Cell | None) -> tuple[str, str, str]:
    if cell is None:
        return ABSENT, ABSENT, ABSENT
    digits = decimals((cell.value, cell.low, cell.high))
    value = interval(cell.value, cell.low, cell.high, digits)
    if before is None:
        return value, ABSENT, ABSENT
    now = compare_cells(before, cell, before.configuration)
    if now.equal:
        return value, _SAME, _SAME
    if now.may_be_equal:
        return value, ABOUT_ZERO, ratio(1.0)
    digits = decimals((before.value, cell.value))
    return value, signed_number(now.difference, digits), ratio(now.ratio)
