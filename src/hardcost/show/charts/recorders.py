"""Charts of the recorders' observations: processor time by process, and series over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import altair as alt

from hardcost.analysis.recorders.observations import IDLE, OTHERS, Timeline, cpu_shares, timelines
from hardcost.model.finding.observation import ObservedIn
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import Role
from hardcost.model.workload import Workload
from hardcost.show.charts.drawing import PALE, Chart, ChartRow, LegendKey, Panel, chart_of, keys
from hardcost.show.tables.recorders import largest_shares, share_title
from hardcost.show.text import shorten
from hardcost.units import visible

_MILLION = 1e6

_WHOLE = alt.Scale(domain=[0, 1], nice=False)

_STACK = 460
"""The width of a stack of shares, in pixels."""

_PANEL = (280, 120)
"""Width and height of one configuration's timeline, in pixels."""

_STEP_NAME = 14
"""Most characters of a step's name in a timeline."""

_STEPS = 12
"""With more steps than this, names would overlap."""

_POINTS = 160
"""Most intervals of a timeline that are drawn."""

_WORDS = {
    "cpu": "processor",
    "audit": "the kernel's audit queue",
    "avc": "SELinux's access vector cache",
}


def timeline_charts(finding: StudyFinding) -> Iterable[Chart]:
    """Yield charts for each instrument and workload: a panel for each configuration."""
    workloads = list(dict.fromkeys(one.workload for one in finding.observed))
    kinds = list(dict.fromkeys(one.instrument for one in finding.observed))
    for instrument in kinds:
        for at, workload in enumerate(workloads):
            own = _first_trials(finding, instrument, workload)
            lines = [timelines(one, _POINTS) for one in own]
            for nth, what in enumerate(dict.fromkeys(line.what for of in lines for line in of)):
                panels = [
                    (one, line)
                    for one, of in zip(own, lines, strict=True)
                    for line in of
                    if line.what == what
                ]
                title = f"{visible(workload)}: {_WORDS.get(instrument, visible(instrument))}, "
                title += f"{what}, over millions of ticks"
                name = f"time{kinds.index(instrument)}-{at}-{nth}"
                yield _timelines(title, panels, name)


def share_charts(finding: StudyFinding) -> Iterable[Chart]:
    """Yield a chart for each workload: the shares of processes, configurations side by side."""
    shares = cpu_shares(finding)
    for nth, workload in enumerate(dict.fromkeys(share.workload for share in shares)):
        own = [share for share in shares if share.workload == workload and share.parts]
        if not own:
            continue
        names, columns = largest_shares(own)
        shown = list(map(visible, names))
        rows: list[ChartRow] = [
            {
                "configuration": visible(share.configuration),
                "process": name,
                "share": part,
                "order": at,
            }
            for share, column in zip(own, columns, strict=True)
            for at, (name, part) in enumerate(zip(shown, column, strict=True))
        ]
        title = share_title(finding, workload)
        order = [visible(share.configuration) for share in own]
        panel = Panel("", _stack(rows, order, shown), _share_words(rows))
        yield chart_of(title, [panel], f"share{nth}", _keys(shown))


def _share_words(rows: Sequence[ChartRow]) -> str:
    """Return the share of each process, in words."""
    shares = [f"{row['configuration']} {row['process']}: {float(row['share']):.0%}" for row in rows]
    return f"{'; '.join(shares)}."


def _stack(
    rows: Sequence[ChartRow], configurations: Sequence[str], names: Sequence[str]
) -> alt.LayerChart:
    """Return a horizontal bar for each configuration, stacked by process."""
    base = alt.Chart(alt.InlineData(values=list(rows)), width=_STACK, height=alt.Step(36)).encode(
        y=alt.Y("configuration:N", sort=list(configurations), axis=None)
    )
    bars = base.mark_bar(height=15, yOffset=8).encode(
        x=alt.X("share:Q", title=None, axis=alt.Axis(format="%", tickCount=5), scale=_WHOLE),
        color=alt.Color("process:N", scale=_colours(names), sort=list(names), legend=None),
        order=alt.Order("order:Q"),
    )
    labels: list[ChartRow] = [{"configuration": name} for name in configurations]
    above = (
        alt.Chart(alt.InlineData(values=labels))
        .mark_text(align="left", dy=-7, fontSize=11)
        .encode(
            y=alt.Y("configuration:N", sort=list(configurations), axis=None),
            x=alt.XValue(0),
            text=alt.Text("configuration:N"),
        )
    )
    layers: alt.LayerChart = alt.LayerChart(layer=[bars, above])
    return layers


