from __future__ import annotations

import dataclasses

from auditrules.cost.constants import Constants
from auditrules.model.location import Location
from hardcost.analysis.change.prediction import RuleSets, growths
from hardcost.model.finding.change import Change, ChangeLine
from hardcost.model.workload import MetricId
from tests.analysis.bill.test_prediction import rules_of

OLD = ("-a always,exit -F arch=b64 -S swapon -F uid=70001 -k none",)
NEW = "-a always,exit -F dir=/etc/x -F perm=wa -k tree"
LINE = ChangeLine(Location("my.rules", 2), NEW, Change.ADDED)
DEBIAN = Constants.of_debian()


def test_an_added_line_adds_what_leaving_it_out_saves() -> None:
    sets = RuleSets(rules_of(*OLD), rules_of(*OLD, NEW), {1: LINE}, {})
    found, unknown = growths(sets, DEBIAN)
    null = next(one for one in found if one.metric == MetricId("null"))
    assert null.before is not None
    assert null.base == DEBIAN.without["null"] + null.before
    (part,) = null.parts
    assert part.cost == null.difference > 0
    assert null.rest == 0
    assert unknown == ()


def test_a_removed_line_has_the_same_cost_with_a_minus_sign() -> None:
    gone = dataclasses.replace(LINE, change=Change.REMOVED)
    sets = RuleSets(rules_of(*OLD, NEW), rules_of(*OLD), {}, {1: gone})
    null = next(one for one in growths(sets, DEBIAN)[0] if one.metric == MetricId("null"))
    assert null.parts[0].cost == null.difference < 0


def test_what_rests_on_an_estimate_has_no_number() -> None:
    lacking = dataclasses.replace(DEBIAN, without={"null": 500.0})
    sets = RuleSets(rules_of(*OLD), rules_of(*OLD), {}, {})
    found, unknown = growths(sets, lacking)
    assert [str(one.metric) for one in found] == ["null"]
    assert "open (it was not measured without rules)" in map(str, unknown)


OPENED = "-a always,exit -F arch=b64 -S openat -k opened"
IGNORED = "-a never,exit -F arch=b64 -S openat"
DROPS = "-a always,exclude -F msgtype=PROCTITLE"
REASON = "not predicted: rules of the list exclude decide about its records"


def test_the_price_of_having_any_rule_is_beside_the_lines() -> None:
    for sign, base, head in ((1, (), (*OLD, NEW)), (-1, (*OLD, NEW), ())):
        lines = {
            at: ChangeLine(
                Location("my.rules", at), text, Change.ADDED if sign > 0 else Change.REMOVED
            )
            for at, text in enumerate((*OLD, NEW))
        }
        added, removed = (lines, {}) if sign > 0 else ({}, lines)
        found, _ = growths(RuleSets(rules_of(*base), rules_of(*head), added, removed), DEBIAN)
        null = next(one for one in found if one.metric == MetricId("null"))
        assert null.fixed == sign * (DEBIAN.base["getppid"] + DEBIAN.walk["list"])
        assert null.rest == 0
        assert all(abs(part.cost) < abs(null.fixed) for part in null.parts)


def test_the_only_rule_adds_what_it_costs_beside_that_price() -> None:
    only = ChangeLine(Location("my.rules", 1), OLD[0], Change.ADDED)
    found, _ = growths(RuleSets((), rules_of(*OLD), {0: only}, {}), DEBIAN)
    null = next(one for one in found if one.metric == MetricId("null"))
    assert [part.cost for part in null.parts] == [DEBIAN.walk["unnamed"]]
    assert null.rest == 0


def test_where_both_states_have_rules_nothing_of_it_grows() -> None:
    found, _ = growths(RuleSets(rules_of(*OLD), rules_of(*OLD, NEW), {1: LINE}, {}), DEBIAN)
    assert {one.fixed for one in found} == {0.0}


def test_what_is_not_predicted_has_no_number_and_a_reason() -> None:
    sets = RuleSets(rules_of(*OLD), rules_of(*OLD, OPENED, DROPS), {}, {})
    found, unknown = growths(sets, DEBIAN)
    assert f"open ({REASON})" in map(str, unknown)
    assert "open" not in {str(one.metric) for one in found}
    assert "null" in {str(one.metric) for one in found}


def test_a_line_without_which_nothing_is_predicted_has_a_reason_and_not_0() -> None:
    ignored = ChangeLine(Location("my.rules", 1), IGNORED, Change.ADDED)
    head = rules_of(IGNORED, OPENED, DROPS)
    found, _ = growths(RuleSets(rules_of(*OLD), head, {0: ignored}, {}), DEBIAN)
    opened = next(one for one in found if one.metric == MetricId("open"))
    assert opened.unpriced == ((ignored, REASON),)
    assert opened.parts == ()
    assert opened.rest == opened.difference
