"""Published figures beside this run's figures between the same configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hardcost.analysis.estimates.geometric_mean import mean_penalties
from hardcost.analysis.study.published import (
    PublishedMean,
    PublishedRange,
    PublishedRanges,
    PublishedSeries,
    published_figures,
)
from hardcost.analysis.study.published_pairs import (
    Values,
    costs,
    costs_by_workload,
    our_ratio,
    our_span,
    workloads,
)
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import MeanPenalty, StudyFinding
from hardcost.model.workload import Workload
from hardcost.show.tables.layout import Column, ColumnGroup, Grid
from hardcost.show.tables.matrix import BASE, Matrix, MatrixRow, Metric
from hardcost.show.text import ABSENT, MISSING, TIMES, TO, number, penalty, ratio, written_decimals
from hardcost.units import count, visible


def published_title(finding: StudyFinding) -> str:
    """Return the title of the publication, or nothing."""
    return f"Published: {published_figures(finding.source).title}" if finding.source else ""


def published_notes(finding: StudyFinding) -> tuple[str, ...]:
    """Return the source of the published figures and how to read them."""
    if finding.source is None:
        return ()
    figures = published_figures(finding.source)
    return (
        f"Source: {figures.source}; measured with {figures.workload}.",
        "Another kernel, processor and instrument: compare the shape, not the numbers.",
        *figures.notes,
    )


def published_matrices(finding: StudyFinding) -> list[Matrix]:
    """Return the published figures for the run's configurations, a table for each series.

    Each published value is followed by its ratio to the published baseline and our ratio between
    the same two configurations, whose baseline may not be the run's own. If the figures are rates,
    both ratios say how many times slower.
    """
    if finding.source is None:
        return []
    matrices = []
    for series in published_figures(finding.source).series:
        for workload in workloads(series, finding):
            cells = [c for c in finding.cells if workload in {None, c.workload}]
            matrix = _series_matrix(series, cells, workload)
            if matrix is not None:
                matrices.append(matrix)
    return matrices


def range_grids(finding: StudyFinding) -> list[Grid]:
    """Return a table for each set of published ranges, with ours over the same workloads."""
    if finding.source is None:
        return []
    grids = [_range_grid(ranges, finding) for ranges in published_figures(finding.source).ranges]
    return [grid for grid in grids if grid is not None]


def mean_grids(finding: StudyFinding) -> list[Grid]:
    """Return the table of mean penalties, if the run's source gives one of its own."""
    if finding.source is None or not published_figures(finding.source).mean:
        return []
    means = mean_penalties(finding.cells)
    return [_mean_grid(finding, means, published_figures(finding.source).mean)] if means else []


def _series_matrix(
    series: PublishedSeries, cells: Sequence[Cell], workload: Workload | None
) -> Matrix | None:
    """Return the rows of `series` that are among our configurations, with our ratios."""
    configurations = {str(cell.configuration) for cell in cells}
    rows = [row for row in series.rows if series.configuration(row) in configurations]
    if not rows:
        return None
    values = costs(cells)
    entries = {
        (nth, at): _series_entry(series, row, metric, values)
        for nth, row in enumerate(rows)
        for at, metric in enumerate(series.metrics)
    }
    several = bool(series.units)
    metrics = tuple(Metric(m, series.unit_of(m) if several else "") for m in series.metrics)
    names = tuple(visible(series.configuration(row)) for row in rows)
    base = series.configuration(series.baseline)
    slower = "times slower than" if series.better == "more" else "ratios to"
    title = f"Published, {series.name}: {'' if several else f'{series.unit}; '}"
    title += f"{slower} {series.baseline}"
    if any(entry.texts[2] not in {ABSENT, BASE} for entry in entries.values()):
        title += f", ours to {base}" + (f" in {visible(workload)}" if workload else "")
    return Matrix(
        title,
        (Column("configuration", names, left=True),),
        metrics,
        ("value", "ratio", "ours"),
        entries,
    )


