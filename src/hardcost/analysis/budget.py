"""Which controls to give up so that a profile keeps a budget: a proposal, to be measured.

Greedy: as long as a metric is over the budget, the control that costs most on the metric that is
furthest over goes next. What a set without several controls costs is predicted by taking their
items' costs from the last measured total; since controls interact, each proposal is measured, and
the next one starts from that measurement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hardcost.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hardcost.analysis.finding import Bill, Total


_NOTHING = (0.0, 0.0)


@dataclass(frozen=True)
class Budget:
    """By how much metrics may grow, as a part of the baseline, such as 0.05 for 5 %.

    `metrics` have a budget of their own; `others` is that of all others, None where they may grow
    as they like.
    """

    others: float | None
    metrics: Mapping[str, float] = field(default_factory=dict)

    def of(self, metric: str) -> float:
        """Return by how much a metric may grow."""
        return self.metrics.get(metric, math.inf if self.others is None else self.others)

    def for_metrics(self, names: Iterable[str]) -> Budget:
        """Return the budget with the names that metrics have where there are several workloads.

        There a metric's name begins with its workload's; its own name stands for each of them.

        Raises:
            InputError: There is no metric of a name.
        """
        known = tuple(names)
        full: dict[str, float] = {}
        for wanted, limit in self.metrics.items():
            meant = [wanted] if wanted in known else [n for n in known if n.endswith(f" {wanted}")]
            if not meant:
                raise InputError(
                    f"--budget: there is no metric '{wanted}'", hint=f"there are {', '.join(known)}"
                )
            full |= dict.fromkeys(meant, limit)
        return replace(self, metrics=full)


def within(totals: Sequence[Total], budget: Budget) -> bool:
    """Say whether no metric costs more than the budget allows."""
    return all(excess(total, budget) <= 0 for total in totals)


def excess(total: Total, budget: Budget) -> float:
    """Return by how much of its baseline a metric is over the budget; negative within it."""
    return _excess(total.cost, total, budget)


def propose(
    bill: Bill, totals: Sequence[Total], dropped: Sequence[str], budget: Budget
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


def _excess(cost: float, total: Total, budget: Budget) -> float:
    limit = budget.of(total.metric)
    if abs(cost) <= total.least:
        return -limit
    return cost / total.baseline - limit if total.baseline > 0 else 0.0
