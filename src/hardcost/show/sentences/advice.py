"""Advice on what to leave out of a profile to keep a budget, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hardcost.analysis.bill.budget import Budget, raise_budget, round_up_share
from hardcost.model.finding.bill import Advice, Total
from hardcost.show.text import percent
from hardcost.units import count, join_in_prose


def advice_lines(advice: Advice) -> list[str]:
    """Return the advice as sentences, then a line for each control to leave out."""
    budget = _budget(advice)
    if not advice.leave_out:
        if advice.budgets:
            return [f"Within the budget with the whole profile: {budget}."]
        return [f"Within the budget: no metric grows by more than {budget} with the whole profile."]
    if advice.alone or not advice.kept:
        return list(_none_fits(advice, budget))
    whole = count(len(advice.leave_out) + advice.kept, "control")
    proposal = f"leave out {len(advice.leave_out)} of {whole}"
    measured = f"Measured with what remains: at most {_growth_words(_worst(advice.totals))}."
    every = "" if advice.budgets else " on every metric"
    return [
        f"To keep within {budget}{every}, {proposal}. {measured}",
        *(f"  leave out  {control}" for control in advice.leave_out),
    ]


def _budget(advice: Advice | Budget) -> str:
    """Return by how much metrics may grow, in words."""
    others, own = (
        (advice.others, advice.metrics)
        if isinstance(advice, Budget)
        else (advice.budget, advice.budgets)
    )
    parts = [f"{percent(limit)} on {metric}" for metric, limit in own.items()]
    if others is not None:
        parts.append(percent(others) + (" on all others" if parts else ""))
    return join_in_prose(parts)


def _none_fits(advice: Advice, budget: str) -> Iterator[str]:
    """Yield that no control can be kept, or no audit rule, and the least budget that keeps one."""
    over = {str(it.metric): _share(it) for it in advice.alone if _share(it) > _limit_of(advice, it)}
    least = raise_budget(Budget(advice.budget, advice.budgets), over, round_up_share)
    kind = "audit rule" if advice.kept else "control"
    end = f": the least budget that keeps one is {_budget(least)}" if over else ""
    yield f"No {kind} can be kept within {budget}{end}. `hardcost advise` says what that keeps."
    if advice.kept:
        whole = count(len(advice.leave_out) + advice.kept, "control")
        measured = f"at most {_growth_words(_worst(advice.totals))}, measured"
        yield f"Within {budget}, {advice.kept} of {whole} can be kept: {measured}."


def _limit_of(advice: Advice, total: Total) -> float:
    return advice.budgets.get(
        str(total.metric), math.inf if advice.budget is None else advice.budget
    )


def _worst(totals: tuple[Total, ...]) -> Total:
    return max(totals, key=_share)


def _growth_words(total: Total) -> str:
    return f"{percent(_share(total))} more, on {total.metric}"


def _share(total: Total) -> float:
    return total.cost / total.baseline if total.baseline else 0.0
