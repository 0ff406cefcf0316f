"""Charts of a finding as SVG: cost against a numeric axis, published figures, a bill's controls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt

from hardcost.report.axes import Axis, numeric_axis
from hardcost.report.bars import bar_charts
from hardcost.report.drawing import COLOURS, Chart, Row, cycled, drawn
from hardcost.report.ledger import FEW, Account, Entry, Ledger, ledger
from hardcost.report.published import published
from hardcost.report.spread import spread_charts
from hardcost.report.text import shorten, signed, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.analysis.finding import Finding
    from hardcost.report.published import Series

# Beside the colours dashes serve, without colour.
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (4, 4), (1, 3))

_COLUMNS = 4
_PANEL = (220, 130)
"""Width and height of one of several small charts, in pixels."""

_SPACING = alt.RowColnumber(row=58, column=56)
"""Room between panels for axes and headings, in pixels."""

_BARS = 15
"""How many of a bill's controls are drawn."""

_BAR_NAME = 60
"""The longest name of a control beside its bar, in characters."""

_LETTER = 6.05
"""The width of a letter of such a name, in pixels."""


@dataclass(frozen=True)
class Charts:
    """All charts of a finding, by the part of a report that they belong to."""

    run: tuple[Chart, ...] = ()
    published: tuple[Chart, ...] = ()
    bill: tuple[Chart, ...] = ()


def charts(finding: Finding) -> Charts:
    """Return every chart that the finding has the numbers for."""
    axis = numeric_axis(finding.levels)
    spread = spread_charts(finding)
    return Charts(
        run=(*(_run_charts(finding, axis) if axis else bar_charts(finding)), *spread),
        published=tuple(_published_charts(finding, axis)) if axis else (),
        bill=tuple(_bill_charts(finding)),
    )


def _run_charts(finding: Finding, axis: Axis) -> Iterable[Chart]:
    """Yield a chart for each workload and unit: a panel for each metric, added cost over level."""
    points = {name: (line, x) for line, own in axis.lines.items() for name, x in own}
    kinds = dict.fromkeys((c.workload, c.unit) for c in finding.cells if c.configuration in points)
    for nth, (workload, unit) in enumerate(kinds):
        rows: list[Row] = []
        baselines = []
        for cell in finding.cells:
            if (cell.workload, cell.unit) != (workload, unit) or cell.configuration not in points:
                continue
            line, x = points[cell.configuration]
            rows.append(_point(cell.metric, line, x, cell.difference))
            baselines.append(visible(cell.baseline))
        over = " and ".join(dict.fromkeys(baselines))
        title = (
            f"{visible(workload)}: {visible(unit)} added over {over}, against {visible(axis.name)}"
        )
        title += f" (instrument {visible(finding.instrument)}, machine {visible(finding.machine)})"
        yield Chart(title, drawn(_panels(rows, list(axis.lines)), f"run{nth}"))


def _published_charts(finding: Finding, axis: Axis) -> Iterable[Chart]:
    """Yield a chart for each unit of the published figures: a panel for each metric."""
    if finding.published is None:
        return
    series = published(finding.published).series
    for nth, unit in enumerate(dict.fromkeys(one.unit for one in series)):
        same = [one for one in series if one.unit == unit]
        rows = [row for one in same for row in _series_rows(one, axis)]
        if rows:
            names = [one.name for one in same]
            title = f"Published: {unit} added over {same[0].baseline}, against {visible(axis.name)}"
            panels = _panels(rows, names)
            yield Chart(title, drawn(panels, f"published{nth}"))


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


