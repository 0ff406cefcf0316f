"""The lines of a change, measured: each left out by itself, or in groups that confirm predictions.

A state is weighed as a bill is (`library/bills/verification.py`), but only the lines of the change
are left out: all that both states have stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auditrules.cost.constants import Constants
from hardcost.analysis.change.measurement import ConfirmedLines
from hardcost.analysis.estimates.estimates import by_metric, shift
from hardcost.analysis.estimates.resolution import smallest_distinguishable
from hardcost.analysis.verification.groups import Group, Predictions
from hardcost.analysis.verification.savings import PredictedSavings
from hardcost.analysis.verification.weighing import (
    FEWEST,
    GroupQuestion,
    Savings,
    WeighingTask,
    weigh,
)
from hardcost.controls.control import Profile
from hardcost.library.bills import prediction, verification
from hardcost.library.measurement import Measuring
from hardcost.measure.asking import answer_questions
from hardcost.measure.run import Run, environment_of
from hardcost.model.role import Without
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
    plan: Plan, states: Iterable[LinesOfState], run: Run, first: Sequence[Record], how: Measuring
) -> MeasuredLines:
    """Measure what leaving out each line saves, beside the `first` records of whole states.

    Raises:
        HardcostError: A trial failed.
    """
    found = MeasuredLines((), {})
    constants, _ = prediction.constants_for(run.machine, how, environment_of(first))
    for one in states:
        weighed = _Weighed(plan, one, run, first)
        in_groups = len(one.own) >= FEWEST and not any(verification.hindrances(one.profile, how))
        if in_groups:
            weighed.weigh(constants)
        else:
            weighed.measure_groups([(at,) for at in one.own])
        found = MeasuredLines(
            (*found.records, *weighed.records), {**found.confirmed, **weighed.confirmed}
        )
    return found


class _Weighed:
    """A state whose lines are weighed: its records and confirmed lines so far."""

    def __init__(self, plan: Plan, of: LinesOfState, run: Run, first: Sequence[Record]) -> None:
        self._plan, self._of, self._run = plan, of, run
        self._whole = [one for one in first if one.role == of.state]
        self._least: Predictions = {
            metric: smallest_distinguishable(metric, series).cost
            for metric, series in by_metric(first).items()
        }
        self.records: tuple[Record, ...] = ()
        self.confirmed: ConfirmedLines = {}

    def weigh(self, constants: Constants | None) -> None:
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
        self.confirmed = {
            Without((at,), self._of.state): costs for at, costs in result.confirmed.items()
        }

    def measure_groups(self, groups: Iterable[Lines]) -> Sequence[Record]:
        """Measure the state without each group."""
        plan = lines_plan(self._plan, self._of.profile, self._of.state, groups)
        if not plan.trials:
            return ()
        found = self._run.measure_plan(plan).records
        self.records += tuple(found)
        return found

    def _measure(self, question: GroupQuestion) -> tuple[Savings, ...]:
        self._run.monitor.note(question.why)
        groups = [tuple(sorted(group)) for group in question.left_out]
        series = by_metric((*self._whole, *self.measure_groups(groups)))
        state = self._of.state
        return tuple(
            {
                metric: shift(known[state], known[Without(group, state)])
                for metric, known in series.items()
            }
            for group in groups
        )


def _suspects(profile: Profile, model: PredictedSavings | None) -> Group:
    """Return the controls that are left out by themselves: what fires, or no model predicts."""
    known = set[int]() if model is None else model.controls
    firing = set[int]() if model is None else model.firing
    found = verification.measured_anyway(profile) | verification.without_model(profile, known)
    return frozenset(found | firing)
