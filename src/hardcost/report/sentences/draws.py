"""Cells that are a single draw: shown with the digits they support, and explained."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hardcost.report.text import ABOUT, MARK, TIMES, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.analysis.finding import Cell

_ABOUT_ZERO = f"{ABOUT}0{MARK}"
_ABOUT_ONE = f"{ABOUT}{TIMES}1{MARK}"
_TEN = 9.995  # from here three digits need no second decimal


def is_unclear(cell: Cell) -> bool:
    """Say whether a single-draw cell can't be distinguished from its baseline."""
    return abs(cell.ratio - 1) <= cell.resolution


def draw_value(cell: Cell, digits: int) -> str:
    """Return a value, rounded to its resolution."""
    return f"{_rounded(cell.value, cell, digits)}{MARK}"


def draw_difference(cell: Cell, digits: int) -> str:
    """Return a difference from the baseline, or that it may be 0."""
    if is_unclear(cell):
        return _ABOUT_ZERO
    text = _rounded(cell.difference, cell, digits)
    return f"+{text}{MARK}" if cell.difference > 0 else f"{text}{MARK}"


def draw_ratio(cell: Cell) -> str:
    """Return a ratio with two decimals, or that it may be 1."""
    if is_unclear(cell):
        return _ABOUT_ONE
    return f"{TIMES}{cell.ratio:,.{2 if cell.ratio < _TEN else 1}f}{MARK}"


def draw_notes(cells: Iterable[Cell]) -> list[str]:
    """Return why cells are marked, once for each resolution."""
    resolutions = sorted({cell.resolution for cell in cells if cell.resolution})
    return [
        f"{MARK} one trial, which moves by up to {100 * resolution:g} % with where the clock's "
        "ticks fall: a ratio closer to 1 than that is not distinguishable from 1"
        for resolution in resolutions
    ]


def _rounded(amount: float, cell: Cell, digits: int) -> str:
    """Return an amount in steps of the power of ten below the value's resolution."""
    step = abs(cell.value) * cell.resolution
    if not math.isfinite(amount) or step <= 0:
        return number(amount, digits)
    power = math.floor(math.log10(step))
    if power <= 0:
        return number(amount, min(digits, -power))
    return number(round(amount / 10**power) * 10**power)
