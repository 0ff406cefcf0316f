"""Two runs side by side on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.console import ConsoleRenderable

from hardcost.model.finding.cell import Cell
from hardcost.model.finding.comparison import ComparedCell, Comparison
from hardcost.model.finding.head import Head
from hardcost.show.sentences.run import compare_sentences
from hardcost.show.sentences.single_draws import ABOUT_ZERO
from hardcost.show.tables.layout import (
    Column,
    ColumnGroup,
    Grid,
    GridText,
    Layout,
    Prose,
    TextLines,
)
from hardcost.show.tables.run import instrument_and_machine
from hardcost.show.text import decimals, interval, ratio, signed_number
from hardcost.units import count, visible


def compare_table(comparison: Comparison, *, every: bool = False) -> ConsoleRenderable:
    """Return the changes from one run to another: both values, difference and ratio.

    Identical cells are counted, not listed, unless `every` is true.
    """
    earlier, later = visible(comparison.compared_to.run), visible(comparison.run)
    return Layout(
        (
            TextLines(tuple(compare_sentences(comparison))),
            Prose(f"Run {earlier}, then run {later}", "bold"),
            *(Prose(f"WARNING: {visible(warning)}", "bold red") for warning in comparison.warnings),
            *(GridText(grid) for grid in compare_grids(comparison, every=every)),
            Prose(summary(comparison)),
        )
    )


def summary(comparison: Comparison) -> str:
    """Return how many cells are identical and how many are not."""
    equal = sum(cell.equal for cell in comparison.cells)
    changed = len(comparison.cells) - equal
    chance = sum(cell.may_be_equal for cell in comparison.cells)
    return (
        f"{count(changed, 'number')} changed{_by_chance(chance)}, "
        f"{equal:,} the same to the last digit, "
        f"{len(comparison.only_before):,} only in the first run, "
        f"{len(comparison.only_after):,} only in the second."
    )


def _by_chance(cells: int) -> str:
    return f" ({cells:,} by no more than a placebo moves it: {ABOUT_ZERO})" if cells else ""


def compare_grids(comparison: Comparison, *, every: bool = False) -> list[Grid]:
    """Return a table of the cells in both runs, and one for the cells of each run only."""
    both = [cell for cell in comparison.cells if every or not cell.equal]
    grids = [_both_grid(comparison, both)] if both else []
    for run, cells, which in (
        (comparison.compared_to, comparison.only_before, "first"),
        (comparison, comparison.only_after, "second"),
    ):
        if cells:
            grids.append(_only_grid(run, cells, which))
    return grids


def _both_grid(comparison: Comparison, cells: Sequence[ComparedCell]) -> Grid:
    digits = digits_of([*cells, *(replace(cell, **vars(cell.before)) for cell in cells)])

    def column(header: str, cell_text: Callable[[ComparedCell, int], str]) -> Column:
        return Column(header, tuple(cell_text(cell, digits[cell.metric]) for cell in cells))

    columns = (
        column("first", lambda of, d: interval(of.before.value, of.before.low, of.before.high, d)),
        column("second", lambda of, d: interval(of.value, of.low, of.high, d)),
        column("difference", _difference),
        column("ratio", lambda of, _: ratio(of.ratio)),
    )
    first, second = (
        instrument_and_machine(comparison.compared_to),
        instrument_and_machine(comparison),
    )
    places = first if first == second else f"{first}, then {second}"
    return Grid(f"In both runs: {places}", labels(cells), (ColumnGroup("", columns),))


def _difference(cell: ComparedCell, digits: int) -> str:
    return ABOUT_ZERO if cell.may_be_equal else signed_number(cell.difference, digits)


def _only_grid(run: Head, cells: Sequence[Cell], which: str) -> Grid:
    digits = digits_of(cells)
    values = tuple(interval(c.value, c.low, c.high, digits[c.metric]) for c in cells)
    title = f"Only in the {which} run: {instrument_and_machine(run)}"
    return Grid(title, labels(cells), (ColumnGroup("", (Column("value", values),)),))


def labels(cells: Sequence[Cell]) -> tuple[Column, ...]:
    """Return the columns that identify a row's cell; a workload common to all is left out."""
    columns = [Column("configuration", tuple(visible(c.configuration) for c in cells), left=True)]
    if len({cell.workload for cell in cells}) > 1:
        columns.append(Column("workload", tuple(visible(c.workload) for c in cells), left=True))
    columns.append(Column("metric", tuple(visible(c.metric) for c in cells), left=True))
    columns.append(Column("unit", tuple(visible(c.unit) for c in cells), left=True))
    return tuple(columns)


def digits_of(cells: Sequence[Cell]) -> dict[str, int]:
    """Return how many decimals each metric is shown with."""
    values: dict[str, list[float]] = {}
    for cell in cells:
        values.setdefault(cell.metric, []).extend((cell.value, cell.low, cell.high))
    return {metric: decimals(numbers) for metric, numbers in values.items()}
