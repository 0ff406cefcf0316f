from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

from hardcost.model.role import role_of
from hardcost.show.charts.spread import spread_charts
from tests.show.charts.test_chart import drawing, words
from tests.show.guests import cell, cis

BASE = cell(("none", "copy", "wall"), 100, ("none", 100), "ns")
EACH = (98.0, 100.0, 104.0, 101.0)


def test_each_trial_has_its_mark() -> None:
    other = replace(BASE, configuration=role_of("audit"), each=tuple(5 * it for it in EACH))
    (chart,) = spread_charts(replace(cis(), cells=(replace(BASE, each=EACH), other)))
    assert chart.title == (
        "copy: each trial, in % from its configuration's median (instrument insn, machine vm)"
    )
    assert {"none", "audit", "wall"} <= set(words(chart))
    assert drawing(chart).count('aria-roledescription="tick"') == 8


def test_each_symbol_of_a_drawing_has_a_name_or_is_hidden() -> None:
    """As axe asks for: the line at the median has none, since it is in the description."""
    (chart,) = spread_charts(replace(cis(), cells=(replace(BASE, each=EACH),)))
    root = ET.fromstring(chart.panels[0])  # noqa: S314  (of our own making)
    symbols = [one for one in root.iter() if one.get("role") == "graphics-symbol"]
    assert len(symbols) > len(EACH)
    assert all(one.get("aria-label") for one in symbols)
    (line,) = (one for one in root.iter() if "mark-rule role-mark" in one.get("class", ""))
    assert line.get("aria-hidden") == "true"


def test_two_trials_are_no_distribution() -> None:
    assert list(spread_charts(replace(cis(), cells=(replace(BASE, each=EACH[:2]),)))) == []


def test_trials_that_are_all_alike_have_none_either() -> None:
    assert list(spread_charts(replace(cis(), cells=(replace(BASE, each=(7.0,) * 9),)))) == []
