"""Neighbouring rows with equal numbers, which then are in the table once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from hardcost.show.tables.layout import Column, ColumnGroup, Grid, RowText

_FEWEST = 5
"""Fewest neighbours for which a row of their numbers makes a table shorter to read."""


class _Row(NamedTuple):
    """A row to be: `of` is the row of old that it shows, with its name, its numbers, or both.

    Without a name, it has the numbers of `many` rows below it.
    """

    of: int
    named: bool = True
    numbered: bool = True
    many: int = 0


def share_numbers(grid: Grid) -> Grid:
    """Return `grid` with one row of numbers above neighbouring controls whose numbers are equal.

    Controls are the rows that can be linked to. Below their row of numbers they have none.
    """

    def numbers(row: int) -> tuple[bool, list[str]]:
        return bool(grid.anchors[row]), [column.cells[row] for column in grid.columns]

    runs = (list(run) for _, run in groupby(range(grid.rows), key=numbers))
    rows = [row for run in runs for row in _rows_of(run, linked=bool(grid.anchors[run[0]]))]
    at = {row.of: nth for nth, row in reversed(list(enumerate(rows)))}
    return replace(
        grid,
        labels=tuple(_column(column, rows, [row.named for row in rows]) for column in grid.labels),
        groups=tuple(_group(group, rows) for group in grid.groups),
        texts=tuple(grid.texts[row.of] if row.named else _above(row.many) for row in rows),
        lines=frozenset(at[row] for row in grid.lines),
        anchors=tuple(grid.anchors[row.of] if row.named else "" for row in rows),
    )


def _rows_of(run: Sequence[int], *, linked: bool) -> Iterator[_Row]:
    """Yield the rows for a run of rows with equal numbers."""
    if len(run) < _FEWEST or not linked:
        yield from map(_Row, run)
    else:
        yield _Row(run[0], named=False, many=len(run))
        yield from (_Row(row, numbered=False) for row in run)


def _above(many: int) -> RowText:
    return RowText(f"each of the {many:,} controls below", sum=True)


def _group(group: ColumnGroup, rows: Sequence[_Row]) -> ColumnGroup:
    shown = [row.numbered for row in rows]
    return replace(group, columns=tuple(_column(one, rows, shown) for one in group.columns))


def _column(column: Column, rows: Sequence[_Row], shown: Sequence[bool]) -> Column:
    """Return a column with the cells of `rows`, empty where they are not to be shown."""
    marked = list(zip(rows, shown, strict=True))
    return replace(
        column,
        cells=tuple(column.cells[row.of] if own else "" for row, own in marked),
        bars=tuple(column.bars[row.of] if own else 0.0 for row, own in marked)
        if column.bars
        else (),
    )
