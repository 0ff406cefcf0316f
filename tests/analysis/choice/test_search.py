"""The search for what to give up, on planted costs and interactions."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.analysis.choice.cost_model import Term
from hardcost.analysis.choice.frontier import Best, frontier
from hardcost.analysis.choice.tradeoff import Kept, Point, Tradeoff
from hardcost.model.workload import MetricId
from tests.analysis.planted import BASE, Planted, brute_force, draw, greedy, in_order


def planted(
    costs: list[float], limit: float, values: list[float] | None = None, *shared: tuple[Term, float]
) -> Planted:
    """Return a problem on one metric: a cost for each control, and terms of groups."""
    problem = Tradeoff(
        values=tuple(values or [1.0] * len(costs)),
        limits={MetricId("open"): limit},
        scales={MetricId("open"): BASE},
    )
    single = [(Term(Kept({one})), cost) for one, cost in enumerate(costs)]
    return Planted(problem, {MetricId("open"): (*single, *shared)})


def kept(one: Planted) -> Kept:
    best = one.searched().best
    assert best is not None
    return best.kept


@settings(max_examples=settings().max_examples // 8, deadline=None)
@given(seed=st.integers(0, 10_000), controls=st.integers(3, 7))
def test_no_other_way_keeps_more_of_a_drawn_problem(seed: int, controls: int) -> None:
    one = draw(seed, controls)
    outcome = one.searched()
    assert outcome.best is not None
    value = one.problem.value(outcome.best.kept)
    assert one.problem.within(one.point(outcome.best.kept).costs)
    assert value >= max(greedy(one), in_order(one)) - 1e-9
    assert value <= brute_force(one) + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_small_drawn_problems_are_solved_as_by_trying_everything(seed: int) -> None:
    one = draw(seed, 7)
    assert one.problem.value(kept(one)) == pytest.approx(brute_force(one))


def test_a_cheap_control_of_great_value_stays_where_greed_takes_the_dearest() -> None:
    one = planted([60.0, 50.0, 50.0], 60.0, [5.0, 1.0, 1.0])
    assert kept(one) == {0}
    assert greedy(one) == 1.0


def test_a_cost_that_controls_share_is_saved_only_without_all_of_them() -> None:
    sharing = (Term(Kept({0, 1, 2}), "any"), 100.0)
    assert kept(planted([1.0, 1.0, 1.0, 50.0], 60.0, None, sharing)) == {3}
    assert kept(planted([1.0, 1.0, 1.0, 50.0], 110.0, None, sharing)) == {0, 1, 2}


def shown(one: Planted, *limits: float, rounds: int) -> tuple[Best, ...]:
    """Return the frontier of a problem at some limits, by the limit."""
    found = one.searched()
    levels = {limit: {MetricId("open"): limit} for limit in limits}
    asking = frontier(one.problem, found.points, found.model, levels, rounds)
    try:
        wanted = next(asking)
        while True:
            wanted = asking.send([one.point(kept) for kept in wanted])
    except StopIteration as ended:
        best: tuple[Best, ...] = ended.value
        return best


@pytest.mark.parametrize("rounds", [0, 2])
def test_below_the_price_of_having_any_rule_no_rule_is_kept(rounds: int) -> None:
    fixed = (Term(Kept({0, 1}), "any"), 1580.0)
    two = planted([10.0, 20.0], 500.0, None, fixed)
    assert kept(two) == Kept()
    levels = [(one.factor, one.point) for one in shown(two, 500, 1585, 1595, 1610, rounds=rounds)]
    assert levels == [
        (500, Point(Kept(), {MetricId("open"): 0.0})),
        (1585, Point(Kept(), {MetricId("open"): 0.0})),
        (1595, Point(Kept({0}), {MetricId("open"): 1590.0})),
        (1610, Point(Kept({0, 1}), {MetricId("open"): 1610.0})),
    ]


def test_a_prediction_of_what_keeps_a_rule_has_the_price_of_having_any() -> None:
    fixed = (Term(Kept({0, 1, 2}), "any"), 1580.0)
    found = planted([10.0, 20.0, 30.0, 500.0], 100.0, None, fixed).searched()
    unmeasured = Kept({1, 2})
    assert unmeasured not in {point.kept for point in found.points}
    assert found.model.costs(unmeasured)[MetricId("open")] == pytest.approx(1630.0)


def test_of_two_that_are_dear_only_together_one_stays() -> None:
    pair = (Term(Kept({0, 1})), 100.0)
    assert len(kept(planted([1.0, 1.0, 1.0], 10.0, None, pair))) == 2


def test_of_choices_of_one_value_the_cheapest_is_taken() -> None:
    assert kept(planted([40.0, 30.0, 20.0], 40.0)) == {2}


def test_what_has_to_be_kept_is_kept_and_the_rest_fits_around_it() -> None:
    one = planted([60.0, 50.0, 10.0], 75.0, [math.inf, 1.0, 1.0])
    assert kept(one) == {0, 2}


def test_nothing_is_found_where_what_has_to_be_kept_is_over_the_limit() -> None:
    assert planted([60.0, 5.0], 50.0, [math.inf, 1.0]).searched().best is None


def test_a_control_goes_with_the_one_that_it_needs() -> None:
    plain = planted([60.0, 1.0, 1.0], 10.0)
    needs = dataclasses.replace(plain.problem, needs=((1, 0),))
    assert kept(dataclasses.replace(plain, problem=needs)) == {2}


def test_a_control_that_saves_makes_room_for_another() -> None:
    assert kept(planted([-50.0, 60.0, 61.0], 10.5)) == {0, 1}


def test_no_more_choices_are_measured_than_allowed() -> None:
    one = draw(3, 9)
    outcome = one.searched(most=3)
    assert outcome.proposals == len(outcome.points) - len(one.first()) <= 3


def test_chance_in_what_was_measured_is_no_interaction() -> None:
    one = planted([30.0, 20.0, 10.0], 32.0)
    problem = dataclasses.replace(one.problem, chance={MetricId("open"): 3.0})

    class Noisy(Planted):
        def point(self, kept: Kept) -> Point:
            true = super().point(kept)
            off = (sum(kept) * 7 + len(kept)) % 3 - 1.0
            return dataclasses.replace(
                true, costs={MetricId("open"): true.costs[MetricId("open")] + off * bool(kept)}
            )

    noisy = Noisy(problem, one.truth)
    outcome = noisy.searched()
    assert outcome.best is not None
    assert len(outcome.best.kept) == 2
    assert not [term for term in outcome.model.terms[MetricId("open")] if len(term.controls) > 1]


def test_what_costs_nothing_is_not_given_up_however_much_may_be_chance() -> None:
    one = planted([100.0, 100.0, 100.0, *[0.0] * 9], 195.0, [5.0] * 3 + [1.0] * 9)
    problem = dataclasses.replace(one.problem, chance={MetricId("open"): 200.0})
    outcome = dataclasses.replace(one, problem=problem).searched()
    assert outcome.best is not None
    assert problem.value(outcome.best.kept) == 5 + 9
    assert outcome.proposals <= 10


def test_a_metric_without_a_limit_makes_no_proposal_look_cheaper() -> None:
    one = draw(0, 9)
    one = dataclasses.replace(
        one, problem=dataclasses.replace(one.problem, chance={MetricId("open"): 200.0})
    )

    class TwoMetrics(Planted):
        def point(self, kept: Kept) -> Point:
            costs = super().point(kept).costs
            return Point(kept, {**costs, MetricId("null"): 1000.0 * bool(kept)})

    assert list(map(str, one.problem.limits)) == ["open"]
    assert TwoMetrics(one.problem, one.truth).searched().proposals == one.searched().proposals
