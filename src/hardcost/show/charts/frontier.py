"""The frontier of a choice: the value that is kept at each cost, a panel for each metric.

A filled dot was measured, a hollow one is predicted. A vertical line is the user's budget.
"""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt

from hardcost.model.finding.choice import Advised, Choice, Costs
from hardcost.model.workload import MetricId
from hardcost.show.charts.drawing import COLOURS, PALE, Chart, ChartRow, Panel, chart_of
from hardcost.show.sentences.choice import signed_share
from hardcost.show.tables.choice import dearest
from hardcost.show.tables.run import instrument_and_machine
from hardcost.show.text import percent
from hardcost.units import visible

_WIDTH = 280
_HEIGHT = 190
_FEWEST = 2  # points that make a line


def frontier_charts(finding: Advised) -> Iterable[Chart]:
    """Yield the chart of a choice's frontier; none where that has a single point."""
    choice = finding.choice
    if len({one.kept for one in choice.frontier}) < _FEWEST:
        return
    title = f"Value kept at each cost, relative to the baseline ({instrument_and_machine(finding)})"
    panels = [
        Panel(visible(metric), _drawing(choice, metric), _words(choice, metric))
        for metric in dearest(choice)
    ]
    yield chart_of(title, panels, "frontier")


def _drawing(choice: Choice, metric: MetricId) -> alt.LayerChart:
    """Return a metric's points, each joined to the next at its own value, and the budget."""
    rows: list[ChartRow] = [
        {
            "cost": cost.share,
            "value": level.value,
            "how": "measured" if level.measured else "predicted",
            "order": nth,
        }
        for nth, level in enumerate(choice.frontier)
        for cost in level.costs
        if cost.metric == metric
    ]
    base = alt.Chart(alt.InlineData(values=rows), width=_WIDTH, height=_HEIGHT).encode(
        x=alt.X("cost:Q", title="cost", axis=alt.Axis(format="+%", tickCount=5)),
        y=alt.Y(
            "value:Q",
            title="value kept",
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1]),
        ),
    )
    line = base.mark_line(color=COLOURS[0], strokeWidth=1.5, interpolate="step-after").encode(
        order="order:Q"
    )
    filled = base.transform_filter("datum.how == 'measured'").mark_point(
        filled=True, size=55, opacity=1, color=COLOURS[0]
    )
    hollow = base.transform_filter("datum.how == 'predicted'").mark_point(
        filled=False, size=55, opacity=1, color=COLOURS[0]
    )
    layers = [line, filled, hollow]
    limit = _limit(choice, metric)
    if limit is not None:
        at = alt.Chart(alt.InlineData(values=[{"limit": limit}]))
        layers.append(at.mark_rule(color=PALE, strokeDash=[4, 3]).encode(x="limit:Q"))
    drawing: alt.LayerChart = alt.LayerChart(layer=layers)
    return drawing


def _limit(choice: Choice, metric: MetricId) -> float | None:
    """Return the user's budget for a metric, as a share of the baseline."""
    if not choice.has_budget:
        return None
    found = next(one for one in choice.after if one.metric == metric)
    return None if found.limit is None or not found.baseline else found.limit / found.baseline


def _words(choice: Choice, metric: MetricId) -> str:
    """Return the contents of a panel in words."""
    points = [
        f"{signed_share(_costs_on(level.costs, metric).share)} for {percent(level.value)}"
        f" ({'measured' if level.measured else 'predicted'})"
        for level in choice.frontier
    ]
    limit = _limit(choice, metric)
    mine = "" if limit is None else f" Your budget: {percent(limit)}."
    return f"Cost on {visible(metric)} and value kept: {'; '.join(points)}.{mine}"


def _costs_on(costs: Iterable[Costs], metric: MetricId) -> Costs:
    return next(one for one in costs if one.metric == metric)
