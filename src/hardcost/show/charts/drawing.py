"""The common parts of charts: colours, styles, and the conversion of a description to SVG.

Vega draws without a network. Its output is parsed and restricted to the few elements of `svg`
before it enters a page. A chart consists of panels that a page places side by side as its width
allows, each with a description in words, and one legend for all of them, which the page draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import altair as alt

from hardcost.show.charts.svg import UndrawnError, check_svg

_T = TypeVar("_T")

ChartRow = dict[str, str | float]
"""The datum behind one mark of a chart."""

Drawing = alt.Chart | alt.LayerChart

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#c56f9f", "#b27d00", "#7b5fe0", "#6e8b00", "#d81b3a",
)  # fmt: skip
"""After Okabe and Ito, dark enough to stand out from white and from black (3 to 1).

No two share a hue, since further rounds are lighter shades of the same.
"""

PALE = "#8a8f94"
"""The colour of anything without its own."""


_STYLE = {
    "background": "transparent",
    "font": "sans-serif",
    "padding": 2,
    "view": {"continuousWidth": 300, "continuousHeight": 300, "stroke": None},
    "axis": {
        "gridColor": "#dddddd",
        "domainColor": "#888888",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
    },
    "title": {"fontSize": 12, "fontWeight": 600, "anchor": "start"},
}


@dataclass(frozen=True)
class Panel:
    """One drawing before rendering: its name, its marks, and a description in words."""

    title: str
    drawing: Drawing
    words: str


@dataclass(frozen=True)
class LegendKey:
    """A line of a legend: a name, its colour, and the dashes of its line; none for an area."""

    name: str
    colour: str
    dash: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Chart:
    """Related drawings with descriptions in words; each is an SVG of its own.

    `width` is that of the widest, in CSS pixels.
    """

    title: str
    panels: tuple[str, ...]
    width: int
    legend: tuple[LegendKey, ...] = ()


def cycle_values(values: Sequence[_T], amount: int) -> list[_T]:
    """Return `amount` values, starting over after the last."""
    return [values[nth % len(values)] for nth in range(amount)]


def shades(names: Sequence[str]) -> list[str]:
    """Return a colour for each name; further rounds are lighter, so that 32 differ."""
    every = [colour + alpha for alpha in ("", "a8", "70", "48") for colour in COLOURS]
    return cycle_values(every, len(names))


def colours(names: Sequence[str]) -> alt.Scale:
    """Return `shades` as a scale."""
    return alt.Scale(domain=list(names), range=shades(names))


def keys(names: Sequence[str]) -> tuple[LegendKey, ...]:
    """Return the legend for areas filled by `colours`."""
    return tuple(LegendKey(name, colour) for name, colour in zip(names, shades(names), strict=True))


def chart_of(
    title: str, panels: Sequence[Panel], name: str, legend: tuple[LegendKey, ...] = ()
) -> Chart:
    """Return the panels drawn; `name` makes their ids unlike those of other charts."""
    made = [_draw_panel(panel, f"{name}-{nth}", title) for nth, panel in enumerate(panels)]
    return Chart(title, tuple(svg for svg, _ in made), max(width for _, width in made), legend)


def _description(panel: Panel) -> dict[str, Any]:
    """Return what Vega draws. The style joins here: a layered chart is copied by each change."""
    return panel.drawing.to_dict(validate=False) | {"title": panel.title, "config": _STYLE}


def _draw_panel(panel: Panel, name: str, whole: str) -> tuple[str, int]:
    import vl_convert  # noqa: PLC0415  (what draws is loaded where something is to be drawn)

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    try:
        svg = vl_convert.vegalite_to_svg(
            _description(panel), vl_version=version, allowed_base_urls=[]
        )
    except ValueError as error:  # also where it may open no more files
        raise UndrawnError(str(error)) from error
    return check_svg(svg, name, panel.title or whole, panel.words)
