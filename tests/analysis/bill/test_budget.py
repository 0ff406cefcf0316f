"""The budget: whatever controls cost and however they interact, a proposal comes to an end."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hardcost.analysis.bill.budget import (
    Budget,
    is_within_budget,
    propose,
    raise_budget,
    round_above,
    round_up_share,
)
from hardcost.model.finding.bill import Item, Itemised, Total
from hardcost.model.workload import MetricId

Value = Callable[[frozenset[str]], float]
BASE = 100.0


def total(value: Value, kept: frozenset[str]) -> Total:
    return Total(MetricId("open"), "insn/op", BASE, BASE + value(kept), value(kept))


def bill(value: Value, controls: frozenset[str]) -> Itemised:
    """Return the bill of a simulated machine on which a set of controls costs `value`."""
    items = tuple(
        Item(
            control=name,
            metric=MetricId("open"),
            unit="insn/op",
            cost=value(controls) - value(controls - {name}),
            low=0,
            high=0,
            share=0,
            alone=value(frozenset({name})),
            fired=None,
        )
        for name in sorted(controls)
    )
    return Itemised(
        profile="p",
        profile_title="p",
        totals=(total(value, controls),),
        items=items,
        rest=(),
        interaction=(),
    )


def settle(value: Value, controls: frozenset[str], budget: float) -> tuple[frozenset[str], int]:
    """Propose and measure until the budget is kept; return what is kept and the measurements."""
    itemised, rounds, limit = bill(value, controls), 0, Budget(budget)
    dropped: tuple[str, ...] = ()
    totals = itemised.totals
    while not is_within_budget(totals, limit) and len(dropped) < len(controls):
        dropped = propose(itemised, totals, dropped, limit)
        totals = (total(value, controls - set(dropped)),)
        rounds += 1
    assert is_within_budget(totals, limit)
    return controls - set(dropped), rounds


def test_only_the_dearest_go_where_costs_add_up() -> None:
    costs = {"a": 1.0, "b": 60.0, "c": 2.0, "d": 30.0}
    kept, rounds = settle(lambda on: sum(costs[name] for name in on), frozenset(costs), 0.05)
    assert kept == {"a", "c"}
    assert rounds == 1


def test_nothing_goes_within_the_budget() -> None:
    kept, rounds = settle(lambda on: float(len(on)), frozenset("abc"), 0.05)
    assert (kept, rounds) == (frozenset("abc"), 0)


def test_a_metric_with_a_budget_of_its_own_is_held_to_that_alone() -> None:
    metrics = (
        total(lambda _: 30.0, frozenset()),
        Total(MetricId("null"), "insn/op", BASE, BASE, 0.0),
    )
    assert is_within_budget(metrics, Budget(None, {"null": 0.0}))
    assert is_within_budget(metrics, Budget(0.0, {"open": 0.3}))
    assert not is_within_budget(metrics, Budget(0.5, {"open": 0.2}))


def test_two_that_cost_the_same_work_are_both_found() -> None:
    """Leaving out either saves nothing, since the other still costs it."""
    kept, _ = settle(lambda on: 50.0 * bool(on & {"a", "b"}) + len(on), frozenset("abcd"), 0.05)
    assert kept == {"c", "d"}


@given(
    costs=st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 50), min_size=1),
    shared=st.floats(0, 50),
    budget=st.floats(0, 1),
)
def test_it_ends_within_the_budget_and_within_as_many_rounds_as_controls(
    costs: dict[str, float], shared: float, budget: float
) -> None:
    def value(on: frozenset[str]) -> float:
        return sum(costs[name] for name in sorted(on)) + shared * bool(on)

    _, rounds = settle(value, frozenset(costs), budget)
    assert rounds <= len(costs)


def test_a_raised_budget_is_enough_as_it_is_shown_and_a_round_one_is_above_it() -> None:
    assert [round_up_share(share) for share in (0.2866, 0.287, 0.0666, 1.5)] == [
        0.287,
        0.287,
        0.067,
        1.5,
    ]
    rounded = [round_above(share) for share in (0.0004, 0.012, 0.067, 0.287, 0.3, 0.999, 1.0, 12)]
    assert rounded == [0.001, 0.02, 0.1, 0.3, 0.35, 1.0, 1.5, 15]


@given(st.floats(0, 100))
def test_a_budget_that_is_shown_is_never_too_small(share: float) -> None:
    assert share - 1e-8 <= round_up_share(share) < round_above(round_up_share(share))


def test_only_the_budgets_that_are_too_small_are_raised() -> None:
    limit = Budget(0.05, {"open": 0.5, "wall": 0.1})
    raised_one = raise_budget(limit, {"open": 0.611}, round_up_share)
    assert raised_one == Budget(0.05, {"open": 0.611, "wall": 0.1})
    shared = raise_budget(limit, {"null": 0.2, "read": 0.3}, round_up_share)
    assert shared == Budget(0.3, {"open": 0.5, "wall": 0.1})
