"""Counts that are one draw: how near to its baseline one trial of a workload says nothing.

A whole system meets the clock's ticks elsewhere whenever anything takes an instruction more. One
trial repeats exactly, and so has no interval of its own; the workload's resolution stands for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.instruments.names import instrument as instrument_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardcost.analysis.finding import Bill, Cell, Finding


def coarse(finding: Finding, resolutions: Mapping[str, float]) -> Finding:
    """Return the finding with the resolution at each cell that is one draw, and at small costs.

    `resolutions` are relative, by workload. Cells of several trials have intervals, as those of an
    instrument that varies have, and stay as they are.
    """
    if not instrument_named(finding.instrument).exact:
        return finding
    cells = tuple(
        replace(cell, resolution=resolutions.get(cell.workload.partition(" ")[0], 0.0))
        if cell.trials == 1
        else cell
        for cell in finding.cells
    )
    bill = finding.bill
    return replace(finding, cells=cells, bill=None if bill is None else _bill(bill, cells))


def _bill(bill: Bill, cells: tuple[Cell, ...]) -> Bill:
    """Return the bill with a caveat at costs that are smaller than their metric's resolution."""
    known = {
        name: cell.resolution
        for cell in cells
        for name in (cell.metric, f"{cell.workload} {cell.metric}")
        if cell.resolution
    }
    least = {of.metric: known.get(of.metric, 0.0) * abs(of.baseline) for of in bill.totals}
    items = tuple(
        replace(item, caveat=_joined(item.caveat, _small(known[item.metric])))
        if abs(item.cost) < least.get(item.metric, 0.0)
        else item
        for item in bill.items
    )
    return replace(bill, items=items)


def _small(resolution: float) -> str:
    return (
        f"less than {100 * resolution:g} % of the baseline, by which one trial moves with where the"
        " clock's ticks fall: not distinguishable from 0"
    )


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
