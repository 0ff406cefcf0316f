from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from hardcost.model.finding.finding import Finding
from hardcost.model.role import role_of
from hardcost.model.workload import Workload
from hardcost.show.charts.bars import bar_charts, panels
from hardcost.show.charts.drawing import Panel, shades
from hardcost.show.tables.workload_families import families
from hardcost.show.text import TIMES
from tests.show.charts.test_chart import drawing, words
from tests.show.guests import cell, cis, failed, filecopy, selinux


def small(finding: Finding, *metrics: str) -> Finding:
    return replace(finding, cells=tuple(it for it in finding.cells if it.metric in metrics))


def marks(panel: Panel) -> list[tuple[str, str]]:
    """Return each layer's mark with the type of its value's scale, as Vega-Lite gets it."""
    spec = panel.drawing.to_dict(validate=False)
    found = []
    for layer in spec.get("layer", [spec]):
        scales = [layer["encoding"].get(side, {}).get("scale", {}) for side in ("x", "y")]
        found += [(layer["mark"]["type"], it["type"]) for it in scales if "type" in it]
    return found


@pytest.mark.parametrize("finding", [filecopy(), selinux(), cis()])
def test_no_bar_is_on_a_logarithmic_scale(finding: Finding) -> None:
    names = list(dict.fromkeys(it.configuration for it in finding.cells))
    found = [
        mark
        for family in families(finding.cells)
        for panel in panels(family, names)
        for mark in marks(panel)
    ]
    assert found
    assert not {mark for mark in found if mark[0] == "bar" and mark[1] != "linear"}


def _lab(colour: str) -> tuple[float, ...]:
    """Return a colour, on white if it is translucent, as CIELAB has it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in range(1, len(colour), 2)]
    alpha = parts[3] if len(parts) > 3 else 1.0
    shown = [alpha * part + 1 - alpha for part in parts[:3]]
    r, g, b = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shown)
    x, y, z = (
        one ** (1 / 3)
        for one in (
            (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
            0.2126 * r + 0.7152 * g + 0.0722 * b,
            (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.0888,
        )
    )
    return (116 * y - 16, 500 * (x - y), 200 * (y - z))


def test_no_two_of_eight_configurations_have_similar_colours() -> None:
    found = list(map(_lab, shades([str(nth) for nth in range(8)])))
    assert min(math.dist(one, other) for one, other in itertools.combinations(found, 2)) > 30


def test_bars_begin_at_0() -> None:
    (family, *_) = families(selinux().cells)
    for panel in panels(family, [role_of("none")]):
        spec = panel.drawing.to_dict(validate=False)
        scale = spec["encoding"]["y"]["scale"]
        assert scale == {"type": "linear", "zero": True, "nice": False}


def test_each_family_is_drawn_once_as_fits_its_values() -> None:
    (apart,) = bar_charts(small(filecopy(), "wall"))
    assert apart.title == (
        "filecopy: insn, dots on a logarithmic scale (instrument insn, machine vm)"
    )
    near = tuple(it for it in filecopy().cells if str(it.configuration) in {"none", "reduced"})
    near = tuple(it for it in near if it.metric == "wall" and it.workload == Workload("filecopy"))
    (chart,) = bar_charts(replace(filecopy(), cells=near))
    assert chart.title == "filecopy: insn, bars from 0 (instrument insn, machine vm)"
    assert drawing(chart).count('aria-roledescription="bar"') == 2


def test_workloads_that_differ_in_a_parameter_stand_together() -> None:
    (family,) = families(small(filecopy(), "wall").cells)
    assert (family.title, family.axis) == ("filecopy", "concurrency")
    assert family.levels == ["default", "2", "4", "8"]
    for chart in bar_charts(small(filecopy(), "wall")):
        assert {"wall", "concurrency", "default", "8", "audit-syslog"} <= set(words(chart))


def test_each_configuration_and_level_has_a_dot() -> None:
    (chart,) = bar_charts(small(filecopy(), "wall"))
    assert drawing(chart).count('aria-roledescription="point"') == 5 * 4


def test_one_workload_has_a_panel_for_each_metric_with_ratios() -> None:
    mariadb = tuple(it for it in selinux().cells if it.workload == Workload("mariadb"))
    (chart,) = bar_charts(replace(selinux(), cells=mariadb))
    assert len(chart.panels) == len({it.metric for it in mariadb})
    assert {"sysbench-1", "none", "enforcing", f"{TIMES}1.082"} <= set(words(chart))


def test_metrics_that_differ_in_a_number_are_levels() -> None:
    apache = [it for it in selinux().cells if it.workload == Workload("apache-prefork")]
    (family,) = families(apache)
    assert family.levels == ["1", "16"]
    assert list(family.panels) == ["ab"]


def test_workloads_of_other_names_stand_apart() -> None:
    assert [it.title for it in families(selinux().cells)] == [
        "apache-prefork",
        "postfix",
        "mariadb",
    ]


def test_what_failed_has_no_mark() -> None:
    (chart,) = bar_charts(small(failed(filecopy(), "audit"), "wall"))
    assert drawing(chart).count('aria-roledescription="point"') == 4 * 4


def test_nothing_is_compared_where_there_is_one_configuration() -> None:
    alone = (cell(("none", "copy", "wall"), 1, ("none", 1)),)
    assert list(bar_charts(replace(filecopy(), cells=alone))) == []


def test_what_is_nothing_has_no_logarithm_and_no_bar() -> None:
    cells = [cell((name, "w", "m"), value, ("a", 1)) for name, value in (("a", 1), ("b", 0))]
    (family,) = families(cells)
    assert [str(one.configuration) for _, one in family.panels["m"]] == ["a"]


def test_names_are_words_in_bars() -> None:
    bad = "<script>alert(1)</script>\x1b"
    cells = [cell((name, bad, bad), value, ("a", 1), bad) for name, value in (("a", 1), (bad, 2))]
    for chart in bar_charts(replace(filecopy(), cells=tuple(cells), levels={})):
        assert "<script" not in drawing(chart)
        assert "\x1b" not in drawing(chart)
        assert any("<script>" in label for label in words(chart))
