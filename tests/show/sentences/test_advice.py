"""Advice in words: what is said is what was measured."""

from dataclasses import replace

from hardcost.model.finding.bill import Advice, Total
from hardcost.model.workload import MetricId
from hardcost.show.sentences.advice import advice_lines


def advice(leave_out: tuple[str, ...], kept: int) -> Advice:
    totals = (
        Total(MetricId("null"), "insn/op", 100.0, 101.0, 1.0),
        Total(MetricId("open"), "insn/op", 1000.0, 1042.0, 42.0),
    )
    return Advice(budget=0.05, leave_out=leave_out, kept=kept, totals=totals, within=True)


def test_a_profile_within_the_budget_is_kept_whole() -> None:
    (line,) = advice_lines(advice((), 3))
    assert "5.0%" in line
    assert "whole profile" in line


def test_what_goes_is_listed_and_what_remains_is_measured() -> None:
    first, *others = advice_lines(advice(("-w /a", "-w /b"), 3))
    assert "leave out 2 of 5 controls" in first
    assert "4.2% more, on open" in first
    assert others == ["  leave out  -w /a", "  leave out  -w /b"]


def test_where_no_control_fits_the_least_budget_is_said() -> None:
    alone = (
        Total(MetricId("null"), "insn/op", 100.0, 170.0, 70.0),
        Total(MetricId("open"), "x", 10.0, 17.0, 7.0),
    )
    given = replace(
        advice(("-w /a",), 0), budget=None, budgets={"null": 0.2, "open": 0.8}, alone=alone
    )
    assert advice_lines(given) == [
        (
            "No control can be kept within 20.0% on null and 80.0% on open: the least budget that"
            " keeps one is 70.0% on null and 80.0% on open. `hardcost advise` says what that keeps."
        )
    ]


def test_where_no_audit_rule_fits_what_fits_is_said() -> None:
    alone = (Total(MetricId("open"), "insn/op", 1000.0, 1286.3, 286.3),)
    first, second = advice_lines(replace(advice(("-w /a", "-w /b"), 1), alone=alone))
    assert first.startswith(
        "No audit rule can be kept within 5.0%: the least budget that keeps one is 28.7%."
    )
    assert second == (
        "Within 5.0%, 1 of 3 controls can be kept: at most 4.2% more, on open, measured."
    )


def test_budgets_of_metrics_are_named_before_that_of_all_others() -> None:
    first, *_ = advice_lines(replace(advice(("-w /a",), 3), budgets={"open": 0.5}))
    assert "within 50.0% on open and 5.0% on all others, leave out 1 of 4" in first