def _panels(rows: Sequence[Row], lines: Sequence[str]) -> alt.FacetChart:
    """Return small charts with their own scales, one for each metric, four in a row."""
    metrics = list(dict.fromkeys(str(row["metric"]) for row in rows))
    names = [visible(line) for line in lines]
    finite = [row for row in rows if math.isfinite(float(row["y"]))]
    colour = alt.Scale(domain=names, range=cycled(COLOURS, len(names)))
    dash = alt.Scale(domain=names, range=cycled(_DASHES, len(names)))
    scale = alt.Scale(nice=False)
    legend = alt.Legend(
        orient="top",
        title=None,
        labelLimit=0,
        symbolType="stroke",
        symbolSize=400,
        symbolStrokeWidth=2.5,
        columns=2,
    )
    base = (
        alt.Chart(alt.InlineData(values=finite), width=_PANEL[0], height=_PANEL[1])
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=18, filled=True, strokeDash=[1, 0]))
        .encode(
            # Without `nice` no label stands at the very top, where it would move the heading.
            x=alt.X("x:Q", title=None, axis=alt.Axis(tickCount=4, grid=False), scale=scale),
            y=alt.Y("y:Q", title=None, axis=alt.Axis(tickCount=4), scale=scale),
            color=alt.Color("line:N", scale=colour, legend=legend),
            strokeDash=alt.StrokeDash("line:N", scale=dash, legend=legend),
        )
    )
    heading = alt.Header(title=None, labelFontSize=12, labelFontWeight=600, labelAnchor="start")
    facet = alt.Facet("metric:N", sort=metrics, header=heading)
    panels: alt.FacetChart = base.facet(
        facet, columns=min(_COLUMNS, len(metrics)), spacing=_SPACING, bounds="flush"
    )
    independent: alt.FacetChart = panels.resolve_scale(x="independent", y="independent")
    return independent


def _bill_charts(finding: Finding) -> Iterable[Chart]:
    """Yield one chart: bars for the largest controls of a bill."""
    if finding.bill is None:
        return
    book = ledger(finding.bill)
    entries = book.entries[:_BARS]
    if not entries or not book.accounts:
        return
    left = len(book.entries) - len(entries)
    title = f"The {len(entries)} largest controls" if left else "All controls"
    title += (
        f": cost (instrument {visible(finding.instrument)}, machine {visible(finding.machine)})"
    )
    panels = [
        _bars(rows, name, first=not nth) for nth, (name, rows) in enumerate(_sides(book, entries))
    ]
    yield Chart(title, drawn(alt.hconcat(*panels, spacing=24), "bill"))


def _sides(book: Ledger, entries: Sequence[Entry]) -> list[tuple[str, list[Row]]]:
    """Return what is drawn side by side: each of few metrics; of many the usual and the largest."""
    if len(book.accounts) <= FEW:
        return [_side(account, entries) for account in book.accounts]
    largest = []
    # The usual metric comes first: among equals it is named.
    accounts = (book.usual, *book.accounts)
    for entry in entries:
        costs = [account.of([entry]) for account in accounts]
        account = accounts[costs.index(max(costs))]
        largest.append(_bar(account, entry, visible(account.metric)))
    return [_side(book.usual, entries), ("where it costs most", largest)]


def _side(account: Account, entries: Sequence[Entry]) -> tuple[str, list[Row]]:
    title = f"on {visible(account.metric)}, {visible(account.unit)}"
    return title, [_bar(account, entry, "") for entry in entries]


def _bar(account: Account, entry: Entry, where: str) -> Row:
    name = f"#{entry.number}  {shorten(visible(entry.control), _BAR_NAME)}"
    cost = account.of([entry])
    words = f"{signed(cost, account.digits)} {where}".strip()
    return {"control": name, "cost": float(cost), "words": words}


def _bars(rows: list[Row], title: str, *, first: bool) -> alt.LayerChart:
    """Return horizontal bars with their numbers; only the `first` of several has the names."""
    order = [str(row["control"]) for row in rows]
    names = alt.Axis(
        title=None,
        labels=first,
        labelFont="monospace",
        labelAlign="left",
        labelLimit=0,
        labelPadding=_LETTER * max(map(len, order)) + 8,
        ticks=False,
        domain=False,
    )
    highest = max(0.0, *(float(row["cost"]) for row in rows))
    lowest = min(0.0, *(float(row["cost"]) for row in rows))
    # The numbers stand right of the bars and need room there.
    scale = alt.Scale(domain=[lowest, (highest or 1.0) * 1.6], nice=False)
    base = alt.Chart(
        alt.InlineData(values=rows), title=title, width=250, height=alt.Step(20)
    ).encode(
        y=alt.Y("control:N", sort=order, axis=names),
        x=alt.X("cost:Q", title=None, scale=scale, axis=alt.Axis(tickCount=3)),
    )
    bars = base.mark_bar(color=COLOURS[0], height=12)
    numbers = base.mark_text(align="left", dx=4, fontSize=11).encode(text="words:N")
    layers: alt.LayerChart = alt.LayerChart(layer=[bars, numbers])
    return layers
