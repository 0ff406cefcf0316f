"""Charts of a finding as SVG: cost against a numeric axis, bars, published figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt

from hardcost.report.axes import Axis, numeric_axis
from hardcost.report.charts.bars import bar_charts
from hardcost.report.charts.drawing import COLOURS, Chart, Key, Panel, Row, chart_of, cycled
from hardcost.report.charts.spread import spread_charts
from hardcost.report.published import published
from hardcost.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.analysis.finding import Finding
    from hardcost.report.published import Series

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


def charts(finding: Finding) -> Charts:
    """Return every chart for which the finding has the numbers."""
    axis = numeric_axis(finding.levels)
    spread = spread_charts(finding)
    return Charts(
        run=(*(_run_charts(finding, axis) if axis else bar_charts(finding)), *spread),
        published=tuple(_published_charts(finding, axis)) if axis else (),
    )


def _run_charts(finding: Finding, axis: Axis) -> Iterable[Chart]:
    """Yield a chart for each workload and unit: a panel for each metric, added cost by level."""
    points = {name: (line, x) for line, own in axis.lines.items() for name, x in own}
    kinds = dict.fromkeys((c.workload, c.unit) for c in finding.cells if c.configuration in points)
    for nth, (workload, unit) in enumerate(kinds):
        rows: list[Row] = []
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


def _published_charts(finding: Finding, axis: Axis) -> Iterable[Chart]:
    """Yield a chart for each unit of the published figures: a panel for each metric."""
    if finding.published is None:
        return
    series = published(finding.published).series
    for nth, unit in enumerate(dict.fromkeys(one.unit for one in series)):
        same = [one for one in series if one.unit == unit]
        rows = [row for one in same for row in _series_rows(one, axis)]
        names = [one.name for one in same]
        if panels := _panels(rows, names):
            title = f"Published: {unit} added over {same[0].baseline}, against {visible(axis.name)}"
            yield chart_of(title, panels, f"published{nth}", _keys(names))


def _series_rows(series: Series, axis: Axis) -> Iterable[Row]:
    start = f"{axis.name}="
    for row, values in series.rows.items():
        level = next((w.removeprefix(start) for w in row.split() if w.startswith(start)), "")
        if level:
            for metric, value in values.items():
                added = value - series.rows[series.baseline][metric]
                yield _point(metric, series.name, float(level), added)


def _point(metric: str, line: str, x: float, y: float) -> Row:
    return {"metric": visible(metric), "line": visible(line), "x": x, "y": y}


def _panels(rows: Sequence[Row], lines: Sequence[str]) -> list[Panel]:
    """Return small charts with their own scales, one for each metric."""
    finite = [row for row in rows if math.isfinite(float(row["y"]))]
    metrics = dict.fromkeys(str(row["metric"]) for row in finite)
    return [_panel(m, [row for row in finite if row["metric"] == m], lines) for m in metrics]


def _panel(metric: str, rows: list[Row], lines: Sequence[str]) -> Panel:
    names = [visible(line) for line in lines]
    colour = alt.Scale(domain=names, range=cycled(COLOURS, len(names)))
    dash = alt.Scale(domain=names, range=cycled(_DASHES, len(names)))
    scale = alt.Scale(nice=False)
    drawing = (
        alt.Chart(alt.InlineData(values=rows), width=_PANEL[0], height=_PANEL[1])
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=18, filled=True, strokeDash=[1, 0]))
        .encode(
            # Without `nice` no label stands at the very top, where it would displace the heading.
            x=alt.X("x:Q", title=None, axis=alt.Axis(tickCount=4, grid=False), scale=scale),
            y=alt.Y("y:Q", title=None, axis=alt.Axis(tickCount=4), scale=scale),
            color=alt.Color("line:N", scale=colour, legend=None),
            strokeDash=alt.StrokeDash("line:N", scale=dash, legend=None),
        )
    )
    return Panel(metric, drawing, _words(rows, names))


def _words(rows: Sequence[Row], lines: Sequence[str]) -> str:
    """Return the ends of each line of a panel, in words."""
    described = []
    for line in lines:
        own = [row for row in rows if row["line"] == line]
        if own:
            ends = " to ".join(f"{row['y']:,.6g} at {row['x']:g}" for row in (own[0], own[-1]))
            described.append(f"{line} from {ends}")
    return f"{'; '.join(described)}."


def _keys(lines: Sequence[str]) -> tuple[Key, ...]:
    dashes, shown = cycled(_DASHES, len(lines)), [visible(line) for line in lines]
    return tuple(
        Key(name, colour, dash)
        for name, colour, dash in zip(shown, cycled(COLOURS, len(shown)), dashes, strict=True)
    )
