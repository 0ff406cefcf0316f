from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.report.guests import cell, failed, filecopy, selinux
from tests.report.test_chart import words

from hardcost.report.bars import bar_charts
from hardcost.report.families import families
from hardcost.report.text import TIMES

if TYPE_CHECKING:
    from hardcost.analysis.finding import Finding


def small(finding: Finding, *metrics: str) -> Finding:
    return replace(finding, cells=tuple(it for it in finding.cells if it.metric in metrics))


def test_each_family_is_drawn_on_both_scales() -> None:
    titles = [chart.title for chart in bar_charts(small(filecopy(), "wall"))]
    assert titles == [
        "filecopy: insn, on a linear scale (instrument insn, machine vm)",
        "filecopy: insn, on a logarithmic scale (instrument insn, machine vm)",
    ]


def test_workloads_that_differ_in_a_parameter_stand_together() -> None:
    (family,) = families(small(filecopy(), "wall").cells)
    assert (family.title, family.axis) == ("filecopy", "concurrency")
    assert family.levels == ["default", "2", "4", "8"]
    for chart in bar_charts(small(filecopy(), "wall")):
        assert {"wall", "concurrency", "default", "8", "audit-syslog"} <= set(words(chart.svg))


def test_both_scales_have_a_bar_for_each_configuration_and_level() -> None:
    for chart in bar_charts(small(filecopy(), "wall")):
        assert chart.svg.count('aria-roledescription="bar"') == 5 * 4


def test_one_workload_has_a_panel_for_each_metric_with_ratios() -> None:
    apache = tuple(it for it in selinux().cells if it.workload == "mariadb")
    linear, logarithmic = bar_charts(replace(selinux(), cells=apache))
    for chart in (linear, logarithmic):
        assert {"sysbench-1", "none", "enforcing", f"{TIMES}1.082"} <= set(words(chart.svg))


def test_metrics_that_differ_in_a_number_are_levels() -> None:
    apache = [it for it in selinux().cells if it.workload == "apache-prefork"]
    (family,) = families(apache)
    assert family.levels == ["1", "16"]
    assert list(family.panels) == ["ab"]


def test_workloads_of_other_names_stand_apart() -> None:
    assert [it.title for it in families(selinux().cells)] == [
        "apache-prefork",
        "postfix",
        "mariadb",
    ]


def test_what_failed_has_no_bar() -> None:
    for chart in bar_charts(small(failed(filecopy(), "audit"), "wall")):
        assert chart.svg.count('aria-roledescription="bar"') == 4 * 4


def test_nothing_is_compared_where_there_is_one_configuration() -> None:
    alone = (cell(("none", "copy", "wall"), 1, ("none", 1)),)
    assert list(bar_charts(replace(filecopy(), cells=alone))) == []


def test_what_is_nothing_has_no_logarithm_and_no_bar() -> None:
    cells = [cell((name, "w", "m"), value, ("a", 1)) for name, value in (("a", 1), ("b", 0))]
    (family,) = families(cells)
    assert [one.configuration for _, one in family.panels["m"]] == ["a"]


def test_names_are_words_in_bars() -> None:
    bad = "<script>alert(1)</script>\x1b"
    cells = [cell((name, bad, bad), value, ("a", 1), bad) for name, value in (("a", 1), (bad, 2))]
    for chart in bar_charts(replace(filecopy(), cells=tuple(cells), levels={})):
        assert "<script" not in chart.svg
        assert "\x1b" not in chart.svg
        assert any("<script>" in label for label in words(chart.svg))
