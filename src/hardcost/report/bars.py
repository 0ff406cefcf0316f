"""Bars for each configuration, on a linear and on a logarithmic scale.

Both, since they say different things: the linear one shows what a configuration costs beside the
others, which the logarithmic one hides; that shows small costs beside large ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import altair as alt

from hardcost.report.axes import numeric_axis
from hardcost.report.drawing import COLOURS, Chart, Row, colours, drawn, legend
from hardcost.report.families import Family, families
from hardcost.report.table import where
from hardcost.report.text import ratio, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.analysis.finding import Cell, Finding

_PAGE = 1160
"""The width that panels beside each other may take, in pixels."""

_BAR = 11
"""The width of a bar among several, in pixels."""

_HEIGHT = 190

_SHORT = 8
"""Longer labels below a group of bars are slanted, in characters."""

_AXIS = alt.Axis(tickCount=4, format="~s")

Scale = Literal["linear", "log"]


def bar_charts(finding: Finding) -> Iterable[Chart]:
    """Yield two charts, linear and logarithmic, for each family of workloads and unit.

    None where configurations make a line over a numeric axis, or where there is one alone.
    """
    names = list(dict.fromkeys(cell.configuration for cell in finding.cells))
    if len(names) < 2 or numeric_axis(finding.levels) is not None:  # noqa: PLR2004 - a comparison
        return
    for nth, family in enumerate(families(finding.cells)):
        scales: tuple[tuple[Scale, str], ...] = (("linear", "linear"), ("log", "logarithmic"))
        for scale, word in scales:
            title = f"{visible(family.title)}: {visible(family.unit)}, on a {word} scale"
            chart = _chart(family, names, scale)
            yield Chart(f"{title} ({where(finding)})", drawn(chart, f"bars{nth}{scale}"))


def _chart(family: Family, names: Sequence[str], scale: Scale) -> alt.ConcatChart:
    grouped = len(family.levels) > 1
    make = _grouped if grouped else _single
    panels = [make(family, metric, names, scale) for metric in family.panels]
    width = _width(family, names) if grouped else _PAGE / 4
    columns = max(1, min(len(panels), int(_PAGE // (width + 60))))
    chart: alt.ConcatChart = alt.concat(*panels, columns=columns, spacing=34)
    return chart


def _width(family: Family, names: Sequence[str]) -> float:
    return len(family.levels) * (len(names) * _BAR + 14)


def _grouped(family: Family, metric: str, names: Sequence[str], scale: Scale) -> alt.Chart:
    """Return upright bars: a group for each level, in it a bar for each configuration."""
    own = family.panels[metric]
    domain = _domain([cell for _, cell in own], scale)
    rows: list[Row] = [
        {
            "level": visible(level),
            "name": visible(cell.configuration),
            "value": cell.value,
            "from": domain[0],
        }
        for level, cell in own
    ]
    levels, shown = list(map(visible, family.levels)), list(map(visible, names))
    slanted = max(map(len, levels)) > _SHORT
    axis = alt.Axis(labelAngle=-30 if slanted else 0, labelLimit=0)
    title = visible(family.axis) or None
    panel = alt.Chart(alt.InlineData(values=rows), title=visible(metric))
    chart: alt.Chart = (
        panel.properties(width=_width(family, names), height=_HEIGHT)
        .mark_bar()
        .encode(
            x=alt.X("level:N", sort=levels, title=title, axis=axis),
            xOffset=alt.XOffset("name:N", sort=shown),
            y=alt.Y("value:Q", title=None, axis=_AXIS, scale=_scale(domain, scale), stack=None),
            y2=alt.Y2("from:Q"),
            color=alt.Color("name:N", scale=colours(shown), legend=legend()),
        )
    )
    return chart


def _single(family: Family, metric: str, names: Sequence[str], scale: Scale) -> alt.LayerChart:
    """Return lying bars, one for each configuration, with how many times the baseline it is."""
    cells = [cell for _, cell in family.panels[metric]]
    domain = _domain(cells, scale, room=1.35)
    rows: list[Row] = [
        {
            "name": visible(cell.configuration),
            "value": cell.value,
            "from": domain[0],
            "words": _words(cell),
        }
        for cell in cells
    ]
    shown = [visible(name) for name in names]
    axis = alt.Axis(title=None, labelLimit=0, ticks=False, domain=False)
    base = alt.Chart(
        alt.InlineData(values=rows), title=visible(metric), width=200, height=alt.Step(17)
    ).encode(
        y=alt.Y("name:N", sort=shown, axis=axis),
        x=alt.X("value:Q", title=None, axis=_AXIS, scale=_scale(domain, scale), stack=None),
    )
    bars = base.mark_bar(color=COLOURS[0], height=11).encode(x2=alt.X2("from:Q"))
    numbers = base.mark_text(align="left", dx=4, fontSize=11).encode(text="words:N")
    layers: alt.LayerChart = alt.LayerChart(layer=[bars, numbers])
    return layers


def _words(cell: Cell) -> str:
    return "" if cell.configuration == cell.baseline else ratio(cell.ratio)


def _domain(cells: Sequence[Cell], scale: Scale, room: float = 1.0) -> tuple[float, float]:
    """Return from where bars begin, nothing or half the least, to the greatest and some room."""
    highest = max(cell.value for cell in cells)
    if scale == "linear":
        return 0.0, highest * room
    lowest = min(cell.value for cell in cells) / 2
    return lowest, lowest * (highest / lowest) ** room


def _scale(domain: tuple[float, float], scale: Scale) -> alt.Scale:
    return alt.Scale(type=scale, domain=list(domain), nice=False)
