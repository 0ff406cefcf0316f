from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardcost.analysis.bill.accounting import outcome_counts, with_accounting
from hardcost.controls.control import Profile
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.accounts import Accounted
from hardcost.model.finding.bill import Item, Itemised
from hardcost.model.workload import MetricId

CONTROLS = (Sysctl("kernel.a", "1"), Sysctl("kernel.b", "1"), BootParameter("pti=on"))
NAMES = tuple(one.name for one in CONTROLS)


def rule(*controls: str) -> Accounted:
    return Accounted("r", "R", "medium", (), "priced", "sysctl", controls=controls)


def bill(itemised: Sequence[str], controls: Sequence[str] = NAMES) -> Itemised:
    items = tuple(Item(one, MetricId("open"), "insn/op", 1, 1, 1, 1, 1, None) for one in itemised)
    return Itemised(
        profile="p",
        profile_title="P",
        totals=(),
        items=items,
        rest=(),
        interaction=(),
        controls=tuple(controls),
    )


def settled(own: Accounted, of: Itemised, instrument: str = "insn") -> Accounted:
    profile = Profile("p", "P", "", CONTROLS, accounting=(own,))
    (found,) = with_accounting(of, profile, instrument).accounting
    return found


def test_a_rule_with_a_cost_on_the_bill_is_priced() -> None:
    own = rule("kernel.a=1", "kernel.b=1")
    assert settled(own, bill(["kernel.b=1"])) == own


def test_a_rule_whose_controls_were_measured_and_have_no_cost_is_free() -> None:
    found = settled(rule("kernel.a=1"), bill(["kernel.b=1"]))
    assert (found.outcome, found.why) == (
        "free",
        "its cost is not distinguishable from 0 on any metric",
    )


def test_what_instructions_do_not_show_is_not_free() -> None:
    assert settled(rule("pti=on"), bill([])).outcome == "not-priced"
    assert settled(rule("pti=on"), bill([]), "time").outcome == "free"
    assert settled(rule("pti=on"), bill(["pti=on"])).outcome == "priced"


def test_what_a_search_has_no_number_for_is_not_free() -> None:
    found = settled(rule("kernel.a=1"), bill(["kernel.b=1"], controls=()))
    assert found.outcome == "not-priced"
    assert found.why.startswith("a search has no number for it")


def test_a_control_that_the_command_line_replaced_is_not_free() -> None:
    found = settled(rule("kernel.a=2"), bill([]))
    assert found.why == "other settings of the profile take its place"


def test_a_rule_without_controls_stays_as_it_is() -> None:
    own = replace(rule(), outcome="no-run-time-cost", why="so")
    assert settled(own, bill([])) == own


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.lists(st.sampled_from([*NAMES, "other"]), min_size=1), max_size=20),
    st.sets(st.sampled_from(NAMES)),
    st.booleans(),
)
def test_no_rule_is_lost_and_the_counts_add_up(
    rules: list[list[str]],
    itemised: set[str],
    searched: bool,  # noqa: FBT001  (drawn)
) -> None:
    accounting = tuple(rule(*controls) for controls in rules)
    profile = Profile("p", "P", "", CONTROLS, accounting=accounting)
    of = bill(sorted(itemised), () if searched else NAMES)
    found = with_accounting(of, profile, "insn").accounting
    assert [one.controls for one in found] == [one.controls for one in accounting]
    assert sum(outcome_counts(found).values()) == len(rules)
    assert all(bool(one.why) == (one.outcome != "priced") for one in found)
