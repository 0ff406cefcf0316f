from __future__ import annotations

import dataclasses

from tests.analysis.test_predicted import rules_of

from hardcost.analysis.growth import Change, Line
from hardcost.analysis.predictedgrowth import RuleSets, growths
from hardcost.auditrules.cost.constants import Constants

OLD = ("-a always,exit -F arch=b64 -S swapon -F uid=70001 -k none",)
NEW = "-a always,exit -F dir=/etc/x -F perm=wa -k tree"
LINE = Line("my.rules", 2, NEW, Change.ADDED)
DEBIAN = Constants.of_debian()


def test_an_added_line_adds_what_leaving_it_out_saves() -> None:
    sets = RuleSets(rules_of(*OLD), rules_of(*OLD, NEW), {1: LINE}, {})
    found, unknown = growths(sets, DEBIAN)
    null = next(one for one in found if one.metric == "null")
    assert null.before is not None
    assert null.base == DEBIAN.without["null"] + null.before
    (part,) = null.parts
    assert part.cost == null.difference > 0
    assert null.rest == 0
    assert unknown == ("exec (an estimate)",)  # some of its calls were measured in no guest


def test_a_removed_line_has_the_same_cost_with_a_minus_sign() -> None:
    gone = dataclasses.replace(LINE, change=Change.REMOVED)
    sets = RuleSets(rules_of(*OLD, NEW), rules_of(*OLD), {}, {1: gone})
    null = next(one for one in growths(sets, DEBIAN)[0] if one.metric == "null")
    assert null.parts[0].cost == null.difference < 0


def test_what_rests_on_an_estimate_has_no_number() -> None:
    lacking = dataclasses.replace(DEBIAN, without={"null": 500.0})
    sets = RuleSets(rules_of(*OLD), rules_of(*OLD), {}, {})
    found, unknown = growths(sets, lacking)
    assert [one.metric for one in found] == ["null"]
    assert "open (it was not measured without rules)" in unknown
