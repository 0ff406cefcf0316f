"""Counts that are a single draw: how close to its baseline one trial of a workload says nothing.

In a whole system, one instruction more anywhere shifts where the clock ticks fall. One trial
repeats exactly, and so has no interval of its own; the workload's resolution stands in for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.instruments.names import instrument as instrument_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardcost.analysis.finding import Bill, Cell, Finding


def coarse(finding: Finding, resolutions: Mapping[str, float]) -> Finding:
    """Return the finding with a resolution for each single-draw cell, and caveats at small costs.

    `resolutions` are relative, by workload. Cells of several trials have intervals, as with an
    instrument that varies, and stay unchanged.
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
    """Return the bill with a caveat at costs below their metric's resolution."""
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
        f"less than {100 * resolution:g} % of the baseline, by which one trial varies with when"
        " the clock ticks: not distinguishable from 0"
    )


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
