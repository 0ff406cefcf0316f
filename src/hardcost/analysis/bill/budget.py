"""Which controls to give up so that a profile keeps a budget: a proposal to be measured.

Greedy: while a metric is over the budget, the next control to go is the one that costs most on the
metric that is furthest over. The cost of a set without several controls is predicted by subtracting
their items' costs from the last measured total. Since controls interact, each proposal is measured,
and the next one starts from that measurement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hardcost.errors import RequestError
from hardcost.model.finding.bill import Itemised, Total
from hardcost.model.request import CheckedRequest
from hardcost.model.workload import MetricId

_NOTHING = (0.0, 0.0)  # cost, and cost alone, of a control without an item on a metric

_STEPS = ((0.01, 0.001), (0.05, 0.01), (1.0, 0.05), (10.0, 0.5))
"""Up to which share budgets are rounded to which."""

_LARGEST_STEP = 5.0

_SHOWN = 0.001
"""Budgets are shown to a tenth of a per cent."""


@dataclass(frozen=True)
class Budget(CheckedRequest):
    """By how much metrics may grow, relative to the baseline, such as 0.05 for 5 %.

    `metrics` have a budget of their own; `others` is the budget of all others, None if they are
    unlimited.
    """

    others: float | None
    metrics: Mapping[str, float] = field(default_factory=dict)

    def of(self, metric: str) -> float:
        """Return by how much a metric may grow."""
        return self.metrics.get(metric, math.inf if self.others is None else self.others)

    def for_metrics(self, names: Iterable[str], field: str = "budget") -> Budget:
        """Return the budget under the names that metrics have with several workloads.

        There a metric's name begins with its workload's; the plain name stands for all of them.
        `field` is the request's that has it.

        Raises:
            InputError: There is no metric of a name.
        """
        known = tuple(names)
        full: dict[str, float] = {}
        for wanted, limit in self.metrics.items():
            meant = [wanted] if wanted in known else [n for n in known if n.endswith(f" {wanted}")]
            if not meant:
                raise RequestError(
                    f"`{field}`: there is no metric '{wanted}'",
                    hint=f"there are {', '.join(known)}",
                )
            full |= dict.fromkeys(meant, limit)
        return replace(self, metrics=full)


def raise_budget(budget: Budget, over: Mapping[str, float], up: Callable[[float], float]) -> Budget:
    """Return the budget that allows metrics to grow by `over`, which is more than they may.

    `up` rounds such a share up; what metrics share is raised for all of them.
    """
    shared = [share for name, share in over.items() if name not in budget.metrics]
    return Budget(
        up(max(shared)) if shared else budget.others,
        {name: up(over[name]) if name in over else it for name, it in budget.metrics.items()},
    )


def round_up_share(share: float) -> float:
    """Return a share rounded up to a tenth of a per cent, as it is shown and can be typed."""
    return round(math.ceil(_steps(share, _SHOWN)) * _SHOWN, 6)


def round_above(share: float) -> float:
    """Return the next round share above one: 1 %, 2 % …, 5 %, 10 %, 15 % …, 100 %, 150 %."""
    step = next((step for below, step in _STEPS if share < below), _LARGEST_STEP)
    return round((math.floor(_steps(share, step)) + 1) * step, 6)


def _steps(share: float, step: float) -> float:
    return round(share / step, 6)  # sums of the same costs in another order differ by less


def is_within_budget(totals: Sequence[Total], budget: Budget) -> bool:
    """Say whether no metric costs more than the budget allows."""
    return all(excess(total, budget) <= 0 for total in totals)


def excess(total: Total, budget: Budget) -> float:
    """Return by how much a metric exceeds the budget, relative to its baseline; negative within."""
    return _excess(total.cost, total, budget)


def propose(
    bill: Itemised, totals: Sequence[Total], dropped: Sequence[str], budget: Budget
) -> tuple[str, ...]:
    """Return the controls to give up: the `dropped`, whose cost `totals` measured, and more.

    It adds at least one, so that proposing and measuring terminates. It adds none after a control
    whose cost in company differs from its cost alone: that one interacts, and what the others cost
    without it is unknown.
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


def _costs(bill: Itemised) -> dict[str, dict[MetricId, tuple[float, float]]]:
    """Return the cost of each control on each metric: in the profile's company, and alone."""
    costs: dict[str, dict[MetricId, tuple[float, float]]] = {}
    for item in bill.items:
        costs.setdefault(item.control, {})[item.metric] = (
            item.cost,
            item.cost if item.alone is None else item.alone,
        )
    return costs


def _excess(cost: float, total: Total, budget: Budget) -> float:
    limit = budget.of(str(total.metric))
    if abs(cost) <= total.least:
        return -limit
    return cost / total.baseline - limit if total.baseline > 0 else 0.0
