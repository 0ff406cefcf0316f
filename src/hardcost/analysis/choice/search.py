"""The search for a choice: propose by a model, measure, refine the model, until both agree.

A coroutine: it yields choices to be measured, several at a time, and is sent their points.

1. The greedy proposals of `analysis/bill/budget.py` are measured, as far as they keep what has to
be kept. 2. The best choice under the model is measured, and the model refined, until it proposes
what was measured already, or nothing worth more. No proposal is a choice that was over the limits
less controls that can't make up for it. 3. Where predictions were off, what keeps more and exceeds
the limits by no more than that is measured, too. So are the choices that leave out the dearest in
order, and each control that was given up is put back. The model has learned from all these, so 2 is
repeated. What turns out better starts the search again.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hardcost.analysis.bill import budget
from hardcost.analysis.bill.budget import Budget
from hardcost.analysis.choice import cost_model, knapsack
from hardcost.analysis.choice.cost_model import CostModel
from hardcost.analysis.choice.knapsack import Over, Requirement
from hardcost.analysis.choice.tradeoff import Kept, Point, Tradeoff
from hardcost.model.finding.bill import Item, Itemised, Total
from hardcost.model.workload import MetricId

ChoiceQuestions = Generator[tuple[Kept, ...], Sequence[Point], None]

MOST = 100
"""Most choices that a search has measured."""

_DOUBTS = 8
"""Choices that a prediction's error leaves in doubt, measured one after another without gain."""

_AT_ONCE = 16
"""Most choices of a kind that are measured to see that none of them is better."""

_LEAST_DOUBT = 0.01
"""The least error that predictions are taken to have, relative to the metric's baseline."""


@dataclass(frozen=True)
class ChoiceResult:
    """How a search ended.

    `best` is None if nothing that was measured is within the limits. `points` are all that are
    known, `proposals` the number that the search had measured. `put_back` are the controls each of
    which was measured back in, beside the best: none fits. `error` is the largest error of a
    prediction, relative to the metric's baseline.
    """

    best: Point | None
    points: tuple[Point, ...]
    model: CostModel
    proposals: int
    put_back: tuple[int, ...]
    error: float


def search(
    problem: Tradeoff, points: Iterable[Point], most: int = MOST
) -> Generator[tuple[Kept, ...], Sequence[Point], ChoiceResult]:
    """Yield choices to be measured; return the best one.

    `points` are what is known before: at least the whole profile, and nothing at all.
    """
    state = _Search(problem, {point.kept: point for point in points}, most)
    yield from state.begin()
    while True:
        before = state.best
        yield from state.follow_model()
        yield from state.resolve_doubts()
        yield from state.in_order()
        yield from state.put_back()
        yield from state.follow_model()
        if state.best is before or not state.left:
            break
    return state.outcome()


