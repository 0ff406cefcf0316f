"""The spread of one configuration's trials: a mark for each trial, by seed and repetition."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

import altair as alt

from hardcost.model.finding.cell import Cell
from hardcost.model.finding.head import Found
from hardcost.show.charts.drawing import COLOURS, Chart, ChartRow, Panel, chart_of
from hardcost.show.tables.run import instrument_and_machine
from hardcost.show.tables.workload_families import families
from hardcost.units import visible

_FEWEST = 3
"""Fewer trials show no distribution."""

_WIDTH = 190


def spread_charts(finding: Found) -> Iterable[Chart]:
    """Yield a chart for each family of workloads in which at least three trials differ."""
    names = [visible(name) for name in dict.fromkeys(c.configuration for c in finding.cells)]
    for nth, family in enumerate(families(finding.cells)):
        panels = []
        for metric, own in family.panels.items():
            for level in dict.fromkeys(level for level, _ in own):
                cells = [cell for of, cell in own if of == level and len(cell.each) >= _FEWEST]
                if any(len(set(cell.each)) > 1 for cell in cells):
                    title = f"{metric}, {family.axis} {level}" if level else metric
                    panels.append(_panel(visible(" ".join(title.split())), cells, names))
        if panels:
            what = f"{visible(family.title)}: each trial, in % from its configuration's median"
            yield chart_of(f"{what} ({instrument_and_machine(finding)})", panels, f"spread{nth}")


def _panel(title: str, cells: Sequence[Cell], names: Sequence[str]) -> Panel:
    """Return a line of marks for each configuration, with one at its median."""
    rows: list[ChartRow] = []
    ranges = []
    for cell in cells:
        middle = statistics.median(cell.each)
        name = visible(cell.configuration)
        parts = [100 * (value / middle - 1) for value in cell.each]
        rows += [{"name": name, "value": part} for part in parts]
        ranges.append(f"{name} from {min(parts):+.3g}% to {max(parts):+.3g}%")
    axis = alt.Axis(title=None, labelLimit=0, ticks=False, domain=False)
    base = alt.Chart(alt.InlineData(values=rows), width=_WIDTH, height=alt.Step(20)).encode(
        y=alt.Y("name:N", sort=list(names), axis=axis)
    )
    scale = alt.Scale(nice=False, padding=8)
    x = alt.X("value:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4, format="+~g"))
    marks = base.mark_tick(color=COLOURS[0], opacity=0.7, size=13, thickness=1.5).encode(x=x)
    at_zero = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=COLOURS[1])
    zero = at_zero.encode(x=alt.XDatum(0))
    layers: alt.LayerChart = alt.LayerChart(layer=[zero, marks])
    return Panel(title, layers, f"{'; '.join(ranges)}.")
