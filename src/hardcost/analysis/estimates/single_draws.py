"""Counts that are a single draw, and how far from its baseline one has to be to mean anything.

In a whole system, one instruction more anywhere shifts where the clock ticks fall. One trial
repeats exactly, and so has no interval of its own; the workload's resolution is used instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hardcost.instruments.names import instrument_named
from hardcost.model.finding.bill import Bill, Item, Itemised
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.finding import Finding
from hardcost.model.workload import MetricId


def with_resolutions(finding: Finding, resolutions: Mapping[str, float]) -> Finding:
    """Return the finding with a resolution for each single-draw cell, and caveats at small costs.

    `resolutions` are relative, by workload. Cells of several trials have intervals, as with an
    instrument that varies, and stay unchanged.
    """
    if not instrument_named(finding.instrument).exact:
        return finding
    cells = tuple(
        replace(cell, resolution=resolutions.get(cell.workload.name, 0.0))
        if cell.trials == 1
        else cell
        for cell in finding.cells
    )
    finding = replace(finding, cells=cells)
    if isinstance(finding, Bill):
        return replace(finding, items=_items(finding, cells))
    return finding


def _items(bill: Itemised, cells: tuple[Cell, ...]) -> tuple[Item, ...]:
    """Return the bill's items, with a caveat at costs below their metric's resolution."""
    known = {
        name: cell.resolution
        for cell in cells
        for name in (MetricId(cell.metric), MetricId(cell.metric, cell.workload))
        if cell.resolution
    }
    least = {of.metric: known.get(of.metric, 0.0) * abs(of.baseline) for of in bill.totals}
    return tuple(
        replace(item, caveat=_join_parts(item.caveat, _small_cost_caveat(known[item.metric])))
        if abs(item.cost) < least.get(item.metric, 0.0)
        else item
        for item in bill.items
    )


def _small_cost_caveat(resolution: float) -> str:
    return (
        f"less than {100 * resolution:g} % of the baseline, by which one trial varies with when"
        " the clock ticks: not distinguishable from 0"
    )


def _join_parts(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
