"""Published figures beside ours, as values for tables and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hardcost.analysis.study.published import PublishedRanges, PublishedSeries, published_figures
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import Figure, StudyFinding
from hardcost.model.workload import Workload
from hardcost.units import is_rate

Values = dict[tuple[str, str], float]
"""The cost of each metric, by the configuration's name and the metric."""


def figures(finding: StudyFinding) -> tuple[Figure, ...]:
    """Return every published figure of a measured configuration, in the source's order."""
    if finding.source is None:
        return ()
    source = published_figures(finding.source)
    measured = {str(cell.configuration) for cell in finding.cells}
    found = [one for series in source.series for one in _of_series(finding.source, series, finding)]
    found += [one for spans in source.ranges for one in _of_ranges(finding.source, spans, finding)]
    found += [
        Figure(
            source=finding.source,
            table=mean.what,
            configuration=mean.configuration,
            ratio=mean.ratio,
        )
        for mean in source.mean
        if mean.configuration in measured
    ]
    return tuple(found)


def workloads(series: PublishedSeries, finding: StudyFinding) -> list[Workload | None]:
    """Return our workloads that correspond to `series`: None for all of them together."""
    if not series.workloads:
        return [None]
    known = dict.fromkeys(cell.workload for cell in finding.cells)
    return [workload for workload in known if series.applies_to(workload)]


def costs(cells: Iterable[Cell]) -> Values:
    """Return the cost of each metric: for a rate, the inverse of its value."""
    return {
        (str(c.configuration), c.metric): 1 / c.value if is_rate(c.unit) and c.value else c.value
        for c in cells
    }


def costs_by_workload(ranges: PublishedRanges, finding: StudyFinding) -> dict[Workload, Values]:
    """Return the costs of our metrics in each of the workloads of `ranges`."""
    own: dict[Workload, list[Cell]] = {}
    for cell in finding.cells:
        if ranges.applies_to(cell.workload):
            own.setdefault(cell.workload, []).append(cell)
    return {workload: costs(cells) for workload, cells in own.items()}


def our_ratio(
    values: Values, configuration: str, base: str, metrics: Sequence[str]
) -> float | None:
    """Return our ratio of the sum of `metrics`; None if one is unknown."""
    ours = [values.get((configuration, metric), math.nan) for metric in metrics]
    to = math.fsum(values.get((base, metric), math.nan) for metric in metrics)
    found = math.fsum(ours) / to if to else math.nan
    return found if math.isfinite(found) else None


def our_span(
    ranges: PublishedRanges, row: str, metric: str, values: Mapping[Workload, Values]
) -> tuple[float, float] | None:
    """Return our least and greatest ratio over the workloads; None if none is known."""
    base, parts = ranges.configuration(ranges.baseline), ranges.parts(metric)
    found = [our_ratio(own, ranges.configuration(row), base, parts) for own in values.values()]
    known = [value for value in found if value is not None]
    return (min(known), max(known)) if known else None


def _of_series(source: str, series: PublishedSeries, finding: StudyFinding) -> Iterator[Figure]:
    base = series.configuration(series.baseline)
    for workload in workloads(series, finding):
        cells = [cell for cell in finding.cells if workload in {None, cell.workload}]
        values, measured = costs(cells), {str(cell.configuration) for cell in cells}
        for row, published_values in series.rows.items():
            configuration = series.configuration(row)
            if configuration not in measured:
                continue
            for metric, value in published_values.items():
                ours = our_ratio(values, configuration, base, series.parts(metric))
                yield Figure(
                    source=source,
                    table=series.name,
                    configuration=configuration,
                    metric=metric,
                    unit=series.unit_of(metric),
                    value=value,
                    ratio=series.ratio(row, metric),
                    workload=workload,
                    ours_low=ours,
                    ours_high=ours,
                )


def _of_ranges(source: str, ranges: PublishedRanges, finding: StudyFinding) -> Iterator[Figure]:
    values = costs_by_workload(ranges, finding)
    measured = {configuration for own in values.values() for configuration, _ in own}
    for row, spans in ranges.rows.items():
        configuration = ranges.configuration(row)
        if configuration in measured:
            for metric, span in spans.items():
                ours_low, ours_high = our_span(ranges, row, metric, values) or (None, None)
                yield Figure(
                    source=source,
                    table=ranges.name,
                    configuration=configuration,
                    metric=metric,
                    ratio_low=span.low,
                    ratio_high=span.high,
                    ours_low=ours_low,
                    ours_high=ours_high,
                )