def _series_entry(series: PublishedSeries, row: str, metric: str, values: Values) -> MatrixRow:
    digits = written_decimals(values[metric] for values in series.rows.values())
    base, own = series.configuration(series.baseline), series.configuration(row)
    ours = our_ratio(values, own, base, series.parts(metric))
    shown = number(series.rows[row][metric], digits)
    if row == series.baseline:
        return MatrixRow((shown, BASE, ABSENT if ours is None else BASE))
    return MatrixRow(
        (shown, ratio(series.ratio(row, metric)), ABSENT if ours is None else ratio(ours))
    )


def _range_grid(ranges: PublishedRanges, finding: StudyFinding) -> Grid | None:
    values = costs_by_workload(ranges, finding)
    measured = {configuration for own in values.values() for configuration, _ in own}
    rows = [row for row in ranges.rows if ranges.configuration(row) in measured]
    if not rows:
        return None
    groups = []
    for metric in ranges.metrics:
        columns = [Column("published", tuple(_span(ranges.rows[row].get(metric)) for row in rows))]
        ours = tuple(_our_span(ranges, row, metric, values) for row in rows)
        if set(ours) != {ABSENT}:
            columns.append(Column("ours", ours))
        groups.append(ColumnGroup(metric, tuple(columns)))
    names = tuple(visible(ranges.configuration(row)) for row in rows)
    base = visible(ranges.configuration(ranges.baseline))
    title = f"Published, {ranges.name}: multiples of {base}, from least to most"
    note = f"ours: over {count(len(values), 'workload')}, by instrument "
    note += visible(finding.instrument)
    summed = {m: parts for m, parts in ranges.measured.items() if m in ranges.metrics}
    parts_of = "".join(f"; {metric} is {' + '.join(parts)}" for metric, parts in summed.items())
    labels = (Column("configuration", names, left=True),)
    return Grid(title, labels, tuple(groups), notes=(note + parts_of,))


def _span(span: PublishedRange | None) -> str:
    if span is None:
        return ABSENT
    return f"up to {ratio(span.high)}" if span.low is None else _from_to(span.low, span.high)


def _our_span(
    ranges: PublishedRanges, row: str, metric: str, values: Mapping[Workload, Values]
) -> str:
    span = our_span(ranges, row, metric, values)
    return _from_to(*span) if span else ABSENT


def _from_to(low: float, high: float) -> str:
    return ratio(low) if low == high else f"{ratio(low)}{TO}{ratio(high).removeprefix(TIMES)}"


def _mean_grid(
    finding: StudyFinding, means: Sequence[MeanPenalty], figures: Sequence[PublishedMean]
) -> Grid:
    by = {(mean.configuration, mean.workload): mean for mean in means}
    configurations = list(dict.fromkeys(mean.configuration for mean in means))
    names = list(dict.fromkeys(mean.workload for mean in means))
    columns = []
    for workload in names:
        own = [by.get((configuration, workload)) for configuration in configurations]
        title = "all" if workload is None else visible(workload)
        columns.append(ColumnGroup("", (Column(title, tuple(map(_mean, own))),)))
    baselines = ", ".join(dict.fromkeys(visible(mean.baseline) for mean in means))
    how = "the geometric mean of all metrics' ratios to the baseline, each counted once;"
    how += " if a workload has metrics for each operation, only those"
    notes = [f"{how} (instrument {visible(finding.instrument)})"]
    if any(mean.low is not None for mean in means):
        notes.append("in parentheses: 95 % confidence interval over perturbations or repetitions")
    unknown = [mean for mean in means if mean.unknown and mean.workload == names[-1]]
    notes += [
        f"{visible(mean.configuration)}: without {count(mean.unknown, 'metric')} "
        "whose ratio is unknown"
        for mean in unknown
    ]
    notes += [
        f"published of {figure.configuration}: {penalty(figure.ratio)} ({figure.what})"
        for figure in figures
    ]
    labels = (Column("configuration", tuple(map(visible, configurations)), left=True),)
    return Grid(f"Mean penalty over {baselines}", labels, tuple(columns), notes=tuple(notes))


def _mean(mean: MeanPenalty | None) -> str:
    if mean is None:
        return ABSENT
    if not mean.metrics:
        return MISSING
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return penalty(mean.ratio)
    return f"{penalty(mean.ratio)} ({penalty(mean.low)}{TO}{penalty(mean.high)})"
