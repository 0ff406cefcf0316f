"""Charts of what riding instruments saw: processor time by process, and series over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from hardcost.analysis.observations import IDLE, cpu_shares
from hardcost.report.drawing import OTHERS, Chart, Row, colours, drawn, legend
from hardcost.report.observed_table import joined_shares
from hardcost.report.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.analysis.finding import Finding, ObservedIn

_MILLION = 1e6

_WHOLE = alt.Scale(domain=[0, 1], nice=False)

_COLUMNS = 3
_PANEL = (300, 120)
"""Width and height of one configuration's timeline, in pixels."""

_STEP_NAME = 14
"""The longest name of a step in a timeline, in characters."""

_STEPS = 12
"""With more steps than these names would cover each other."""

_STACKED = ("user", "system", "idle")
"""Series that are parts of one whole, from the bottom up."""

_WORDS = {
    "cpu": "processor use",
    "audit": "audit's queue and records",
    "avc": "SELinux's access vector cache",
}


def timeline_charts(finding: Finding) -> Iterable[Chart]:
    """Yield a chart for each instrument and workload: a panel for each configuration."""
    workloads = list(dict.fromkeys(one.workload for one in finding.observed))
    for instrument in dict.fromkeys(one.observed.instrument for one in finding.observed):
        for workload in workloads:
            own = _first_trials(finding, instrument, workload)
            if own:
                what = _WORDS.get(instrument, visible(instrument))
                title = f"{visible(workload)}: {what} over time, in millions of the clock's ticks"
                name = f"time{workloads.index(workload)}{'cpu audit avc'.find(instrument)}"
                yield Chart(title, drawn(_timelines(own), name))


def share_charts(finding: Finding) -> Iterable[Chart]:
    """Yield a chart for each workload: the shares of processes, configurations side by side."""
    shares = cpu_shares(finding)
    for nth, workload in enumerate(dict.fromkeys(share.workload for share in shares)):
        own = [share for share in shares if share.workload == workload and share.parts]
        if not own:
            continue
        names, columns = joined_shares(own)
        shown = list(map(visible, names))
        rows: list[Row] = [
            {
                "configuration": visible(share.configuration),
                "process": name,
                "share": part,
                "order": at,
            }
            for share, column in zip(own, columns, strict=True)
            for at, (name, part) in enumerate(zip(shown, column, strict=True))
        ]
        title = f"{visible(workload)}: share of the busy processor time by process"
        order = [visible(share.configuration) for share in own]
        yield Chart(title, drawn(alt.concat(_stack(rows, order, shown)), f"share{nth}"))


def _stack(rows: Sequence[Row], configurations: Sequence[str], names: Sequence[str]) -> alt.Chart:
    """Return a lying bar for each configuration, made of processes."""
    axis = alt.Axis(title=None, labelLimit=0, ticks=False, domain=False)
    scale = colours(names)
    if names[-1] == "(others)":
        scale = alt.Scale(domain=list(names), range=[*scale["range"][:-1], OTHERS])
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=list(rows)), width=820, height=alt.Step(24))
        .mark_bar(height=18)
        .encode(
            y=alt.Y("configuration:N", sort=list(configurations), axis=axis),
            x=alt.X("share:Q", title=None, axis=alt.Axis(format="%", tickCount=5), scale=_WHOLE),
            color=alt.Color("process:N", scale=scale, sort=list(names), legend=legend(7)),
            order=alt.Order("order:Q"),
        )
    )
    return chart


def _first_trials(finding: Finding, instrument: str, workload: str) -> list[ObservedIn]:
    """Return the first trial of each configuration in which there is something to draw."""
    trials: dict[str, ObservedIn] = {}
    for one in finding.observed:
        seen = one.observed
        if (seen.instrument, one.workload) == (instrument, workload) and seen.times and seen.series:
            trials.setdefault(one.configuration, one)
    return list(trials.values())


def _timelines(trials: Sequence[ObservedIn]) -> alt.ConcatChart:
    names = list(dict.fromkeys(name for one in trials for name in one.observed.series))
    stacked = [name for name in _STACKED if name in names]
    lines = [name for name in names if name not in stacked]
    shown = [visible(name) for name in (*stacked, *lines)]
    panels = [_timeline(one, shown) for one in trials]
    chart: alt.ConcatChart = alt.concat(
        *panels, columns=min(_COLUMNS, len(panels)), spacing=alt.RowColnumber(row=30, column=30)
    )
    return chart


def _timeline(one: ObservedIn, names: Sequence[str]) -> alt.LayerChart:
    """Return one configuration's series, its steps shaded and named."""
    steps = _steps(one)
    layers = steps[:1]
    stacked = [row for row in _points(one) if row["name"] in _STACKED]
    lines = [row for row in _points(one) if row["name"] not in _STACKED]
    y = alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4, format="~s"))
    x = alt.X("time:Q", title=None, axis=alt.Axis(tickCount=4, grid=False))
    color = alt.Color("name:N", scale=_colours(names), sort=list(names), legend=legend(8))
    if stacked:
        base = alt.Chart(alt.InlineData(values=stacked)).mark_area(interpolate="step", opacity=0.8)
        layers.append(base.encode(x=x, y=y, color=color, order=alt.Order("order:Q")))
    if lines:
        base = alt.Chart(alt.InlineData(values=lines)).mark_line(strokeWidth=1.5)
        layers.append(base.encode(x=x, y=y, color=color))
    layers += steps[1:]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers, title=visible(one.configuration), width=_PANEL[0], height=_PANEL[1]
    )
    return chart


def _colours(names: Sequence[str]) -> alt.Scale:
    """Return a colour for each series; what was idle is pale."""
    scale = colours(names)
    pairs = zip(names, scale["range"], strict=True)
    return alt.Scale(
        domain=list(names), range=[f"{OTHERS}40" if n == IDLE else own for n, own in pairs]
    )


def _points(one: ObservedIn) -> list[Row]:
    seen = one.observed
    return [
        {
            "name": visible(name),
            "time": time / _MILLION,
            "value": value,
            "order": _STACKED.index(name) if name in _STACKED else 0,
        }
        for name, values in seen.series.items()
        for time, value in zip(seen.times, values, strict=False)
    ]


def _steps(one: ObservedIn) -> list[alt.Chart]:
    """Return the steps' shades, then what stands before the series: their ends and names."""
    steps = one.observed.steps
    rows: list[Row] = [
        {
            "begin": step.begin / _MILLION,
            "end": step.end / _MILLION,
            "step": shorten(visible(step.name), _STEP_NAME),
        }
        for step in steps
    ]
    if not rows:
        return []
    base = alt.Chart(alt.InlineData(values=rows))
    begin, end = alt.X("begin:Q", title=None), alt.X("end:Q", title=None)
    layers = [
        base.mark_rect(color=OTHERS, opacity=0.15).encode(x=begin, x2=alt.X2("end:Q")),
        *(base.mark_rule(color="#444444", strokeDash=[3, 2]).encode(x=x) for x in (begin, end)),
    ]
    if len(steps) <= _STEPS:
        words = base.mark_text(align="left", baseline="bottom", dx=2, dy=-2, fontSize=10)
        layers.append(words.encode(x=begin, y=alt.value(0), text="step:N"))
    return layers
