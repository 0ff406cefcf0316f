"""Choices of a profile's controls, measured in a run: a search's questions and the answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from hardcost.analysis.bill.itemise import BillRecords
from hardcost.analysis.bill.mix import MEAN, Mix
from hardcost.analysis.choice import search
from hardcost.analysis.choice.budgeted_metrics import BudgetedMetrics
from hardcost.analysis.choice.frontier import Limits
from hardcost.analysis.choice.search import ChoiceResult
from hardcost.analysis.choice.tradeoff import Kept, Point, Tradeoff
from hardcost.analysis.estimates.estimates import Estimate, by_metric, shift, total
from hardcost.analysis.estimates.resolution import smallest_costs
from hardcost.controls.control import Control, Profile, requirements_of
from hardcost.measure.asking import answer_questions
from hardcost.measure.run import Run
from hardcost.model.finding.bill import Total
from hardcost.model.role import Alone, Baseline, Original, Role, Whole, Without
from hardcost.model.workload import MetricId
from hardcost.plan import leave_one_out
from hardcost.plan.plan import Plan

_Result = TypeVar("_Result")


class Choices:
    """The choices of a profile, by numbers of those controls that are not part of the baseline.

    `known` is what was measured for the profile's bill, and confirmed in groups.
    """

    def __init__(self, profile: Profile, plan: Plan, run: Run, known: BillRecords) -> None:
        self.profile = profile
        self._plan = plan
        self._run = run
        self._known = known
        self._baseline = [one for one in known.records if one.role == Baseline()]
        self._series = by_metric(known.records)
        self._least = smallest_costs(self._series)
        self._at = [index for index, one in enumerate(profile.controls) if not one.in_baseline]
        self._roles = self._first_roles()
        self.mix: Mix | None = None

    @property
    def controls(self) -> tuple[Control, ...]:
        """The controls by number."""
        return tuple(self.profile.controls[index] for index in self._at)

    @property
    def needs(self) -> tuple[tuple[int, int], ...]:
        """Which control needs which other."""
        return tuple(
            (one, other)
            for one, control in enumerate(self.controls)
            for need in requirements_of(control, self.controls)
            for other, it in enumerate(self.controls)
            if it is need
        )

    @property
    def alike(self) -> tuple[Kept, ...]:
        """The groups that may share work: controls of one mechanism."""
        groups: dict[str, set[int]] = {}
        for one, control in enumerate(self.controls):
            groups.setdefault(control.mechanism, set()).add(one)
        return tuple(Kept(group) for group in groups.values() if len(group) > 1)

    @property
    def every(self) -> Kept:
        """The choice of all controls."""
        return Kept(range(len(self._at)))

    def first_points(self) -> list[Point]:
        """Return the choices that the bill measured: none, all, all but some, and some alone."""
        return [Point(kept, self._costs(role)) for kept, role in self._roles.items()]

    def tradeoff(
        self, metrics: BudgetedMetrics, limits: Limits, values: Iterable[float]
    ) -> Tradeoff:
        """Return the problem of what to keep, by the value of each control."""
        return Tradeoff(
            values=tuple(values),
            limits=limits,
            scales={metric: metrics.totals[metric].baseline for metric in limits},
            needs=self.needs,
            alike=self.alike,
            chance={metric: metrics.totals[metric].least for metric in limits},
            expected=tuple(self._expected_points()),
        )

    def search(self, problem: Tradeoff, most: int = search.MOST) -> ChoiceResult:
        """Return the best choice, of those that were measured and those that a search asks for."""
        points = self.first_points()
        if problem.within(self._costs(Whole())):
            return search.nothing_to_do(problem, points)
        self._run.monitor.note("the whole profile is over the budget: looking for what to give up")
        return self.answer_questions(search.search(problem, points, most))

    def measure(self, kept: Kept) -> Point:
        """Measure a choice."""
        return self._measure_kept([kept])[0]

    def _first_roles(self) -> dict[Kept, Role]:
        """Return the roles of the configurations that were measured, by what each keeps."""
        roles: dict[Kept, Role] = {self.every: Whole(), Kept(): Baseline()}
        numbers, needs = {index: one for one, index in enumerate(self._at)}, self.needs
        measured = {role for known in self._series.values() for role in known}
        for role in sorted(measured, key=str):
            if isinstance(role, Without) and role.of == Whole():
                out = {numbers[index] for index in role.controls}
                out |= {one for one, need in needs if need in out}
                roles.setdefault(self.every - out, role)
            elif isinstance(role, Alone):
                one = numbers[role.control]
                roles.setdefault(Kept({one, *(n for it, n in needs if it == one)}), role)
        return roles

    def _expected_points(self) -> Iterator[Point]:
        """Yield all but one, and one alone, of the controls that were confirmed in groups."""
        whole = self._costs(Whole())
        for one, index in enumerate(self._at):
            if index in self._known.confirmed:
                saved = {metric: it.value for metric, it in self.savings_of(one).items()}
                without = {metric: cost - saved[metric] for metric, cost in whole.items()}
                yield Point(self.every - {one}, without)
                yield Point(Kept({one}), self._with_mean(self._known.alone[index]))

    def _with_mean(self, costs: Mapping[MetricId, float]) -> dict[MetricId, float]:
        mean = None if self.mix is None else self.mix.mean(costs)
        return dict(costs) if mean is None else {**costs, MEAN: mean}

    def totals(self, kept: Kept) -> tuple[Total, ...]:
        """Return the cost of a measured choice on each metric."""
        return self._totals(self._role(kept))

    def original_totals(self) -> tuple[Total, ...]:
        """Return the original's costs, where an equivalent is measured instead."""
        return self._totals(Original())

    def savings_of(self, one: int) -> dict[MetricId, Estimate]:
        """Return the saving on each metric if a control is left out, measured or confirmed."""
        confirmed = self._known.confirmed.get(self._at[one])
        without = Without((self._at[one],))
        found = {
            metric: shift(known[Whole()], known[without])
            if confirmed is None
            else confirmed[metric].cost
            for metric, known in self._series.items()
        }
        return found if self.mix is None else self.mix.with_mean_of(found)

    def answer_questions(
        self, asking: Generator[tuple[Kept, ...], Sequence[Point], _Result]
    ) -> _Result:
        """Measure whatever is asked for, until the asking ends with a result."""
        return answer_questions(asking, self._measure_kept)

    def part(self, kept: Kept) -> Profile:
        """Return the profile with a choice of its controls, and with those of the baseline."""
        off = {index for one, index in enumerate(self._at) if one not in kept}
        controls = tuple(c for index, c in enumerate(self.profile.controls) if index not in off)
        return dataclasses.replace(self.profile, controls=controls)

    def _measure_kept(self, wanted: Sequence[Kept]) -> list[Point]:
        plans = [
            leave_one_out.kept_plan(self._plan, self._dropped_indices(kept)) for kept in wanted
        ]
        trials = tuple(trial for plan in plans for trial in plan.trials)
        more = self._run.measure_plan(dataclasses.replace(self._plan, trials=trials)).records
        for metric, known in by_metric((*self._baseline, *more)).items():
            self._series[metric] |= known
        return [Point(kept, self._costs(self._role(kept))) for kept in wanted]

    def _dropped_indices(self, kept: Kept) -> list[int]:
        return [index for one, index in enumerate(self._at) if one not in kept]

    def _role(self, kept: Kept) -> Role:
        return self._roles.get(kept) or Without(tuple(self._dropped_indices(kept)))

    def _costs(self, role: Role) -> dict[MetricId, float]:
        return {total.metric: total.cost for total in self._totals(role)}

    def _totals(self, role: Role) -> tuple[Total, ...]:
        found = tuple(
            total(metric, known, role, self._least[metric])
            for metric, known in self._series.items()
        )
        return found if self.mix is None else self.mix.with_mean(found)
