"""The frontier: for each level of the budget the best choice, measured a few times.

A coroutine, as the search is (`analysis/choice/search.py`): it yields choices to be measured.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from hardcost.analysis.choice import cost_model, knapsack
from hardcost.analysis.choice.cost_model import CostModel
from hardcost.analysis.choice.knapsack import Requirement
from hardcost.analysis.choice.tradeoff import Kept, Point, Tradeoff
from hardcost.model.workload import MetricId

Limits = Mapping[MetricId, float]

FACTORS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""By what the budget is multiplied, until the whole profile fits."""

ROUNDS = 2
"""How often proposals for all levels are measured."""


@dataclass(frozen=True)
class Best:
    """The best choice that is known for a level of the budget; predicted if not `measured`."""

    factor: float
    point: Point
    measured: bool


def frontier(
    problem: Tradeoff,
    points: Sequence[Point],
    model: CostModel,
    levels: Mapping[float, Limits],
    rounds: int = ROUNDS,
) -> Generator[tuple[Kept, ...], Sequence[Point], tuple[Best, ...]]:
    """Yield the choices to be measured, then return the best of each level.

    `levels` has each level's limits by its factor, the lowest first. With 0 `rounds` nothing is
    measured, and what is better than anything measured is predicted. Levels above the first that
    the whole profile keeps say nothing more.
    """
    known = {point.kept: point for point in points}
    every = known[problem.controls]
    problems: dict[float, Tradeoff] = {}
    for factor, limits in levels.items():
        problems[factor] = dataclasses.replace(problem, limits=limits)
        if problems[factor].within(every.costs):
            break
    for _ in range(rounds):
        new = [_propose_choice(one, known, model) for one in problems.values()]
        wanted = tuple(dict.fromkeys(one for one in new if one is not None and one not in known))
        if not wanted:
            break
        for point in (yield wanted):
            known[point.kept] = point
        model = cost_model.fit(problem, list(known.values()), model)
    found = []
    for factor, one in problems.items():
        best = one.best(known.values())
        chosen = _propose_choice(one, known, model) if not rounds else None
        if chosen is not None and chosen not in known:
            guess = Point(chosen, model.costs(chosen))
            if one.better(guess, None if best is None else one.on_limited_metrics(best)):
                found.append(Best(factor, guess, measured=False))
                continue
        if best is not None:
            found.append(Best(factor, best, measured=True))
    return tuple(found)


def _propose_choice(
    problem: Tradeoff, known: Mapping[Kept, Point], model: CostModel
) -> Kept | None:
    over = tuple(kept for kept, one in known.items() if not problem.within(one.costs))
    return knapsack.solve(problem, model, Requirement(tried=over))


def levels(
    shares: Mapping[MetricId, float],
    scales: Mapping[MetricId, float],
    least: Mapping[MetricId, float],
) -> dict[float, dict[MetricId, float]]:
    """Return the limits of each level, in the metrics' units.

    `shares` are the budgets by metric, relative to the `scales`; costs up to `least` count nothing.
    """
    return {
        factor: {
            metric: limit(share * factor if factor else 0.0, scales[metric], least[metric])
            for metric, share in shares.items()
        }
        for factor in FACTORS
    }


def limit(share: float, scale: float, least: float) -> float:
    """Return the most that a metric may cost, as `budget.excess` judges it."""
    if math.isinf(share) or scale <= 0:
        return math.inf
    return max(share * scale, least)
