"""The table of a run: configurations down, metrics across, published figures below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.axes import numeric_axis
from hardcost.report.grid import Column, Document, Grid, GridText, Group, Lines
from hardcost.report.published import published
from hardcost.report.text import (
    MISSING,
    TO,
    decimals,
    interval,
    number,
    ratio,
    signed,
    visible,
    written_decimals,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleRenderable

    from hardcost.analysis.finding import Cell, Finding
    from hardcost.report.published import Series

ABSENT = "-"
"""What stands where nothing was measured."""

_SCORED = (
    "options: how many of the catalogue's kernel options the kernel has as recommended; "
    "`hardcost kernel check FILE` names those that a configuration lacks"
)

_HEAT_STEPS = (1.05, 1.25, 2.0, 4.0, 10.0)
"""The ratios from which a cell is shaded one step darker."""


def run_table(finding: Finding) -> ConsoleRenderable:
    """Return all tables of a run for a terminal: what was measured, published figures, notes."""
    parts: list[ConsoleRenderable] = [Lines((heading(finding), *measured_on(finding)))]
    parts += [GridText(grid) for grid in run_grids(finding)]
    figures = published_grids(finding)
    if figures:
        parts.append(Lines((published_title(finding), *published_notes(finding))))
        parts += [GridText(grid) for grid in figures]
    notes = note_lines(finding)
    return Document((*parts, Lines(tuple(notes)))) if notes else Document(tuple(parts))


def heading(finding: Finding) -> str:
    """Return what was run, where and observed by what."""
    title = visible(finding.title or finding.study)
    return f"{title} (study {visible(finding.study)}, run {visible(finding.run)})"


def measured_on(finding: Finding) -> list[str]:
    """Return a line with what counts and times depend on, none where nothing is known of it."""
    known = finding.environment
    names = {"kernel": "kernel", "qemu": "QEMU", "cpu_model": "processor model"}
    parts = [f"{name} {visible(known[fact])}" for fact, name in names.items() if fact in known]
    return [f"Measured with {', '.join(parts)}."] if parts else []


def note_lines(finding: Finding) -> list[str]:
    """Return the run's notes, escaped."""
    scored = [_SCORED] if finding.scores else []
    return [f"Note: {visible(note)}" for note in (*scored, *finding.notes)]


def run_grids(finding: Finding) -> list[Grid]:
    """Return a table for each workload: each metric's value and difference from the baseline."""
    return [
        _workload_grid(finding, workload) for workload in _unique(c.workload for c in finding.cells)
    ]


def where(finding: Finding) -> str:
    """Return the instrument and machine as a table's title names them."""
    return f"instrument {visible(finding.instrument)}, machine {visible(finding.machine)}"


def _workload_grid(finding: Finding, workload: str) -> Grid:
    cells = {(c.configuration, c.metric): c for c in finding.cells if c.workload == workload}
    configurations = _unique(configuration for configuration, _ in cells)
    metrics = _unique(metric for _, metric in cells)
    units = _unique(cell.unit for cell in cells.values())
    baselines = _unique(cell.baseline for cell in cells.values())
    groups = tuple(
        _metric_group(
            [cells.get((c, metric)) for c in configurations], metric, alone=len(units) == 1
        )
        for metric in metrics
    )
    labels = [Column("configuration", tuple(map(visible, configurations)), left=True)]
    if any(configuration in finding.scores for configuration in configurations):
        labels.append(Column("options", tuple(_score(finding, c) for c in configurations)))
    if len(baselines) > 1:
        own = tuple(_baseline(c, [cells.get((c, m)) for m in metrics]) for c in configurations)
        labels.append(Column("compared to", own, left=True))
        against = "the configuration named in the row"
    else:
        against = visible(baselines[0]) if baselines else "nothing"
    unit = f"{visible(units[0])}, " if len(units) == 1 else ""
    title = f"{visible(workload)}: {unit}{where(finding)}; differences from {against}"
    return Grid(title, tuple(labels), groups, lines=_line_starts(finding, configurations))


def _score(finding: Finding, configuration: str) -> str:
    """Return how many of the catalogue's kernel options are as recommended."""
    score = finding.scores.get(configuration)
    return ABSENT if score is None else f"{score.met} of {score.of}"


def _line_starts(finding: Finding, configurations: list[str]) -> frozenset[int]:
    """Return the rows where another line of the run's numeric axis begins."""
    axis = numeric_axis(finding.levels)
    if axis is None:
        return frozenset()
    lines = [axis.line_of(configuration) for configuration in configurations]
    starts = frozenset(n for n in range(1, len(lines)) if lines[n] != lines[n - 1])
    return starts if len(starts) * 3 <= len(lines) else frozenset()


