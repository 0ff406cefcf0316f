"""Charts of a finding as SVG: cost against a numeric axis, bars, published figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import altair as alt

from hardcost.analysis.study.axes import Axis, numeric_axis
from hardcost.analysis.study.published import PublishedSeries, published_figures
from hardcost.model.finding.head import Found
from hardcost.model.finding.study import StudyFinding, levels_of
from hardcost.show.charts.bars import bar_charts
from hardcost.show.charts.drawing import (
    COLOURS,
    Chart,
    ChartRow,
    LegendKey,
    Panel,
    chart_of,
    cycle_values,
)
from hardcost.show.charts.spread import spread_charts
from hardcost.units import visible

UNDRAWN = (
    "This page has no charts, since what draws them failed; the tables hold the same numbers. "
    "`hardcost report` writes the page again."
)
"""The note of a page without charts."""

# Dashes identify a line without colour.
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (4, 4), (1, 3))

_PANEL = (230, 130)
"""Width and height of one of several small charts, in pixels."""


@dataclass(frozen=True)
class Charts:
    """All charts of a finding, by the part of a report to which they belong."""

    run: tuple[Chart, ...] = ()
    published: tuple[Chart, ...] = ()


def charts(finding: Found) -> Charts:
    """Return every chart for which the finding has the numbers."""
    axis = numeric_axis(levels_of(finding))
    figures: Iterable[Chart] = ()
    if axis and isinstance(finding, StudyFinding):
        figures = _published_charts(finding, axis)
    spread = spread_charts(finding)
    return Charts(
        run=(*(_run_charts(finding, axis) if axis else bar_charts(finding)), *spread),
        published=tuple(figures),
    )


def _run_charts(finding: Found, axis: Axis) -> Iterable[Chart]:
    """Yield a chart for each workload and unit: a panel for each metric, added cost by level."""
    points = {name: (line, x) for line, own in axis.lines.items() for name, x in own}
    kinds = dict.fromkeys((c.workload, c.unit) for c in finding.cells if c.configuration in points)
    for nth, (workload, unit) in enumerate(kinds):
        rows: list[ChartRow] = []
        baselines = []
        for cell in finding.cells:
            if (cell.workload, cell.unit) != (workload, unit) or cell.configuration not in points:
                continue
            line, x = points[cell.configuration]
            added = 0.0 if cell.may_be_baseline else cell.difference
            rows.append(_point(cell.metric, line, x, added))
            baselines.append(visible(cell.baseline))
        over = " and ".join(dict.fromkeys(baselines))
        title = (
            f"{visible(workload)}: {visible(unit)} added over {over}, against {visible(axis.name)}"
        )
        title += f" (instrument {visible(finding.instrument)}, machine {visible(finding.machine)})"
        lines = list(axis.lines)
        if panels := _panels(rows, lines):  # none if the baseline failed
            yield chart_of(title, panels, f"run{nth}", _keys(lines))


def _published_charts(finding: StudyFinding, axis: Axis) -> Iterable[Chart]:
    """Yield a chart for each unit of the published figures: a panel for each metric."""
    if finding.source is None:
        return
    series = published_figures(finding.source).series
    for nth, unit in enumerate(dict.fromkeys(one.unit for one in series)):
        same = [one for one in series if one.unit == unit]
        rows = [row for one in same for row in _series_rows(one, axis)]
        names = [one.name for one in same]
        if panels := _panels(rows, names):
            title = f"Published: {unit} added over {same[0].baseline}, against {visible(axis.name)}"
            yield chart_of(title, panels, f"published{nth}", _keys(names))


def _series_rows(series: PublishedSeries, axis: Axis) -> Iterable[ChartRow]:
    for row, values in series.rows.items():
        level = series.level(row, axis.name)
        if level is not None:
            for metric, value in values.items():
                added = value - series.rows[series.baseline][metric]
                yield _point(metric, series.name, level, added)


def _point(metric: str, line: str, x: float, y: float) -> ChartRow:
    return {"metric": visible(metric), "line": visible(line), "x": x, "y": y}


def _panels(rows: Sequence[ChartRow], lines: Sequence[str]) -> list[Panel]:
    """Return small charts with their own scales, one for each metric."""
    finite = [row for row in rows if math.isfinite(float(row["y"]))]
    metrics = dict.fromkeys(str(row["metric"]) for row in finite)
    return [_panel(m, [row for row in finite if row["metric"] == m], lines) for m in metrics]


def _panel(metric: str, rows: list[ChartRow], lines: Sequence[str]) -> Panel:
    names = [visible(line) for line in lines]
    colour = alt.Scale(domain=names, range=cycle_values(COLOURS, len(names)))
    dash = alt.Scale(domain=names, range=cycle_values(_DASHES, len(names)))
    scale = alt.Scale(nice=False)
    drawing = (
        alt.Chart(alt.InlineData(values=rows), width=_PANEL[0], height=_PANEL[1])
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=18, filled=True, strokeDash=[1, 0]))
        .encode(
            # Without `nice` no label is at the very top, where it would displace the heading.
            x=alt.X("x:Q", title=None, axis=alt.Axis(tickCount=4, grid=False), scale=scale),
            y=alt.Y("y:Q", title=None, axis=alt.Axis(tickCount=4), scale=scale),
            color=alt.Color("line:N", scale=colour, legend=None),
            strokeDash=alt.StrokeDash("line:N", scale=dash, legend=None),
        )
    )
    return Panel(metric, drawing, _words(rows, names))


def _words(rows: Sequence[ChartRow], lines: Sequence[str]) -> str:
    """Return the ends of each line of a panel, in words."""
    described = []
    for line in lines:
        own = [row for row in rows if row["line"] == line]
        if own:
            ends = " to ".join(f"{row['y']:,.6g} at {row['x']:g}" for row in (own[0], own[-1]))
            described.append(f"{line} from {ends}")
    return f"{'; '.join(described)}."


def _keys(lines: Sequence[str]) -> tuple[LegendKey, ...]:
    dashes, shown = cycle_values(_DASHES, len(lines)), [visible(line) for line in lines]
    return tuple(
        LegendKey(name, colour, dash)
        for name, colour, dash in zip(shown, cycle_values(COLOURS, len(shown)), dashes, strict=True)
    )
