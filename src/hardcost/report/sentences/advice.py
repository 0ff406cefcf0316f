"""Advice on what to leave out of a profile to keep a budget, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hardcost.report.text import listed, percent
from hardcost.units import count

if TYPE_CHECKING:
    from hardcost.analysis.finding import Advice, Total


def advice_lines(advice: Advice) -> list[str]:
    """Return the advice as sentences, then a line for each control to leave out."""
    budget = _budget(advice)
    if not advice.leave_out:
        if advice.budgets:
            return [f"Within the budget with the whole profile: {budget}."]
        return [f"Within the budget: no metric grows by more than {budget} with the whole profile."]
    if not advice.kept:
        return [f"No control that was tried fits within {budget}{_last(advice)}."]
    whole = count(len(advice.leave_out) + advice.kept, "control")
    proposal = f"leave out {len(advice.leave_out)} of {whole}"
    measured = f"Measured with what remains: at most {_grown(_worst(advice.totals))}."
    every = "" if advice.budgets else " on every metric"
    return [
        f"To keep within {budget}{every}, {proposal}. {measured}",
        *(f"  leave out  {control}" for control in advice.leave_out),
    ]


def _budget(advice: Advice) -> str:
    """Return by how much metrics may grow, in words."""
    parts = [f"{percent(limit)} on {metric}" for metric, limit in advice.budgets.items()]
    if advice.budget is not None:
        parts.append(percent(advice.budget) + (" on all others" if parts else ""))
    return listed(parts)


def _last(advice: Advice) -> str:
    """Return what the last control that was given up costs by itself, if that is too much."""
    name = advice.leave_out[-1]
    over = [one for one in advice.alone if _share(one) > _allowed(advice, one)]
    if not over:
        return f"; the last to go was '{name}'"
    worst = max(over, key=lambda one: _share(one) - _allowed(advice, one))
    allowed = percent(_allowed(advice, worst))
    return f": the last to go, '{name}', is too expensive alone: {_grown(worst)}; limit {allowed}"


def _allowed(advice: Advice, total: Total) -> float:
    return advice.budgets.get(total.metric, math.inf if advice.budget is None else advice.budget)


def _worst(totals: tuple[Total, ...]) -> Total:
    return max(totals, key=_share)


def _grown(total: Total) -> str:
    return f"{percent(_share(total))} more, on {total.metric}"


def _share(total: Total) -> float:
    return total.cost / total.baseline if total.baseline else 0.0
