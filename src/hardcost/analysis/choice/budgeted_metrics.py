"""The metrics that have a budget: their limits under it, and the costs of choices."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

from hardcost.analysis.bill.budget import Budget
from hardcost.analysis.choice import frontier
from hardcost.analysis.choice.tradeoff import Point
from hardcost.model.finding.bill import Total
from hardcost.model.finding.choice import Costs
from hardcost.model.workload import MetricId


@dataclass(frozen=True)
class BudgetedMetrics:
    """The totals of the whole profile, and the budget's share of the baseline for each metric.

    A metric without a budget, or with a baseline of 0, has no share.
    """

    totals: Mapping[MetricId, Total]
    shares: Mapping[MetricId, float]

    @classmethod
    def of(cls, totals: Mapping[MetricId, Total], budget: Budget) -> BudgetedMetrics:
        """Return the metrics of `totals` that `budget` limits."""
        shares = {metric: budget.of(str(metric)) for metric in totals}
        return cls(
            totals,
            {
                metric: share
                for metric, share in shares.items()
                if math.isfinite(share) and totals[metric].baseline > 0
            },
        )

    def limits(self, budget: Budget) -> dict[MetricId, float]:
        """Return the most that each metric may cost under a budget, in its unit."""
        return {
            metric: frontier.limit(budget.of(str(metric)), one.baseline, one.least)
            for metric, one in self.totals.items()
            if metric in self.shares
        }

    def costs(
        self, totals: Mapping[MetricId, Total], limits: Mapping[MetricId, float]
    ) -> tuple[Costs, ...]:
        """Return the costs in `totals` of these metrics, each beside its limit."""
        return tuple(
            Costs(metric, one.unit, one.baseline, one.cost, limits[metric])
            for metric, one in totals.items()
            if metric in self.shares
        )

    def costs_of(self, point: Point, limits: Mapping[MetricId, float]) -> tuple[Costs, ...]:
        """Return the costs of a choice on these metrics, each beside its limit."""
        totals = {
            metric: dataclasses.replace(self.totals[metric], cost=point.costs[metric])
            for metric in self.totals
            if metric in self.shares
        }
        return self.costs(totals, limits)
