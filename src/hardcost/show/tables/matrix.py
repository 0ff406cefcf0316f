"""Results that can be laid out either way: rows down and metrics across, or transposed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult

from hardcost.show.tables.layout import Column, ColumnGroup, Grid, GridText, fewest_parts
from hardcost.show.text import ABSENT

BASE = "base"
"""Shown where the baseline would be compared with itself."""

_MOST_ACROSS = 4
"""Most metrics that are placed across if there is room to scroll."""

_AROUND = 5
"""Lines of a part of a table in addition to its rows."""


@dataclass(frozen=True)
class MatrixRow:
    """One metric in one row: a text for each header of the matrix."""

    texts: tuple[str, ...]
    heat: int = 0


@dataclass(frozen=True)
class Metric:
    """A metric's name, and its unit unless the table's title has it."""

    name: str
    unit: str = ""

    @property
    def title(self) -> str:
        """Return name and unit."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


@dataclass(frozen=True)
class Matrix:
    """Entries by row and metric.

    `labels` are the rows' own columns; the first is the name. `headers` are those of an entry's
    texts; `optional` headers are left out if there is no room, the text of `heated` is shaded. A
    header that no entry has gets no column.
    """

    title: str
    labels: tuple[Column, ...]
    metrics: tuple[Metric, ...]
    headers: tuple[str, ...]
    entries: Mapping[tuple[int, int], MatrixRow]
    optional: frozenset[str] = frozenset()
    heated: str = ""
    lines: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    nothing: MatrixRow = field(default_factory=lambda: MatrixRow((ABSENT,)))

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.labels[0].cells)

    def entry(self, row: int, metric: int) -> MatrixRow:
        """Return the entry of a metric in a row."""
        return self.entries.get((row, metric), self.nothing)


def upright_grid(matrix: Matrix) -> Grid:
    """Return rows down, metrics across."""
    groups = []
    for nth, metric in enumerate(matrix.metrics):
        entries = [matrix.entry(row, nth) for row in range(matrix.rows)]
        columns = _columns(matrix, entries)
        shown = tuple(c for c in columns if c.header == matrix.headers[0] or not _empty(c))
        groups.append(ColumnGroup(metric.title, shown))
    return Grid(matrix.title, matrix.labels, tuple(groups), lines=matrix.lines, notes=matrix.notes)


def transposed_grid(matrix: Matrix) -> Grid:
    """Return metrics down, rows across; the rows' other labels become notes."""
    names = tuple(metric.name for metric in matrix.metrics)
    labels = [Column("metric", names, left=True)]
    if any(metric.unit for metric in matrix.metrics):
        units = tuple(metric.unit for metric in matrix.metrics)
        labels.append(Column("unit", units, left=True))
    groups = []
    for row, name in enumerate(matrix.labels[0].cells):
        entries = [matrix.entry(row, nth) for nth in range(len(matrix.metrics))]
        columns = _columns(matrix, entries)
        shown = tuple(c for c in columns if c.header == matrix.headers[0] or not _bare(c))
        groups.append(ColumnGroup(name, shown))
    labelled = tuple(
        f"{label.header} of {name}: {text}"
        for label in matrix.labels[1:]
        for name, text in zip(matrix.labels[0].cells, label.cells, strict=True)
    )
    return Grid(matrix.title, tuple(labels), tuple(groups), notes=(*labelled, *matrix.notes))


def for_page(matrix: Matrix) -> Grid:
    """Return the layout that is easier to read with room to scroll."""
    many = len(matrix.metrics) > max(_MOST_ACROSS, matrix.rows)
    return transposed_grid(matrix) if many else upright_grid(matrix)


@dataclass(frozen=True)
class MatrixText(ConsoleRenderable):
    """A matrix on a terminal: metrics across if they fit, else the layout with fewer lines."""

    matrix: Matrix

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        yield GridText(fitting_grid(self.matrix, options.max_width))


def fitting_grid(matrix: Matrix, width: int) -> Grid:
    """Return the layout that fits `width` characters, or else takes fewer lines."""
    grid, other = upright_grid(matrix), transposed_grid(matrix)
    if len(fewest_parts(grid, width)) == 1:
        return grid
    return min(grid, other, key=lambda it: len(fewest_parts(it, width)) * (it.rows + _AROUND))


def _columns(matrix: Matrix, entries: list[MatrixRow]) -> list[Column]:
    columns = []
    for nth, header in enumerate(matrix.headers):
        texts = tuple(entry.texts[nth] if nth < len(entry.texts) else ABSENT for entry in entries)
        heat = tuple(entry.heat for entry in entries) if header == matrix.heated else ()
        columns.append(Column(header, texts, optional=header in matrix.optional, heat=heat))
    return columns


def _empty(column: Column) -> bool:
    return set(column.cells) <= {ABSENT}


def _bare(column: Column) -> bool:
    return set(column.cells) <= {ABSENT, BASE}
