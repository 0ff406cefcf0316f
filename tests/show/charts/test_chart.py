from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from hardcost.model.finding.bill import Bill
from hardcost.model.finding.study import StudyFinding
from hardcost.show.charts.chart import Charts, charts
from hardcost.show.charts.drawing import Chart


def drawing(chart: Chart) -> str:
    """Return all panels of a chart as one SVG."""
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(chart.panels)}</svg>'


def words(chart: Chart) -> list[str]:
    """Return the words in a chart and in its legend."""
    root = ET.fromstring(drawing(chart))  # noqa: S314 - our own drawing
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    return [*("".join(it.itertext()) for it in texts), *(key.name for key in chart.legend)]


@pytest.fixture(scope="module")
def drawn(run: StudyFinding) -> Charts:
    return charts(run)


def test_each_metric_has_a_panel(drawn: Charts, run: StudyFinding) -> None:
    (chart,) = drawn.run
    labels = words(chart)
    assert {cell.metric for cell in run.cells} <= set(labels)
    assert "kernel=flat rules=N catch-all" in labels
    assert chart.title == (
        "syscalls: insn/op added over rules=0, against rules (instrument insn, machine vm)"
    )


def test_published_figures_have_charts_in_their_own_unit(drawn: Charts) -> None:
    calls, hook = drawn.published
    assert calls.title == "Published: ms per 1000 calls added over rules=0, against rules"
    assert {"null", "open", "stock kernel", "changed kernel"} <= set(words(calls))
    assert hook.title.startswith("Published: ns ")


def test_the_same_finding_gives_the_same_drawing(
    bill_of: Callable[[tuple[str, ...]], Bill],
) -> None:
    assert charts(bill_of(("null",))) == charts(bill_of(("null",)))


def test_each_panel_says_in_words_what_it_shows(drawn: Charts) -> None:
    (chart,) = drawn.run
    root = ET.fromstring(chart.panels[0])  # noqa: S314 - our own drawing
    title, desc = root[0], root[1]
    assert (title.tag.rpartition("}")[2], title.text) == ("title", "null")
    assert desc.tag.endswith("desc")
    assert str(desc.text).startswith("rules=N from 0 at 0 to 3,264 at 160; ")
    named = {"aria-labelledby": title.get("id"), "aria-describedby": desc.get("id")}
    assert {name: root.get(name) for name in named} == named


def test_where_the_baseline_failed_no_chart_of_added_cost_is_drawn(run: StudyFinding) -> None:
    cells = tuple(replace(cell, difference=float("nan")) for cell in run.cells)
    assert charts(replace(run, cells=cells)).run == ()


def test_without_a_numeric_axis_there_is_no_line_chart(run: StudyFinding) -> None:
    assert charts(replace(run, levels={}, cells=run.cells[:2])) == Charts()


def test_names_are_words_in_a_drawing(hostile: StudyFinding) -> None:
    both = charts(hostile)
    for chart in both.run:
        assert "<script" not in drawing(chart)
        assert "\x1b" not in drawing(chart)
        assert any("<script>" in label for label in words(chart))
