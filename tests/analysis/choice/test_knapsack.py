"""The choice that is worth most under a model of costs."""

from __future__ import annotations

import os
from typing import Any

import pytest
import scipy.optimize

from hardcost.analysis.choice import knapsack
from hardcost.analysis.choice.cost_model import CostModel, Term
from hardcost.analysis.choice.knapsack import Over, Requirement
from hardcost.analysis.choice.tradeoff import Kept, Tradeoff
from hardcost.model.workload import MetricId

PROBLEM = Tradeoff((1.0, 1.0, 3.0), {MetricId("open"): 50.0}, {MetricId("open"): 100.0})
MODEL = CostModel({MetricId("open"): {Term(Kept({one})): 30.0 for one in range(3)}})


def test_the_choice_of_the_largest_value_within_the_limits_is_taken() -> None:
    assert knapsack.solve(PROBLEM, MODEL) == Kept({2})


def test_what_was_tried_is_not_chosen_again() -> None:
    assert knapsack.solve(PROBLEM, MODEL, Requirement(tried=[Kept({2})])) in (Kept({0}), Kept({1}))


def test_with_slack_more_may_be_kept() -> None:
    assert len(knapsack.solve(PROBLEM, MODEL, Requirement(slack=0.1)) or ()) == 2


def test_where_nothing_is_worth_enough_there_is_no_choice() -> None:
    assert knapsack.solve(PROBLEM, MODEL, Requirement(least=4.0)) is None


def test_a_choice_makes_up_for_the_excess_of_another() -> None:
    saves = {0: 30.0, 1: 0.0, 2: 40.0}
    over = [Over(Kept({0, 2}), 35.0, saves)]
    assert knapsack.solve(PROBLEM, MODEL, Requirement(slack=0.1, over=over)) == Kept({0, 1})


def test_switching_a_control_on_may_make_up_for_an_excess() -> None:
    over = [Over(Kept({2}), 5.0, {0: 10.0, 1: 0.0, 2: 0.0})]
    assert knapsack.solve(PROBLEM, MODEL, Requirement(slack=0.1, over=over)) == Kept({0, 2})


def test_the_solver_s_remarks_stay_out_of_results(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def talkative(*words: Any, **named: Any) -> Any:  # noqa: ANN401  (scipy's)
        os.write(1, b"a remark")
        return scipy.optimize.milp(*words, **named)

    monkeypatch.setattr(knapsack, "milp", talkative)
    assert knapsack.solve(PROBLEM, MODEL) == Kept({2})
    assert not capfd.readouterr().out
