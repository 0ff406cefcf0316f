"""Two runs side by side on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.comparison import Comparison, Pair, compared
from hardcost.report.sentences.draws import ABOUT_ZERO
from hardcost.report.sentences.run_answer import compare_sentences
from hardcost.report.tables.layout import Column, Document, Grid, GridText, Group, Lines, Prose
from hardcost.report.tables.run_table import where
from hardcost.report.text import decimals, interval, ratio, signed, visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import ConsoleRenderable

    from hardcost.analysis.finding import Cell, Finding


def compare_table(a: Finding, b: Finding, *, every: bool = False) -> ConsoleRenderable:
    """Return what changed from run `a` to run `b`: both values, difference and ratio.

    Identical cells are counted, not listed, unless `every` is true.
    """
    comparison = compared(a, b)
    return Document(
        (
            Lines(tuple(compare_sentences(a, b, comparison))),
            Prose(f"Run {visible(a.run)}, then run {visible(b.run)}", "bold"),
            *(Prose(f"WARNING: {warning}", "bold red") for warning in comparison.warnings),
            *(GridText(grid) for grid in compare_grids(a, b, comparison, every=every)),
            Prose(summary(comparison)),
        )
    )


def summary(comparison: Comparison) -> str:
    """Return how many cells are identical and how many are not."""
    equal = sum(pair.equal for pair in comparison.pairs)
    changed = len(comparison.pairs) - equal
    chance = sum(pair.may_be_equal for pair in comparison.pairs)
    return (
        f"{count(changed, 'number')} changed{_by_chance(chance)}, "
        f"{equal:,} the same to the last digit, "
        f"{len(comparison.only_a):,} only in the first run, "
        f"{len(comparison.only_b):,} only in the second."
    )


def _by_chance(cells: int) -> str:
    return f" ({cells:,} by no more than a placebo moves it: {ABOUT_ZERO})" if cells else ""


def compare_grids(
    a: Finding, b: Finding, comparison: Comparison, *, every: bool = False
) -> list[Grid]:
    """Return a table of the cells in both runs, and one for the cells of each run only."""
    pairs = [pair for pair in comparison.pairs if every or not pair.equal]
    grids = [_pairs_grid(a, b, pairs)] if pairs else []
    for finding, cells, which in (
        (a, comparison.only_a, "first"),
        (b, comparison.only_b, "second"),
    ):
        if cells:
            grids.append(_only_grid(finding, cells, which))
    return grids


def _pairs_grid(a: Finding, b: Finding, pairs: Sequence[Pair]) -> Grid:
    digits = digits_of([cell for pair in pairs for cell in (pair.a, pair.b)])
    cells = [pair.a for pair in pairs]

    def column(header: str, cell_text: Callable[[Pair, int], str]) -> Column:
        return Column(header, tuple(cell_text(p, digits[p.a.metric]) for p in pairs))

    columns = (
        column("first", lambda pair, d: interval(pair.a.value, pair.a.low, pair.a.high, d)),
        column("second", lambda pair, d: interval(pair.b.value, pair.b.low, pair.b.high, d)),
        column("difference", _difference),
        column("ratio", lambda pair, _: ratio(pair.ratio)),
    )
    same = where(a) == where(b)
    places = where(a) if same else f"{where(a)}, then {where(b)}"
    return Grid(f"In both runs: {places}", labels(cells), (Group("", columns),))


def _difference(pair: Pair, digits: int) -> str:
    return ABOUT_ZERO if pair.may_be_equal else signed(pair.difference, digits)


def _only_grid(finding: Finding, cells: Sequence[Cell], which: str) -> Grid:
    digits = digits_of(cells)
    values = tuple(interval(c.value, c.low, c.high, digits[c.metric]) for c in cells)
    title = f"Only in the {which} run: {where(finding)}"
    return Grid(title, labels(cells), (Group("", (Column("value", values),)),))


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
