"""Advice in words: what is said is what was measured."""

from dataclasses import replace

from hardcost.analysis.finding import Advice, Total
from hardcost.report.sentences.advice import advice_lines


def advice(leave_out: tuple[str, ...], kept: int) -> Advice:
    totals = (
        Total("null", "insn/op", 100.0, 101.0, 1.0),
        Total("open", "insn/op", 1000.0, 1042.0, 42.0),
    )
    return Advice(0.05, leave_out, kept, totals, within=True)


def test_a_profile_within_the_budget_is_kept_whole() -> None:
    (line,) = advice_lines(advice((), 3))
    assert "5.0%" in line
    assert "whole profile" in line


def test_what_goes_is_listed_and_what_remains_is_measured() -> None:
    first, *others = advice_lines(advice(("-w /a", "-w /b"), 3))
    assert "leave out 2 of 5 controls" in first
    assert "4.2% more, on open" in first
    assert others == ["  leave out  -w /a", "  leave out  -w /b"]


def test_the_last_control_is_too_expensive_by_a_figure() -> None:
    alone = (Total("null", "insn/op", 100.0, 170.0, 70.0), Total("open", "x", 10.0, 19.0, 9.0))
    given = replace(
        advice(("-w /a",), 0), budget=None, budgets={"null": 0.2, "open": 0.8}, alone=alone
    )
    (line,) = advice_lines(given)
    assert "fits within 20.0% on null and 80.0% on open: the last" in line
    assert "is too expensive alone: 70.0% more, on null; limit 20.0%." in line


def test_budgets_of_metrics_are_named_before_that_of_all_others() -> None:
    first, *_ = advice_lines(replace(advice(("-w /a",), 3), budgets={"open": 0.5}))
    assert "within 50.0% on open and 5.0% on all others, leave out 1 of 4" in first


def test_where_nothing_can_be_kept_it_says_so() -> None:
    (line,) = advice_lines(advice(("-w /a",), 0))
    assert "No control that was tried" in line
    assert "-w /a" in line
