"""The least budget under which something of a profile can be kept, where the wanted one is too low.

`advise` offers it, and a round one above it, each with what it keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hardcost.analysis.bill.budget import Budget, raise_budget, round_above, round_up_share
from hardcost.analysis.choice import frontier
from hardcost.analysis.choice.budgeted_metrics import BudgetedMetrics
from hardcost.analysis.choice.cost_model import CostModel
from hardcost.analysis.choice.frontier import Best
from hardcost.analysis.choice.tradeoff import Kept, Point, Tradeoff
from hardcost.library.choices import Choices
from hardcost.model.finding.choice import Offer, Unkeepable
from hardcost.model.workload import MetricId


@dataclass(frozen=True)
class Cheapest:
    """The measured choice that keeps one of `none_of`, controls of a `kind`, for the least."""

    kind: str
    none_of: Kept
    point: Point


@dataclass(frozen=True)
class LeastBudget:
    """Finds controls that no choice within a budget keeps, and budgets that would keep some."""

    choices: Choices
    problem: Tradeoff
    metrics: BudgetedMetrics
    budget: Budget

    def unkeepable(
        self, points: Sequence[Point], model: CostModel, kept: Kept, rounds: int
    ) -> Unkeepable | None:
        """Return the controls of which none fits: those of a kind, all, or the required ones."""
        found = self.cheapest(points, kept)
        if found is None:
            return None
        return Unkeepable(
            found.kind,
            tuple(self.choices.controls[one].name for one in sorted(found.none_of)),
            self._offers((*points, found.point), model, found, rounds),
        )

    def cheapest(self, points: Sequence[Point], kept: Kept) -> Cheapest | None:
        """Return the choice that is least over the budget and keeps one of these; None if one fits.

        It is measured if it was only expected.
        """
        problem, listed = self.problem, self.choices.controls
        alike = frozenset(one for one, it in enumerate(listed) if it.shares_price)
        kind, none_of = next((listed[one].noun for one in alike), ""), alike
        if problem.best(points) is None:
            kind, none_of = "required control", problem.bound
        elif not kept and alike != problem.controls:
            kind, none_of = "control", problem.controls
        elif not alike or kept & alike or (kept and len(alike) == 1):
            return None
        measured = {one.kept for one in points}
        able = [
            one
            for one in problem.with_expected(points).values()
            if one.kept & none_of and problem.bound <= one.kept
        ]
        if not able:
            return None
        best = min(able, key=lambda one: problem.use(one.costs))
        point = best if best.kept in measured else self.choices.measure(best.kept)
        return None if problem.within(point.costs) else Cheapest(kind, none_of, point)

    def _offers(
        self, points: Sequence[Point], model: CostModel, found: Cheapest, rounds: int
    ) -> tuple[Offer, ...]:
        """Return the least budget that allows the cheapest, and a round one above it."""
        problem, limit = self.problem, self.budget.for_metrics(map(str, self.metrics.totals))
        costs = found.point.costs
        over = {
            str(metric): costs[metric] / problem.scale(metric)
            for metric, most in problem.limits.items()
            if costs[metric] > most
        }
        least = raise_budget(limit, over, round_up_share)
        round_one = raise_budget(least, {it: least.of(it) for it in over}, round_above)
        budgets = {1.0: least, 2.0: round_one}
        levels = {factor: self.metrics.limits(one) for factor, one in budgets.items()}
        around = self.choices.answer_questions(
            frontier.frontier(problem, points, model, levels, rounds)
        )
        return tuple(
            self._offer(one, budgets[one.factor], levels[one.factor], found) for one in around
        )

    def _offer(
        self, best: Best, budget: Budget, limits: Mapping[MetricId, float], found: Cheapest
    ) -> Offer:
        """Return the choice for a budget; it keeps at least one of those of which none fits."""
        able = best.point.kept & found.none_of and self.problem.bound <= best.point.kept
        point = best.point if able else found.point
        return Offer(
            budget=budget.others,
            budgets=dict(budget.metrics),
            kept=tuple(self.choices.controls[one].name for one in sorted(point.kept)),
            costs=self.metrics.costs_of(point, limits),
            measured=best.measured,
        )
