"""Cells that are not distinguishable from their baseline, and those that are a single draw.

A single draw is shown with the digits that it supports. What several perturbations do not
distinguish from the baseline is shown as that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from hardcost.analysis.estimates.estimates import FEWEST_RANKED
from hardcost.model.finding.cell import Cell
from hardcost.show.text import ABOUT, MARK, TIMES, number, signed_number
from hardcost.units import visible

ABOUT_ZERO = f"{ABOUT}0"
_MARKED_ZERO = f"{ABOUT_ZERO}{MARK}"
_ABOUT_ONE = f"{ABOUT}{TIMES}1{MARK}"
_TEN = 9.995  # from here three digits need no second decimal


def is_unclear(cell: Cell) -> bool:
    """Say whether a single-draw cell can't be distinguished from its baseline."""
    return abs(cell.ratio - 1) <= cell.resolution


def draw_value(cell: Cell, digits: int) -> str:
    """Return a value, rounded to its resolution."""
    return f"{_round_to_resolution(cell.value, cell, digits)}{MARK}"


def draw_difference(cell: Cell, digits: int) -> str:
    """Return a difference from the baseline, or that it may be 0."""
    if is_unclear(cell):
        return _MARKED_ZERO
    text = _round_to_resolution(cell.difference, cell, digits)
    return f"+{text}{MARK}" if cell.difference > 0 else f"{text}{MARK}"


def difference(cell: Cell, digits: int) -> str:
    """Return a difference from the baseline, or that its interval includes 0."""
    exact = cell.trials == 1 and not cell.difference
    return (
        ABOUT_ZERO if cell.may_be_baseline and not exact else signed_number(cell.difference, digits)
    )


def interval_notes(cells: Iterable[Cell]) -> list[str]:
    """Return what intervals are of, where there are any, and which differences say nothing."""
    several = [cell for cell in cells if cell.trials > 1 and cell.low < cell.high]
    if not several:
        return []
    most = max(cell.trials for cell in several)
    counted = all(cell.unit.startswith("insn") for cell in several)
    ranked = counted and most >= FEWEST_RANKED
    what = "middle of" if ranked else "mean of"
    notes = [f"intervals: 95 % confidence for the {what} {most} trials"]
    if any(cell.may_be_baseline for cell in several):
        notes[0] += f"; {ABOUT_ZERO}: not distinguishable from the baseline"
    return notes


def chance_notes(cells: Iterable[Cell]) -> list[str]:
    """Return how far perturbations move metrics, where a difference is within that."""
    bounds = {cell.metric: cell.least for cell in cells if 0 < abs(cell.difference) <= cell.least}
    if not bounds:
        return []
    most = max(bounds, key=lambda metric: bounds[metric])
    amount = number(bounds[most], 0 if bounds[most] == round(bounds[most]) else 1)
    said = (
        f"{ABOUT_ZERO}: placebos, which change nothing, move a metric as much; at most by {amount},"
        f" on {visible(most)}"
    )
    return [said]


def draw_ratio(cell: Cell) -> str:
    """Return a ratio with two decimals, or that it may be 1."""
    if is_unclear(cell):
        return _ABOUT_ONE
    return f"{TIMES}{cell.ratio:,.{2 if cell.ratio < _TEN else 1}f}{MARK}"


def draw_notes(cells: Iterable[Cell]) -> list[str]:
    """Return why cells are marked, once for each resolution."""
    resolutions = sorted({cell.resolution for cell in cells if cell.resolution})
    return [
        f"{MARK} one trial, which varies by up to {100 * resolution:g} % with when the clock "
        "ticks: a ratio closer to 1 than that is not distinguishable from 1"
        for resolution in resolutions
    ]


def _round_to_resolution(amount: float, cell: Cell, digits: int) -> str:
    """Return an amount in steps of the power of ten below the value's resolution."""
    step = abs(cell.value) * cell.resolution
    if not math.isfinite(amount) or step <= 0:
        return number(amount, digits)
    power = math.floor(math.log10(step))
    if power <= 0:
        return number(amount, min(digits, -power))
    return number(round(amount / 10**power) * 10**power)