def _first_trials(finding: StudyFinding, instrument: str, workload: Workload) -> list[ObservedIn]:
    """Return the first trial of each configuration that has something to draw."""
    trials: dict[Role, ObservedIn] = {}
    for one in finding.observed:
        if (one.instrument, one.workload) != (instrument, workload) or not one.times:
            continue
        if any(any(values) for values in one.series.values()):
            trials.setdefault(one.configuration, one)
    return list(trials.values())


def _timelines(title: str, panels: Sequence[tuple[ObservedIn, Timeline]], prefix: str) -> Chart:
    names = list(dict.fromkeys(name for _, line in panels for name in line.series))
    # Idle time is drawn above the others.
    names.sort(key=lambda name: name == IDLE)
    drawings = [
        Panel(visible(one.configuration), _timeline(one, line, names), _line_words(line))
        for one, line in panels
    ]
    return chart_of(title, drawings, prefix, _keys([visible(name) for name in names]))


def _line_words(line: Timeline) -> str:
    """Return the minimum and maximum of each series, in words."""
    ranges = [
        f"{visible(name)} from {min(values):.3g} to {max(values):.3g}"
        for name, values in line.series.items()
        if values
    ]
    return f"{visible(line.what)}: {'; '.join(ranges)}."


def _timeline(one: ObservedIn, line: Timeline, names: Sequence[str]) -> alt.LayerChart:
    """Return one configuration's series, its steps shaded and named; shares are stacked."""
    shares = line.what.startswith("share")
    base = alt.Chart(alt.InlineData(values=_points(line, names)))
    if shares:
        base = base.mark_area(interpolate="step-before", opacity=0.85)
    else:
        base = base.mark_line(interpolate="step-before", strokeWidth=1.3)
    series = base.encode(
        x=alt.X("time:Q", title=None, axis=alt.Axis(tickCount=4, grid=False, format="~r")),
        y=alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4, format="%" if shares else "~s")),
        color=alt.Color("name:N", scale=_colours(names), sort=None, legend=None),
        order=alt.Order("order:Q"),
    )
    if not shares:
        series = series.encode(order=alt.Order("time:Q"))
    steps = _steps(one)
    layers = [*steps[:1], series, *steps[1:]]
    chart: alt.LayerChart = alt.LayerChart(layer=layers, width=_PANEL[0], height=_PANEL[1])
    return chart


def _colours(names: Sequence[str]) -> alt.Scale:
    """Return a colour for each series; others and idle time are pale."""
    known = _keys([visible(name) for name in names])
    return alt.Scale(domain=[key.name for key in known], range=[key.colour for key in known])


def _keys(shown: Sequence[str]) -> tuple[LegendKey, ...]:
    pale = {OTHERS: PALE, IDLE: f"{PALE}40"}
    return tuple(LegendKey(key.name, pale.get(key.name, key.colour)) for key in keys(shown))


def _points(line: Timeline, names: Sequence[str]) -> list[ChartRow]:
    """Return a point at each interval's end, and one at the beginning of the first."""
    rows: list[ChartRow] = []
    for name, values in line.series.items():
        for time, value in zip((0.0, *line.ends), (values[0], *values), strict=True):
            rows.append(
                {
                    "name": visible(name),
                    "time": time / _MILLION,
                    "value": value,
                    "order": names.index(name),
                }
            )
    return rows


def _steps(one: ObservedIn) -> list[alt.Chart]:
    """Return the measured steps' shades, then what is drawn over the series: ends and names."""
    steps = [step for step in one.steps if step.is_measured]
    rows: list[ChartRow] = [
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
        base.mark_rect(color=PALE, opacity=0.15).encode(x=begin, x2=alt.X2("end:Q")),
        *(base.mark_rule(color="#444444", strokeDash=[3, 2]).encode(x=x) for x in (begin, end)),
    ]
    if len(steps) <= _STEPS:
        words = base.mark_text(align="left", baseline="bottom", dx=2, dy=-2, fontSize=10)
        layers.append(words.encode(x=begin, y=alt.YValue(0), text=alt.Text("step:N")))
    return layers
