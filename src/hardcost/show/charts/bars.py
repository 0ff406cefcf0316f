"""A chart of each configuration's values: bars from 0, or dots on a logarithmic scale.

A bar's length is its value, so it begins at 0 and its scale is linear. If a panel's largest value
is many times its smallest, bars would hide the small costs: dots on a logarithmic scale replace
them, and their distances show ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import altair as alt

from hardcost.analysis.study.axes import numeric_axis
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.head import Found
from hardcost.model.finding.study import levels_of
from hardcost.model.role import Role
from hardcost.show.charts.drawing import (
    COLOURS,
    PALE,
    Chart,
    ChartRow,
    Panel,
    chart_of,
    colours,
    keys,
)
from hardcost.show.tables.run import instrument_and_machine
from hardcost.show.tables.workload_families import Family, families
from hardcost.show.text import ratio
from hardcost.units import visible

_BAR = 11
"""The width of a bar among several, in pixels."""

_WIDTH = 230
"""The width of a panel of horizontal bars, in pixels."""

_HEIGHT = 150

_SHORT = 8
"""Labels below a group of bars that are longer than this are slanted, in characters."""

_APART = 20
"""The ratio of the largest to the smallest value from which dots replace bars."""


def bar_charts(finding: Found) -> Iterable[Chart]:
    """Yield a chart for each family of workloads and unit.

    There is none if configurations form a line over a numeric axis, or for one configuration alone.
    """
    names = list(dict.fromkeys(cell.configuration for cell in finding.cells))
    if len(names) < 2 or numeric_axis(levels_of(finding)) is not None:  # noqa: PLR2004 - a comparison
        return
    for nth, family in enumerate(families(finding.cells)):
        scale = "dots on a logarithmic scale" if far_apart(family) else "bars from 0"
        where = instrument_and_machine(finding)
        title = f"{visible(family.title)}: {visible(family.unit)}, {scale} ({where})"
        legend = keys([visible(name) for name in names]) if len(family.levels) > 1 else ()
        yield chart_of(title, panels(family, names), f"bars{nth}", legend)


def panels(family: Family, names: Sequence[Role]) -> list[Panel]:
    """Return a panel for each metric of a family."""
    make = _grouped_bars if len(family.levels) > 1 else _single_bars
    return [
        Panel(visible(metric), make(family, metric, names), _words(family, metric))
        for metric in family.panels
    ]


def far_apart(family: Family) -> bool:
    """Say whether bars from 0 would hide the small values of a panel."""
    values = [[cell.value for _, cell in own] for own in family.panels.values()]
    return any(max(own) >= _APART * min(own) for own in values)


def _words(family: Family, metric: str) -> str:
    """Return the contents of a panel in words."""
    values = [
        f"{visible(f'{cell.configuration} {level}'.strip())}: {cell.value:,.6g}"
        for level, cell in family.panels[metric]
    ]
    return f"In {visible(family.unit)}: {'; '.join(values)}."


def _grouped_bars(family: Family, metric: str, names: Sequence[Role]) -> alt.Chart:
    """Return upright bars, or dots: a group for each level, with one for each configuration."""
    own = family.panels[metric]
    dots = far_apart(family)
    rows: list[ChartRow] = [
        {"level": visible(level), "name": visible(cell.configuration), "value": cell.value}
        for level, cell in own
    ]
    levels, shown = list(map(visible, family.levels)), list(map(visible, names))
    slanted = max(map(len, levels)) > _SHORT
    values = _axis([cell for _, cell in own], dots=dots)
    axis = alt.Axis(labelAngle=-30 if slanted else 0, labelLimit=0)
    base = alt.Chart(alt.InlineData(values=rows)).properties(
        width=len(levels) * (len(names) * _BAR + 14), height=_HEIGHT
    )
    marked = base.mark_point(filled=True, size=70, opacity=1) if dots else base.mark_bar()
    chart: alt.Chart = marked.encode(
        x=alt.X("level:N", sort=levels, title=visible(family.axis) or None, axis=axis),
        xOffset=alt.XOffset("name:N", sort=shown),
        y=alt.Y("value:Q", title=None, axis=values, scale=_scale(dots=dots), stack=None),
        color=alt.Color("name:N", scale=colours(shown), legend=None),
    )
    return chart


def _single_bars(family: Family, metric: str, names: Sequence[Role]) -> alt.LayerChart:
    """Return a row for each configuration: its name, its mark, and the multiple of the baseline."""
    cells = [cell for _, cell in family.panels[metric]]
    dots = far_apart(family)
    rows: list[ChartRow] = [
        {"name": visible(cell.configuration), "value": cell.value, "words": _times(cell)}
        for cell in cells
    ]
    order = [visible(name) for name in names]
    values = _axis(cells, dots=dots)
    base = alt.Chart(alt.InlineData(values=rows), width=_WIDTH, height=alt.Step(34)).encode(
        y=alt.Y("name:N", sort=order, axis=None),
        x=alt.X("value:Q", title=None, axis=values, scale=_scale(dots=dots), stack=None),
    )
    lines = base.mark_rule(color=PALE, opacity=0.35, yOffset=7).encode(
        x=alt.XValue(0), x2=alt.X2Value(_WIDTH)
    )
    if dots:
        marks = base.mark_point(filled=True, size=70, opacity=1, color=COLOURS[0], yOffset=7)
    else:
        marks = base.mark_bar(color=COLOURS[0], height=11, yOffset=7)
    above = base.mark_text(align="left", dy=-7, fontSize=11).encode(
        x=alt.XValue(0), text=alt.Text("name:N")
    )
    ratios = base.mark_text(align="right", dy=-7, fontSize=11).encode(
        x=alt.XValue(_WIDTH), text=alt.Text("words:N")
    )
    layers: alt.LayerChart = alt.LayerChart(
        layer=[*([lines] if dots else []), marks, above, ratios]
    )
    return layers


def _times(cell: Cell) -> str:
    return "" if cell.configuration == cell.baseline else ratio(cell.ratio)


def _axis(cells: Sequence[Cell], *, dots: bool) -> alt.Axis:
    """Return an axis of round numbers: on a logarithmic scale the powers of ten."""
    if not dots:
        return alt.Axis(tickCount=4, format="~s")
    low = math.floor(math.log10(min(cell.value for cell in cells)))
    high = math.ceil(math.log10(max(cell.value for cell in cells)))
    values = [10.0**power for power in range(low, high + 1)]
    return alt.Axis(values=values, format="~s")


def _scale(*, dots: bool) -> alt.Scale:
    if dots:
        return alt.Scale(type="log")
    return alt.Scale(type="linear", zero=True, nice=False)
