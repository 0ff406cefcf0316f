from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from hardcost.report.chart import Charts, charts

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardcost.analysis.finding import Finding


def words(svg: str) -> list[str]:
    root = ET.fromstring(svg)  # noqa: S314 - our own drawing
    return ["".join(it.itertext()) for it in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module")
def drawn(run: Finding) -> Charts:
    return charts(run)


def test_each_metric_has_a_panel(drawn: Charts, run: Finding) -> None:
    (chart,) = drawn.run
    labels = words(chart.svg)
    assert {cell.metric for cell in run.cells} <= set(labels)
    assert "kernel=flat rules=N catch-all" in labels
    assert chart.title == (
        "syscalls: insn/op added over rules=0, against rules (instrument insn, machine vm)"
    )


def test_published_figures_have_charts_in_their_own_unit(drawn: Charts) -> None:
    calls, hook = drawn.published
    assert calls.title == "Published: ms per 1000 calls added over rules=0, against rules"
    assert {"null", "open", "stock kernel", "changed kernel"} <= set(words(calls.svg))
    assert hook.title.startswith("Published: ns ")


def test_the_same_finding_gives_the_same_drawing(
    bill_of: Callable[[tuple[str, ...]], Finding],
) -> None:
    assert charts(bill_of(("null",))) == charts(bill_of(("null",)))


def test_the_largest_controls_of_a_bill_are_bars(bill: Finding) -> None:
    (chart,) = charts(bill).bill
    labels = words(chart.svg)
    assert sum(label.startswith("#") for label in labels) == 15
    assert sum(label.startswith("+21,304 ") for label in labels) == 15
    assert "on null, insn/op" in labels


def test_without_a_numeric_axis_there_is_no_line_chart(run: Finding) -> None:
    assert charts(replace(run, levels={}, cells=run.cells[:2])) == Charts()


def test_names_are_words_in_a_drawing(hostile: Finding) -> None:
    both = charts(hostile)
    for chart in (*both.run, *both.bill):
        assert "<script" not in chart.svg
        assert "\x1b" not in chart.svg
        assert any("<script>" in label for label in words(chart.svg))