@dataclass
class _Search:
    """The measured points and their model so far."""

    problem: Tradeoff
    known: dict[Kept, Point]
    most: int
    proposals: int = 0
    error: float = 0.0
    _model: CostModel | None = None
    _fitted_to: int = field(default=0)

    @property
    def best(self) -> Point | None:
        return self.problem.best(self.known.values())

    @property
    def left(self) -> int:
        """How many choices may still be measured."""
        return max(0, self.most - self.proposals)

    @property
    def model(self) -> CostModel:
        """The model of all that is known."""
        if self._model is None or self._fitted_to != len(self.known):
            self._model = cost_model.fit(self.problem, list(self.known.values()), self._model)
            self._fitted_to = len(self.known)
        return self._model

    @property
    def doubt(self) -> float:
        """By how much a prediction may be off, relative to the metric's baseline.

        Which controls interact is inferred, so it may be off by what a group does.
        """
        groups = (
            abs(cost) / self.problem.scale(metric)
            for metric, terms in self.model.terms.items()
            for term, cost in terms.items()
            if len(term.controls) > 1
        )
        return max(self.error, _LEAST_DOUBT, max(groups, default=0.0))

    def outcome(self) -> ChoiceResult:
        best = self.best
        off = self.problem.controls - best.kept if best is not None else frozenset[int]()
        return ChoiceResult(
            best=best,
            points=tuple(self.known.values()),
            model=self.model,
            proposals=self.proposals,
            put_back=tuple(sorted(one for one in off if self._best_with(one) in self.known)),
            error=self.error,
        )

    def measure(self, wanted: Iterable[Kept]) -> ChoiceQuestions:
        """Measure the choices that are not known, as many as may be."""
        new = [one for one in dict.fromkeys(wanted) if one not in self.known][: self.left]
        if not new:
            return
        predicted = {one: self.model.costs(one) for one in new}
        for point in (yield tuple(new)):
            self.known[point.kept] = point
            self.proposals += 1
            self.error = max(self.error, self._largest_miss(predicted[point.kept], point.costs))

    def begin(self) -> ChoiceQuestions:
        """Measure the required controls, and greedy proposals until one is within the limits."""
        yield from self.measure([self.problem.bound])
        bill, limits = _as_bill(self.problem, self._expected)
        everything = {item.control for item in bill.items}
        totals, dropped = bill.totals, tuple[str, ...]()
        while not budget.is_within_budget(totals, limits) and len(dropped) < len(everything):
            dropped = budget.propose(bill, totals, dropped, limits)
            kept = self.problem.drop_unmet(self.problem.controls - {int(one) for one in dropped})
            yield from self.measure([kept])
            if kept not in self.known:
                return
            totals = _totals(self.problem, self.known[kept].costs)

    def follow_model(self) -> ChoiceQuestions:
        """Measure the best choice under the model, until it is known already."""
        while self.left:
            wanted = Requirement(tried=self._over, over=self._excesses())
            chosen = knapsack.solve(self.problem, self.model, wanted)
            if chosen is None or chosen in self.known or not self._gains(chosen):
                return
            yield from self.measure([chosen])

    def resolve_doubts(self) -> ChoiceQuestions:
        """Measure choices that are worth more and predicted to be barely over the limits."""
        vain = 0
        while self.left and vain < _DOUBTS:
            best = self.best
            wanted = Requirement(
                least=0.0 if best is None else self._more_than(best),
                tried=tuple(self.known),
                slack=self.doubt,
                over=self._excesses(),
            )
            chosen = knapsack.solve(self.problem, self.model, wanted)
            if chosen is None:
                return
            yield from self.measure([chosen])
            vain = 0 if self.best is not best else vain + 1

    def in_order(self) -> ChoiceQuestions:
        """Measure choices that leave out the most expensive, are worth more, and are in doubt."""
        yield from self.measure(self._doubtful_choices(self._leaving_out_the_dearest())[:_AT_ONCE])

    def put_back(self) -> ChoiceQuestions:
        """Measure the best choice with each control that it lacks, where that is in doubt."""
        best = self.best
        if best is None:
            return
        lacking = sorted(self.problem.controls - best.kept)
        yield from self.measure(self._doubtful_choices(map(self._best_with, lacking))[:_AT_ONCE])

    def _leaving_out_the_dearest(self) -> list[Kept]:
        """Return the choices that remain as controls go, the one that saves most first."""
        known = self._expected
        order = sorted(
            self.problem.controls - self.problem.bound,
            key=lambda one: -_relative_saving(self.problem, known, one),
        )
        every = self.problem.controls
        return [self.problem.drop_unmet(every - set(order[:at])) for at in range(1, len(order) + 1)]

    def _doubtful_choices(self, choices: Iterable[Kept]) -> list[Kept]:
        """Return the choices worth more than the best that may be within the limits."""
        best = self.best
        found: dict[Kept, float] = {}
        for kept in choices:
            worth_it = best is None or self.problem.value(kept) >= self._more_than(best)
            over = self.problem.use(self.model.costs(kept))
            if kept not in self.known and worth_it and over <= 2 * self.doubt:
                found[kept] = over
        return sorted(found, key=lambda kept: found[kept])

    def _best_with(self, one: int) -> Kept:
        """Return the best choice with one more control."""
        best = self.best
        return self.problem.closure({one, *(best.kept if best is not None else ())})

    def _more_than(self, best: Point) -> float:
        value = self.problem.value(best.kept)
        # By more than rounding, and more than 0 where nothing is worth anything.
        return value + 1e-6 * max(value, self.problem.value(self.problem.controls), 1e-9)

    @property
    def _over(self) -> tuple[Kept, ...]:
        """The choices that were measured to be over the limits."""
        return tuple(
            point.kept for point in self.known.values() if not self.problem.within(point.costs)
        )

    def _gains(self, chosen: Kept) -> bool:
        """Say whether a choice is worth more than the best, or is predicted to be cheaper."""
        best = self.best
        if best is None or self.problem.value(chosen) >= self._more_than(best):
            return True
        known = self.problem.on_limited_metrics(best).costs
        lower = {one: cost - self.problem.chance.get(one, 0.0) for one, cost in known.items()}
        predicted = Point(chosen, self.model.costs(chosen))
        return self.problem.better(predicted, Point(best.kept, lower))

    def _excesses(self) -> list[Over]:
        """Return by how much each choice that is over a limit exceeds it."""
        found = []
        expected = self._expected
        for metric, limit in self.problem.limits.items():
            off, on = _switching_bounds(self.problem, expected, metric)
            for kept, point in self.known.items():
                if point.costs[metric] > limit:
                    saves = {one: (off if one in kept else on)[one] for one in off}
                    found.append(Over(kept, point.costs[metric] - limit, saves))
        return found

    @property
    def _expected(self) -> dict[Kept, Point]:
        return self.problem.with_expected(self.known.values())

    def _largest_miss(
        self, predicted: Mapping[MetricId, float], measured: Mapping[MetricId, float]
    ) -> float:
        return max(
            (
                abs(predicted[metric] - measured[metric]) / self.problem.scale(metric)
                for metric in self.problem.limits
                if math.isfinite(self.problem.limits[metric])
            ),
            default=0.0,
        )


