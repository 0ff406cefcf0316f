from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.analysis.bill.weights import AVERAGE, control_order
from hardcost.model.finding.bill import Bill, Item, Itemised, Sum, Total
from hardcost.model.workload import MetricId
from hardcost.show.bill_rows import rows_of_bill

COSTS = st.floats(-1e6, 1e6)


def bill_of(costs: list[float], rest: float, interaction: float, baseline: float = 0.0) -> Itemised:
    cost = math.fsum([*costs, rest, interaction])
    items = tuple(
        Item(f"c{n}", MetricId("m"), "ns", own, own, own, own / cost if cost else 0.0, own, None)
        for n, own in enumerate(costs)
    )
    total = Total(MetricId("m"), "ns", baseline, baseline + cost, cost)
    return Itemised(
        profile="p",
        profile_title="",
        totals=(total,),
        items=items,
        rest=(Sum(MetricId("m"), rest),),
        interaction=(Sum(MetricId("m"), interaction),),
    )


@settings(deadline=None)
@given(st.lists(COSTS, max_size=30), COSTS, COSTS, st.floats(0, 1e6))
def test_what_is_shown_adds_up_to_the_last_digit(
    costs: list[float], rest: float, interaction: float, baseline: float
) -> None:
    rows = rows_of_bill(bill_of(costs, rest, interaction, baseline))
    (account,) = rows.accounts
    assert not account.fault
    assert account.of(rows.entries) + account.rest + account.interaction == account.cost
    assert account.cost == account.with_profile - account.baseline


@settings(deadline=None)
@given(st.lists(st.integers(-1000, 10**6), max_size=30), st.integers(-1000, 1000))
def test_whole_costs_are_shown_as_they_are(costs: list[int], interaction: int) -> None:
    (account,) = rows_of_bill(bill_of(list(map(float, costs)), 0.0, float(interaction))).accounts
    assert [account.items[f"c{n}"] for n in range(len(costs))] == costs
    assert account.interaction == interaction


def test_a_bill_that_does_not_add_up_says_so() -> None:
    bill = bill_of([19.0, 19.0], 0.0, 5.0)
    total = replace(bill.totals[0], with_profile=bill.totals[0].with_profile + 100)
    (account,) = rows_of_bill(replace(bill, totals=(total,))).accounts
    assert account.interaction == 5
    assert account.fault == "The bill does not add up on m: its parts miss the total by 100."


def test_controls_are_ordered_by_their_cost_on_the_average_call(bill: Bill) -> None:
    rows = rows_of_bill(bill)
    assert rows.leading is not None
    assert rows.leading.metric == AVERAGE
    costs = [entry.items[AVERAGE].cost for entry in rows.entries]
    assert costs == sorted(costs, reverse=True)
    assert [entry.number for entry in rows.entries] == list(range(1, 33))


def test_a_call_that_the_user_names_orders_the_controls(bill: Bill) -> None:
    rows = rows_of_bill(replace(bill, weights={MetricId("chmod"): 1.0}))
    assert rows.leading is not None
    assert rows.leading.metric == MetricId("chmod")
    costs = [entry.items[MetricId("chmod")].cost for entry in rows.entries]
    assert costs == sorted(costs, reverse=True)


def test_of_a_program_the_whole_run_orders_the_controls() -> None:
    totals = (
        Total(MetricId("user"), "insn", 0, 90, 90),
        Total(MetricId("wall"), "insn", 0, 100, 100),
    )
    items = (
        Item("in a part", MetricId("user"), "insn", 80, 80, 80, 0.9, 0, None),
        Item("in the whole", MetricId("wall"), "insn", 5, 5, 5, 0.05, 0, None),
    )
    assert control_order(
        Itemised(profile="p", profile_title="", totals=totals, items=items, rest=(), interaction=())
    ) == {
        "in the whole": 0,
        "in a part": 1,
    }


def test_equals_stay_in_the_order_of_the_profile() -> None:
    assert list(control_order(bill_of([19.0, 87.0, 19.0], 0, 0))) == ["c1", "c0", "c2"]


def test_firings_are_summed_over_metrics(bill: Bill) -> None:
    first = rows_of_bill(bill).entries[0]
    assert first.fired == 1000
    assert first.place.startswith("30-sample.rules:")


def test_unknown_firings_stay_unknown() -> None:
    assert rows_of_bill(bill_of([1.0], 0, 0)).entries[0].fired is None


def test_a_cost_that_is_no_number_counts_for_nothing() -> None:
    bill = bill_of([1.0, 2.0], 0.0, 0.0)
    items = (replace(bill.items[0], cost=math.nan), bill.items[1])
    rows = rows_of_bill(replace(bill, items=items))
    assert rows.accounts[0].items == {"c0": Decimal(0), "c1": Decimal(2)}
