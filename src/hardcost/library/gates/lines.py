"""The lines of a change, measured: each left out by itself, or in groups that confirm predictions.

A state is weighed as a bill is (`library/bills/verification.py`), but only the lines of the change
are left out: all that both states have stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from auditrules.cost.constants import Constants
from hardcost.analysis.change.measurement import ConfirmedLines
from hardcost.analysis.estimates.estimates import by_metric
from hardcost.analysis.estimates.resolution import smallest_costs
from hardcost.analysis.verification.expectations import Savings
from hardcost.analysis.verification.groups import Group
from hardcost.analysis.verification.savings import PredictedSavings
from hardcost.analysis.verification.weighing import (
    FEWEST,
    Confirmed,
    GroupQuestion,
    WeighingTask,
    weigh,
)
from hardcost.controls.control import Profile
from hardcost.library.bills import prediction, verification
from hardcost.library.measurement import Measuring
from hardcost.measure.asking import answer_questions
from hardcost.measure.run import Run, environment_of
from hardcost.model.role import Without
from hardcost.model.workload import MetricId
from hardcost.plan.change import ChangeState, Lines, lines_plan
from hardcost.plan.plan import Plan
from hardcost.store.record import Record


@dataclass(frozen=True)
class LinesOfState:
    """A state of a change, with its profile and the indices of its own lines."""

    state: ChangeState
    profile: Profile
    own: Lines


@dataclass(frozen=True)
class MeasuredLines:
    """The records of states without lines, and the savings of lines that groups confirmed."""

    records: tuple[Record, ...]
    confirmed: ConfirmedLines


def measure_lines(
    plan: Plan, states: Sequence[LinesOfState], run: Run, first: Sequence[Record], how: Measuring
) -> MeasuredLines:
    """Measure what leaving out each line saves, beside the `first` records of whole states.

    Raises:
        HardcostError: A trial failed.
    """
    weighed = [one for one in states if _is_weighed(one, how)]
    trials = tuple(
        trial
        for one in states
        if not _is_weighed(one, how)
        for trial in lines_plan(plan, one.profile, one.state, [(at,) for at in one.own]).trials
    )
    records: tuple[Record, ...] = ()
    if trials:
        records = tuple(run.measure_plan(replace(plan, trials=trials)).records)
    confirmed: dict[Without, Mapping[MetricId, Confirmed]] = {}
    if weighed:
        constants, _ = prediction.constants_for(run.machine, how, environment_of(first))
    for one in weighed:
        state = _StateWeighing(plan, one, run, first)
        confirmed |= state.weigh(constants)
        records += tuple(state.records)
    return MeasuredLines(records, confirmed)


def _is_weighed(one: LinesOfState, how: Measuring) -> bool:
    return len(one.own) >= FEWEST and not any(verification.hindrances(one.profile, how))


class _StateWeighing:
    """The weighing of a state's lines, and its records so far."""

    def __init__(self, plan: Plan, of: LinesOfState, run: Run, first: Sequence[Record]) -> None:
        self._plan, self._of, self._run = plan, of, run
        self._whole = [one for one in first if one.role == of.state]
        self._least = smallest_costs(by_metric(first))
        self.records: list[Record] = []

    def weigh(self, constants: Constants | None) -> ConfirmedLines:
        """Have groups of lines left out until each is confirmed or measured."""
        profile, own = self._of.profile, self._of.own
        model = verification.predicted_savings(profile, constants)
        result = answer_questions(
            weigh(
                WeighingTask(
                    controls=own,
                    suspects=_suspects(profile, model) & frozenset(own),
                    booting=frozenset(at for at in own if profile.controls[at].boots),
                    predicted=model or verification.nothing,
                    least=self._least,
                    seed=self._plan.study,
                    alone=False,
                )
            ),
            self._measure,
        )
        return {Without((at,), self._of.state): costs for at, costs in result.confirmed.items()}

    def _measure(self, question: GroupQuestion) -> tuple[Savings, ...]:
        self._run.monitor.note(question.why)
        state, groups = self._of.state, [tuple(sorted(group)) for group in question.left_out]
        plan = lines_plan(self._plan, self._of.profile, state, groups)
        records = self._run.measure_plan(plan).records
        self.records += records
        roles = [Without(group, state) for group in groups]
        return verification.savings_without(roles, state, (*self._whole, *records))


def _suspects(profile: Profile, model: PredictedSavings | None) -> Group:
    """Return the controls that are left out by themselves: what fires, or no model predicts."""
    known = set[int]() if model is None else model.controls
    firing = set[int]() if model is None else {one for _, one in model.firing}
    found = verification.measured_anyway(profile) | verification.without_model(profile, known)
    return frozenset(found | firing)
