"""One study on several machines: each has columns of its own, and nothing is averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import ConsoleRenderable

from hardcost.model.finding.cell import Cell
from hardcost.model.finding.head import Found
from hardcost.model.role import Role
from hardcost.model.workload import Workload
from hardcost.show.tables.compare import digits_of, labels
from hardcost.show.tables.layout import Column, ColumnGroup, Grid, GridText, Layout, Prose
from hardcost.show.tables.run import instrument_and_machine
from hardcost.show.text import interval, ratio
from hardcost.units import visible

_NONE = "-"
_Key = tuple[Role, Workload, str, str]


def machines_table(findings: Sequence[Found]) -> ConsoleRenderable:
    """Return the results of each machine, side by side."""
    places = (Prose(f"{visible(one.machine)}: {instrument_and_machine(one)}") for one in findings)
    notes = [
        Prose(f"{visible(one.machine)}: {visible(note)}") for one in findings for note in one.notes
    ]
    return Layout((*places, GridText(machines_grid(findings)), *notes))


def machines_grid(findings: Sequence[Found]) -> Grid:
    """Return the table: a row for each configuration and metric, a group for each machine."""
    every: dict[_Key, Cell] = {}
    for one in findings:
        for cell in one.cells:
            every.setdefault(_key(cell), cell)
    digits = digits_of([cell for one in findings for cell in one.cells])
    groups = tuple(_group(one, every, digits) for one in findings)
    names = ", ".join(visible(one.machine) for one in findings)
    title = f"{visible(findings[0].title)}: {names}; values with intervals, and x the baseline"
    return Grid(title, labels(list(every.values())), groups)


def _group(finding: Found, every: Mapping[_Key, Cell], digits: Mapping[str, int]) -> ColumnGroup:
    own = {_key(cell): cell for cell in finding.cells}
    values, ratios = [], []
    for key in every:
        cell = own.get(key)
        if cell is None:
            values.append(_NONE)
            ratios.append(_NONE)
            continue
        values.append(interval(cell.value, cell.low, cell.high, digits[cell.metric]))
        ratios.append("" if cell.configuration == cell.baseline else ratio(cell.ratio))
    columns = (Column("value", tuple(values)), Column("x", tuple(ratios)))
    return ColumnGroup(visible(finding.machine), columns)


def _key(cell: Cell) -> _Key:
    return cell.configuration, cell.workload, cell.metric, cell.unit
