"""What all charts have in common: colours, styles, and the way from a description to SVG.

Vega draws without a network. What it returns is parsed and held to the few elements of `svg` before
anyone puts it into a page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import altair as alt
import vl_convert

from hardcost.report.svg import checked

if TYPE_CHECKING:
    from collections.abc import Sequence

_T = TypeVar("_T")

Row = dict[str, str | float]
"""What one mark of a chart stands for."""

Drawing = alt.FacetChart | alt.HConcatChart | alt.ConcatChart

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Those colours of Okabe and Ito that show on white and on black."""

PALE = "#8a8f94"
"""The colour of what has none of its own."""


@dataclass(frozen=True)
class Chart:
    """A drawing, with what it shows in words."""

    title: str
    svg: str


def cycled(values: Sequence[_T], amount: int) -> list[_T]:
    """Return as many values as asked for, from the first again after the last."""
    return [values[nth % len(values)] for nth in range(amount)]


def colours(names: Sequence[str]) -> alt.Scale:
    """Return a colour for each name, a fourth round of them lighter, so that 24 can be told."""
    shades = [colour + alpha for alpha in ("", "a8", "70", "48") for colour in COLOURS]
    return alt.Scale(domain=list(names), range=cycled(shades, len(names)))


def legend(columns: int = 6) -> alt.Legend:
    """Return a legend above the chart whose words are never cut off."""
    return alt.Legend(orient="top", title=None, labelLimit=0, columns=columns)


def drawn(chart: Drawing, name: str) -> str:
    """Return `chart` drawn, its ids made unlike those of other charts by `name`."""
    styled = (
        chart.configure(background="transparent", font="sans-serif", padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            gridColor="#dddddd",
            domainColor="#888888",
            labelFontSize=10,
            titleFontSize=10,
            titleFontWeight="normal",
        )
        .configure_legend(labelFontSize=12)
        .configure_title(fontSize=12, fontWeight=600, anchor="start")
    )
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    svg = vl_convert.vegalite_to_svg(
        styled.to_json(validate=False), vl_version=version, allowed_base_urls=[]
    )
    return checked(svg, name)
