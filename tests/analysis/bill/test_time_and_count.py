"""Times beside counts: where they disagree, and what a count apportions."""

from __future__ import annotations

import pytest

from hardcost.analysis.bill.time_and_count import control_costs, disagreement, whole_costs
from hardcost.model.finding.bill import Both, Item, Itemised, Sum, Total
from hardcost.model.workload import MetricId

TIME = Total(MetricId("open"), "ns/op", 1000.0, 1100.0, 100.0, 5.0, 90.0, 110.0)
COUNT = Total(MetricId("open"), "insn/op", 3000.0, 3600.0, 600.0)


def item(control: str, cost: float, half: float = 0.0, fired: int | None = None) -> Item:
    return Item(control, MetricId("open"), "", cost, cost - half, cost + half, 0.0, cost, fired)


def bill(total: Total, items: list[Item], small: list[Item], rest: float) -> Itemised:
    names = tuple(sorted(one.control for one in (*items, *small)))
    return Itemised(
        profile="p",
        profile_title="p",
        totals=(total,),
        items=tuple(items),
        rest=(Sum(MetricId("open"), rest),),
        interaction=(Sum(MetricId("open"), 0.0),),
        controls=names,
        small=tuple(small),
    )


def both(rest: float = 40.0, half: float = 3.0) -> dict[str | None, Both]:
    timed = bill(TIME, [item("a", 60.0, half)], [item("b", 3.0, 9.0), item("c", 1.0, 9.0)], rest)
    counts = [item("a", 300.0, fired=0), item("b", 200.0, fired=0), item("c", 100.0, fired=7)]
    counted = bill(COUNT, counts, [], 0.0)
    return {
        one.control: one for one in (*whole_costs(timed, counted), *control_costs(timed, counted))
    }


def test_what_is_measured_has_both_ratios_and_is_not_apportioned() -> None:
    found = both()["a"]
    assert (found.ns, found.ns_ratio, found.insn, found.insn_ratio) == (60.0, 1.06, 300.0, 1.1)
    assert found.measured
    assert found.apportioned is None
    assert both()[None].insn_ratio == 1.2


def test_the_rest_is_apportioned_by_count_among_what_is_noise() -> None:
    found = both()
    assert found["b"].apportioned == pytest.approx(40 * 2 / 3)
    assert found["c"].apportioned == pytest.approx(40 / 3)
    assert found["b"].share == pytest.approx(1 / 3)
    assert found["c"].fired == 7
    assert not found["b"].measured


@pytest.mark.parametrize(("rest", "half"), [(-40.0, 3.0), (10.0, 3.0), (40.0, 50.0)])
def test_a_rest_that_is_noise_is_not_apportioned(rest: float, half: float) -> None:
    found = both(rest, half)
    assert found["b"].apportioned is None
    assert found["b"].share is not None


@pytest.mark.parametrize(
    ("counted", "measured", "low", "high", "differ"),
    [
        (0.1, True, 90, 110, ""),
        (0.1, True, 201, 240, "more"),
        (0.1, True, 190, 240, "unknown"),  # reaches into what agrees
        (0.1, True, 10, 49, "less"),
        (0.1, True, 10, 51, "unknown"),
        (0.1, True, -40, -10, "direction"),
        (0.1, False, -40, 40, "less"),
        (0.1, False, -60, 60, "unknown"),
        (0.0, True, 10, 40, "more"),
        (0.0, False, -10, 40, ""),
        (-0.1, True, -110, -90, ""),
        (-0.1, True, -240, -210, "more"),
        (-0.1, True, 10, 30, "direction"),
    ],
)
def test_they_disagree_beyond_a_factor_of_two_only_where_the_interval_does(
    counted: float, low: float, high: float, differ: str, *, measured: bool
) -> None:
    total = Total(MetricId("open"), "ns/op", 1000.0, 1000.0, 0.0)
    assert disagreement(counted, low, high, total, measured=measured) == differ


def test_a_likely_reason_depends_on_records_and_on_the_number_of_rules() -> None:
    def why(rules: int, fired: int) -> str:
        names = [f"r{at}" for at in range(rules)]
        dear = Total(MetricId("open"), "ns/op", 1000.0, 2000.0, 1000.0, 5.0, 990.0, 1010.0)
        timed = bill(dear, [item(one, 1000 / rules) for one in names], [], 0.0)
        counts = [item(one, 600 / rules, fired=fired) for one in names]
        (whole,) = whole_costs(timed, bill(COUNT, counts, [], 0.0))
        assert whole.differ == "more"
        return whole.why

    assert "first cache" in why(60, 0)
    assert "daemon" in why(60, 1)
    assert "serialises" in why(3, 0)