def _relative_saving(problem: Tradeoff, known: Mapping[Kept, Point], one: int) -> float:
    """Return the most that leaving out a control saves on any metric, relative to the baseline."""
    whole = known[problem.controls]
    without = known.get(problem.without(one))
    if without is None:
        return 0.0
    return max(
        (
            (whole.costs[metric] - without.costs[metric]) / problem.scale(metric)
            for metric, limit in problem.limits.items()
            if math.isfinite(limit)
        ),
        default=0.0,
    )


def _switching_bounds(
    problem: Tradeoff, known: Mapping[Kept, Point], metric: MetricId
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the most that switching each control off saves, and on, if they interact in pairs.

    What a control does together with others is part of what leaving it out of the whole saves, and
    what it shares with them is part of what it costs alone. No choice saves more than both.
    """
    off, on = dict[int, float](), dict[int, float]()
    whole = known[problem.controls]
    for one in problem.controls:
        without = known.get(problem.without(one))
        alone = known.get(problem.alone(one))
        if without is None or alone is None:
            off[one] = on[one] = max(abs(point.costs[metric]) for point in known.values())
        else:
            costs = (whole.costs[metric] - without.costs[metric], alone.costs[metric])
            off[one] = math.fsum(max(cost, 0.0) for cost in costs)
            on[one] = math.fsum(max(-cost, 0.0) for cost in costs)
    return off, on


def _as_bill(problem: Tradeoff, known: Mapping[Kept, Point]) -> tuple[Itemised, Budget]:
    """Return the known points as a bill, with numbers for names, and the limits as a budget."""
    whole, items = known[problem.controls], list[Item]()
    for one in sorted(problem.controls - problem.bound):
        without = known.get(problem.without(one))
        alone = known.get(problem.alone(one))
        for metric in problem.limits:
            cost = 0.0 if without is None else whole.costs[metric] - without.costs[metric]
            by_itself = cost if alone is None else alone.costs[metric]
            items.append(Item(str(one), metric, "", cost, cost, cost, 0.0, by_itself, None))
    limits = {
        str(metric): limit / problem.scale(metric) for metric, limit in problem.limits.items()
    }
    return Itemised(
        profile="",
        profile_title="",
        totals=_totals(problem, whole.costs),
        items=tuple(items),
        rest=(),
        interaction=(),
    ), Budget(None, limits)


def _totals(problem: Tradeoff, costs: Mapping[MetricId, float]) -> tuple[Total, ...]:
    return tuple(
        Total(metric, "", scale, scale + costs[metric], costs[metric])
        for metric in problem.limits
        for scale in [problem.scale(metric)]
    )


def nothing_to_do(problem: Tradeoff, points: Iterable[Point]) -> ChoiceResult:
    """Return the outcome where the whole profile is within the limits, or there are none."""
    known = tuple(points)
    return ChoiceResult(problem.best(known), known, cost_model.fit(problem, known), 0, (), 0.0)
