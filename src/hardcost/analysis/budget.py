"""Which controls to give up so that a profile keeps a budget: a proposal, to be measured.

Greedy: as long as a metric is over the budget, the control that costs most on the metric that is
furthest over goes next. What a set without several controls costs is predicted by taking their
items' costs from the last measured total; since controls interact, each proposal is measured, and
the next one starts from that measurement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.finding import Bill, Total


_NOTHING = (0.0, 0.0)


def within(totals: Sequence[Total], budget: float) -> bool:
    """Say whether no metric costs more than `budget` times its baseline."""
    return all(_excess(total.cost, total, budget) <= 0 for total in totals)


def propose(
    bill: Bill, totals: Sequence[Total], dropped: Sequence[str], budget: float
) -> tuple[str, ...]:
    """Return the controls to give up: those of `dropped`, whose cost `totals` measured, and more.

    At least one more, so that proposing and measuring comes to an end. No more after one whose cost
    in company is not its cost alone: it interacts, and what the others cost without it is unknown.
    """
    costs = _costs(bill)
    known = {total.metric: total for total in totals}
    expected = {total.metric: total.cost for total in totals}
    remaining = [control for control in costs if control not in dropped]
    chosen = list(dropped)
    while remaining and (
        len(chosen) == len(dropped)
        or any(_excess(expected[metric], known[metric], budget) > 0 for metric in known)
    ):
        worst = max(known, key=lambda metric: _excess(expected[metric], known[metric], budget))
        dearest = max(remaining, key=lambda control: costs[control].get(worst, _NOTHING))
        chosen.append(dearest)
        remaining.remove(dearest)
        cost, alone = costs[dearest].get(worst, _NOTHING)
        if cost != alone:
            break
        for metric in expected:
            expected[metric] -= costs[dearest].get(metric, _NOTHING)[0]
    return tuple(chosen)


def _costs(bill: Bill) -> dict[str, dict[str, tuple[float, float]]]:
    """Return what each control costs on each metric: in the profile's company, and alone."""
    costs: dict[str, dict[str, tuple[float, float]]] = {}
    for item in bill.items:
        costs.setdefault(item.control, {})[item.metric] = (item.cost, item.alone)
    return costs


def _excess(cost: float, total: Total, budget: float) -> float:
    """Return by how much of its baseline a metric is over the budget; not above 0 within it."""
    if abs(cost) <= total.least:
        return -budget
    return cost / total.baseline - budget if total.baseline > 0 else 0.0