def _metric_group(cells: list[Cell | None], metric: str, *, alone: bool) -> Group:
    """Return a metric's columns; `alone` says that the table has one unit, named in its title."""
    present = [cell for cell in cells if cell is not None]
    digits = decimals(
        v for cell in present for v in (cell.value, cell.low, cell.high, cell.difference)
    )
    title = visible(metric) if alone else f"{visible(metric)}, {visible(present[0].unit)}"
    heat = tuple(_heat(cell) for cell in cells)
    return Group(
        title,
        (
            Column("value", tuple(_value(cell, digits) for cell in cells)),
            Column("diff", tuple(_difference(cell, digits) for cell in cells), heat=heat),
            Column("ratio", tuple(_ratio(cell) for cell in cells), optional=True),
        ),
    )


def _value(cell: Cell | None, digits: int) -> str:
    return ABSENT if cell is None else interval(cell.value, cell.low, cell.high, digits)


def _difference(cell: Cell | None, digits: int) -> str:
    if cell is None:
        return ABSENT
    return "base" if _is_baseline(cell) else signed(cell.difference, digits)


def _ratio(cell: Cell | None) -> str:
    if cell is None:
        return ABSENT
    if _is_baseline(cell):
        return "base"
    middle, low, high = map(ratio, (cell.ratio, cell.ratio_low, cell.ratio_high))
    if low == high == middle or MISSING in {low, middle, high}:
        return middle
    return f"{middle} ({low}{TO}{high})"


def _is_baseline(cell: Cell) -> bool:
    return cell.configuration == cell.baseline


def _heat(cell: Cell | None) -> int:
    return 0 if cell is None else sum(cell.ratio >= step for step in _HEAT_STEPS)


def _baseline(configuration: str, cells: list[Cell | None]) -> str:
    own = _unique(cell.baseline for cell in cells if cell is not None)
    return ", ".join("itself" if name == configuration else visible(name) for name in own)


def published_grids(finding: Finding) -> list[Grid]:
    """Return what the run's published figures say of its configurations, a table for each series.

    Beside each published value stand its ratio to the published baseline and our ratio between the
    same two configurations, which may be another baseline than the run's own.
    """
    if finding.published is None:
        return []
    figures = published(finding.published)
    grids = []
    for series in figures.series:
        values = {
            (c.configuration, c.metric): c.value
            for c in finding.cells
            if c.metric in series.metrics
        }
        grid = _series_grid(series, {c.configuration for c in finding.cells}, values)
        if grid is not None:
            grids.append(grid)
    return grids


def published_title(finding: Finding) -> str:
    """Return what was published, or nothing."""
    return f"Published: {published(finding.published).title}" if finding.published else ""


def published_notes(finding: Finding) -> tuple[str, ...]:
    """Return where the published figures are from and what to make of them."""
    if finding.published is None:
        return ()
    figures = published(finding.published)
    return (
        f"Source: {figures.source}; measured with {figures.workload}.",
        "Another kernel, processor and instrument: compare the shape, not the numbers.",
        *figures.notes,
    )


def _series_grid(
    series: Series, configurations: set[str], values: dict[tuple[str, str], float]
) -> Grid | None:
    """Return the rows of `series` that are among `configurations`, with our `values` beside."""
    rows = [row for row in series.rows if series.configuration(row) in configurations]
    if not rows:
        return None
    base = series.configuration(series.baseline)
    groups = []
    for metric in series.metrics:
        ours = [_our_ratio(values, series.configuration(row), base, metric) for row in rows]
        digits = written_decimals(series.rows[row][metric] for row in rows)
        columns = [
            Column("value", tuple(number(series.rows[row][metric], digits) for row in rows)),
            Column("ratio", tuple(ratio(series.ratio(row, metric)) for row in rows)),
        ]
        if any(text != ABSENT for text in ours):
            columns.append(Column("ours", tuple(ours)))
        groups.append(Group(metric, tuple(columns)))
    names = tuple(visible(series.configuration(row)) for row in rows)
    title = f"Published, {series.name}: {series.unit}; ratios to {series.baseline}"
    if any(column.header == "ours" for group in groups for column in group.columns):
        title += f", ours to {base}"
    return Grid(title, (Column("configuration", names, left=True),), tuple(groups))


def _our_ratio(
    values: dict[tuple[str, str], float], configuration: str, base: str, metric: str
) -> str:
    ours, to = values.get((configuration, metric)), values.get((base, metric))
    return ABSENT if ours is None or not to else ratio(ours / to)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
