"""Published figures beside ours, as values for tables and JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.report.published import published
from hardcost.units import is_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hardcost.analysis.finding import Cell, Finding
    from hardcost.report.published import Ranges, Series

Values = dict[tuple[str, str], float]
"""The cost of each metric, by configuration and metric."""


@dataclass(frozen=True)
class Figure:
    """One published figure, and ours of the same configurations.

    `value` is in the source's `unit`; `ratio` is its cost as a multiple of the source's baseline,
    [ratio_low, ratio_high] if the source gave a range. [ours_low, ours_high] are our ratios between
    the same two configurations, over all workloads that correspond to the source's table;
    `workload` names it if there is only one. Values not published or not measured are None.
    """

    table: str
    configuration: str
    metric: str | None = None
    unit: str | None = None
    value: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    workload: str | None = None
    ours_low: float | None = None
    ours_high: float | None = None


def figures(finding: Finding) -> tuple[Figure, ...]:
    """Return every published figure of a measured configuration, in the source's order."""
    if finding.published is None:
        return ()
    source = published(finding.published)
    measured = {cell.configuration for cell in finding.cells}
    found = [figure for series in source.series for figure in _of_series(series, finding)]
    found += [figure for ranges in source.ranges for figure in _of_ranges(ranges, finding)]
    found += [
        Figure(
            mean.what,
            mean.configuration,
            None,
            None,
            None,
            mean.ratio,
            None,
            None,
            None,
            None,
            None,
        )
        for mean in source.mean
        if mean.configuration in measured
    ]
    return tuple(found)


def workloads(series: Series, finding: Finding) -> list[str | None]:
    """Return our workloads that correspond to `series`: None for all of them together."""
    if not series.workloads:
        return [None]
    known = dict.fromkeys(cell.workload for cell in finding.cells)
    return [workload for workload in known if series.beside(workload)]


def costs(cells: Iterable[Cell]) -> Values:
    """Return the cost of each metric: for a rate, the inverse of its value."""
    return {
        (c.configuration, c.metric): 1 / c.value if is_rate(c.unit) and c.value else c.value
        for c in cells
    }


def costs_by_workload(ranges: Ranges, finding: Finding) -> dict[str, Values]:
    """Return the costs of our metrics in each of the workloads of `ranges`."""
    own: dict[str, list[Cell]] = {}
    for cell in finding.cells:
        if ranges.beside(cell.workload):
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
    ranges: Ranges, row: str, metric: str, values: Mapping[str, Values]
) -> tuple[float, float] | None:
    """Return our least and greatest ratio over the workloads; None if none is known."""
    base, parts = ranges.configuration(ranges.baseline), ranges.parts(metric)
    found = [our_ratio(own, ranges.configuration(row), base, parts) for own in values.values()]
    known = [value for value in found if value is not None]
    return (min(known), max(known)) if known else None


def _of_series(series: Series, finding: Finding) -> Iterator[Figure]:
    base = series.configuration(series.baseline)
    for workload in workloads(series, finding):
        cells = [cell for cell in finding.cells if workload in {None, cell.workload}]
        values, measured = costs(cells), {cell.configuration for cell in cells}
        for row, published_values in series.rows.items():
            configuration = series.configuration(row)
            if configuration not in measured:
                continue
            for metric, value in published_values.items():
                ours = our_ratio(values, configuration, base, series.parts(metric))
                yield Figure(
                    series.name,
                    configuration,
                    metric,
                    series.unit_of(metric),
                    value,
                    series.ratio(row, metric),
                    workload=workload,
                    ours_low=ours,
                    ours_high=ours,
                )


def _of_ranges(ranges: Ranges, finding: Finding) -> Iterator[Figure]:
    values = costs_by_workload(ranges, finding)
    measured = {configuration for own in values.values() for configuration, _ in own}
    for row, spans in ranges.rows.items():
        configuration = ranges.configuration(row)
        if configuration in measured:
            for metric, span in spans.items():
                ours_low, ours_high = our_span(ranges, row, metric, values) or (None, None)
                yield Figure(
                    ranges.name,
                    configuration,
                    metric,
                    ratio_low=span.low,
                    ratio_high=span.high,
                    ours_low=ours_low,
                    ours_high=ours_high,
                )
