"""Advice in words: what is said is what was measured."""

from hardcost.analysis.finding import Advice, Total
from hardcost.report.advice import advice_lines


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


def test_where_nothing_can_be_kept_it_says_so() -> None:
    (line,) = advice_lines(advice(("-w /a",), 0))
    assert "nothing of the profile" in line
    assert "-w /a" in line
