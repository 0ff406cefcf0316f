"""What to leave out of a profile so that it keeps a budget, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.text import count, percent

if TYPE_CHECKING:
    from hardcost.analysis.finding import Advice, Total


def advice_lines(advice: Advice) -> list[str]:
    """Return the advice as sentences, then a line for each control to leave out."""
    budget = percent(advice.budget)
    if not advice.leave_out:
        return [f"Within the budget: no metric grows by more than {budget} with the whole profile."]
    if not advice.kept:
        last = f"the last, '{advice.leave_out[-1]}', is still too dear by itself"
        return [f"Within {budget} nothing of the profile can be kept that was tried: {last}."]
    whole = count(len(advice.leave_out) + advice.kept, "control")
    proposal = f"leave out {len(advice.leave_out)} of {whole}"
    measured = f"Measured with what remains: at most {_worst(advice.totals)}."
    return [
        f"To keep within {budget} on every metric, {proposal}. {measured}",
        *(f"  leave out  {control}" for control in advice.leave_out),
    ]


def _worst(totals: tuple[Total, ...]) -> str:
    worst = max(totals, key=lambda total: total.cost / total.baseline if total.baseline else 0.0)
    return f"{percent(worst.cost / worst.baseline)} more, on {worst.metric}"
