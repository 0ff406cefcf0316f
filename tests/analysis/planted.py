"""Problems with planted costs and interactions, and what other ways of choosing make of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hardcost.analysis.bill import budget
from hardcost.analysis.bill.budget import Budget
from hardcost.analysis.choice.cost_model import Term
from hardcost.analysis.choice.search import MOST, ChoiceResult, search
from hardcost.analysis.choice.tradeoff import Kept, Point, Tradeoff
from hardcost.model.finding.bill import Item, Itemised, Total
from hardcost.model.workload import MetricId

BASE = 1000.0
METRICS = (MetricId("open"), MetricId("null"), MetricId("wall"))


@dataclass(frozen=True)
class Planted:
    """A problem, and what its choices really cost; it counts what is measured."""

    problem: Tradeoff
    truth: Mapping[MetricId, tuple[tuple[Term, float], ...]]

    def point(self, kept: Kept) -> Point:
        costs = {
            metric: math.fsum(cost for term, cost in terms if term.applies(kept))
            for metric, terms in self.truth.items()
        }
        return Point(kept, costs)

    def first(self) -> list[Point]:
        """Return what a bill measures: the whole, nothing, each one left out, and alone."""
        every = self.problem.controls
        single = [self.problem.closure({one}) for one in sorted(every)]
        without = [self.problem.drop_unmet(every - {one}) for one in sorted(every)]
        return [self.point(one) for one in dict.fromkeys([every, Kept(), *without, *single])]

    def searched(self, most: int = MOST) -> ChoiceResult:
        """Return what the search finds."""
        asking = search(self.problem, self.first(), most)
        try:
            wanted = next(asking)
            while True:
                wanted = asking.send([self.point(kept) for kept in wanted])
        except StopIteration as ended:
            outcome: ChoiceResult = ended.value
            return outcome


def draw(seed: int, controls: int) -> Planted:
    """Return a drawn problem: costs on one to three metrics, shared work, pairs, and a triple."""
    rng = np.random.default_rng([seed, controls])
    metrics = METRICS[: int(rng.integers(1, 4))]
    values = rng.choice([1.0, 2.0, 3.0], controls) if rng.random() < 0.7 else np.ones(controls)
    sharing = Kept(int(one) for one in rng.permutation(controls)[: int(rng.integers(2, controls))])
    pairs = [Kept(map(int, rng.choice(controls, 2, replace=False))) for _ in range(controls // 4)]
    triple = Kept(map(int, rng.choice(controls, min(3, controls), replace=False)))
    alike = bool(rng.random() < 0.5)
    truth: dict[MetricId, tuple[tuple[Term, float], ...]] = {}
    for metric in metrics:
        singles = np.round(rng.gamma(0.6, 120, controls) * (rng.random(controls) < 0.8))
        terms = [(Term(Kept({one})), float(cost)) for one, cost in enumerate(singles)]
        terms.append((Term(sharing, "any"), float(rng.integers(0, 200))))
        for pair in pairs:
            term = Term(pair) if rng.random() < 0.5 else Term(pair, "any")
            terms.append((term, float(rng.integers(10, 250))))
        if rng.random() < 0.3:
            terms.append((Term(triple), float(rng.integers(-60, 200))))
        truth[metric] = tuple(terms)
    whole = {metric: math.fsum(cost for _, cost in terms) for metric, terms in truth.items()}
    limits = {metric: cost * float(rng.uniform(0.1, 0.8)) for metric, cost in whole.items()}
    needs = ((0, 1),) if rng.random() < 0.3 else ()
    problem = Tradeoff(
        values=tuple(map(float, values)),
        limits=limits,
        scales=dict.fromkeys(metrics, BASE),
        needs=needs,
        alike=(sharing,) if alike else (),
    )
    return Planted(problem, truth)


def greedy(planted: Planted) -> float:
    """Return the value that `budget.propose` keeps, each proposal measured."""
    problem = planted.problem
    every = problem.controls
    whole = planted.point(every)
    items = [
        Item(str(one), metric, "", cost, cost, cost, 0.0, alone.costs[metric], None)
        for one in sorted(every)
        for alone in [planted.point(problem.closure({one}))]
        for metric in problem.limits
        for cost in [
            whole.costs[metric] - planted.point(problem.drop_unmet(every - {one})).costs[metric]
        ]
    ]
    limits = Budget(None, {str(metric): limit / BASE for metric, limit in problem.limits.items()})

    def totals(costs: Mapping[MetricId, float]) -> tuple[Total, ...]:
        return tuple(Total(metric, "", BASE, BASE + cost, cost) for metric, cost in costs.items())

    bill = Itemised(
        profile="",
        profile_title="",
        totals=totals(whole.costs),
        items=tuple(items),
        rest=(),
        interaction=(),
    )
    kept, known = every, bill.totals
    dropped: tuple[str, ...] = ()
    while not budget.is_within_budget(known, limits) and len(dropped) < len(every):
        dropped = budget.propose(bill, known, dropped, limits)
        kept = problem.drop_unmet(every - {int(one) for one in dropped})
        known = totals(planted.point(kept).costs)
    return problem.value(kept)


def in_order(planted: Planted) -> float:
    """Return the value kept by leaving out the dearest, one after another, until it fits."""
    problem = planted.problem
    every = problem.controls
    whole = planted.point(every).costs

    def saved(one: int) -> float:
        rest = planted.point(problem.drop_unmet(every - {one})).costs
        return max((whole[metric] - rest[metric]) / BASE for metric in problem.limits)

    order = sorted(every, key=lambda one: -saved(one))
    for at in range(len(order) + 1):
        kept = problem.drop_unmet(every - set(order[:at]))
        if problem.within(planted.point(kept).costs):
            return problem.value(kept)
    return 0.0


def brute_force(planted: Planted) -> float:
    """Return the largest value of all choices within the limits."""
    problem, best = planted.problem, 0.0
    every = sorted(problem.controls)
    for size in range(len(every) + 1):
        for chosen in itertools.combinations(every, size):
            kept = Kept(chosen)
            if problem.drop_unmet(kept) != kept or problem.value(kept) <= best:
                continue
            if problem.within(planted.point(kept).costs):
                best = problem.value(kept)
    return best
