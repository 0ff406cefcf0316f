"""A bill verified in groups: has groups left out, until each control is confirmed or measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from auditrules.cost.constants import Constants
from auditrules.kernel.field_tests import UnresolvedError
from auditrules.model.kernel_lists import DuplicateError
from auditrules.model.kernel_rule import KernelRule
from hardcost.analysis.bill.itemise import BillRecords, fired_counts
from hardcost.analysis.estimates.estimates import by_metric, shift
from hardcost.analysis.estimates.resolution import smallest_costs
from hardcost.analysis.verification.expectations import Savings
from hardcost.analysis.verification.groups import (
    Group,
    Predictions,
    escaping_share,
    separating_groups,
)
from hardcost.analysis.verification.savings import ExpectedSavings, PredictedSavings
from hardcost.analysis.verification.weighing import (
    FEWEST,
    GroupQuestion,
    WeighingTask,
    weigh,
)
from hardcost.controls.control import Profile, requirements_of
from hardcost.instruments.names import instrument_named
from hardcost.library.bills import prediction
from hardcost.library.bills.earlier import earlier_costs
from hardcost.library.bills.prediction import load_as_measured, numbered_rules
from hardcost.library.measurement import Measuring, PlannedRun
from hardcost.measure.asking import answer_questions
from hardcost.measure.run import Run, environment_of
from hardcost.mechanisms.audit import AuditRule
from hardcost.model.finding.bill import Verification
from hardcost.model.role import Alone, Baseline, Role, Whole, Without
from hardcost.model.workload import MetricId
from hardcost.plan import leave_one_out
from hardcost.plan.first_rule import indices_paid_for
from hardcost.plan.plan import Plan
from hardcost.store.record import Record
from hardcost.units import count
from hardcost.workloads import syscalls

_BY_ITSELF = (Without, Alone)

_PLAIN = "null"  # the call that does nothing

_NO_MODEL = "the assumption that each costs 0"


def hindrances(profile: Profile, how: Measuring) -> Iterator[str]:
    """Yield what can't be verified in groups about a bill."""
    if how.running or not instrument_named(how.measured_by).exact:
        yield "times, only for instructions counted in guests"
    builds = any(one.builds for one in profile.controls)
    if builds or [one.name for one in how.workloads_of_profile] != [syscalls.NAME]:
        yield "this profile under this workload: only what controls cost system calls is predicted"


def is_verified_unasked(profile: Profile, how: Measuring) -> bool:
    """Say whether a bill is verified in groups if the user wants no other method."""
    enough = sum(not one.in_baseline for one in profile.controls) >= FEWEST
    return enough and not any(hindrances(profile, how))


def first_trials(plan: Plan) -> Plan:
    """Return the trials of a bill's plan that come first: all that leave no control out."""
    trials = (one for one in plan.trials if not isinstance(one.configuration.role, _BY_ITSELF))
    return replace(plan, trials=tuple(trials))


def verify_in_groups(
    profile: Profile, plan: Plan, run: Run, first: Sequence[Record], how: Measuring
) -> BillRecords:
    """Have groups of a profile's controls left out until each is confirmed or measured.

    `plan` is that of single trials, `first` are the records of its `first_trials`.

    Raises:
        HardcostError: A trial failed.
    """
    constants, _ = prediction.constants_for(run.machine, how, environment_of(first))
    asked = _Weighing(profile, plan, run, first, constants)
    if not asked.task.least:
        return BillRecords(tuple(first))
    weighed = answer_questions(weigh(asked.task), asked.measure)
    verification = Verification(
        groups=len(weighed.groups),
        wrong=tuple(profile.controls[one].name for one in weighed.wrong),
        prior=asked.prior,
        earlier=tuple(
            profile.controls[one].name
            for one in sorted(weighed.confirmed)
            if one in asked.expected.corrections
        ),
        escaping=escaping_share(len(weighed.groups)),
    )
    return BillRecords(
        tuple(asked.records),
        weighed.confirmed,
        verification if weighed.confirmed else None,
        {one: asked.predict_alone(one) for one in weighed.confirmed},
    )


class _Weighing:
    """The task of weighing a profile, and the measurement of what is asked."""

    def __init__(
        self,
        profile: Profile,
        plan: Plan,
        run: Run,
        first: Sequence[Record],
        constants: Constants | None,
    ) -> None:
        self.records = list(first)
        self._plan, self._run = plan, run
        self._ends = [one for one in first if one.role in {Baseline(), Whole()}]
        self._model = model = predicted_savings(profile, constants)
        known = set() if model is None else model.controls
        self.prior = _NO_MODEL if constants is None or not known else _model_words(constants)
        least = smallest_costs(by_metric(first))
        fired = _fired(first, model)
        together = _together(fired)
        earlier = {
            at: costs
            for at, costs in _from_earlier(profile, run, first, least).items()
            if at not in together
        }
        self.expected = ExpectedSavings(model or nothing, earlier, least)
        unforeseen = {at for _, at in fired} | without_model(profile, known)
        suspects = measured_anyway(profile) | unforeseen - earlier.keys()
        self.task = WeighingTask(
            controls=tuple(
                at for at, control in enumerate(profile.controls) if not control.in_baseline
            ),
            suspects=frozenset(at for at in suspects if not profile.controls[at].in_baseline),
            booting=frozenset(at for at, control in enumerate(profile.controls) if control.boots),
            predicted=self.expected,
            least=least,
            seed=plan.study,
            plain=next((one for one in least if one.name == _PLAIN), None),
        )

    def predict_alone(self, control: int) -> Predictions:
        """Return the predicted cost of a control by itself, by metric."""
        costs = {} if self._model is None else self._model.alone(control)
        more = self.expected.corrections.get(control, {})
        return {one: costs.get(one, 0.0) + more.get(one, 0.0) for one in self.task.least}

    def measure(self, question: GroupQuestion) -> tuple[Savings, ...]:
        """Measure groups that are left out, and controls alone; return what the groups save."""
        self._run.monitor.note(question.why)
        roles = [self._role_without(group) for group in question.left_out]
        wanted: list[Role] = [Alone(one) for one in question.alone]
        plans = [
            leave_one_out.kept_plan(self._plan, role.controls)
            for role in roles
            if isinstance(role, Without)
        ]
        plans.append(leave_one_out.trials_of_roles(self._plan, wanted))
        trials = tuple(trial for plan in plans for trial in plan.trials)
        records = self._run.measure_plan(replace(self._plan, trials=trials)).records
        self.records += records
        return savings_without(roles, Whole(), (*self._ends, *records))

    def _role_without(self, group: Group) -> Baseline | Without:
        """Return the role of the profile without a group; without all, it is the baseline."""
        everything = len(group) > 1 and group == frozenset(self.task.controls)
        return Baseline() if everything else Without(tuple(sorted(group)))


def savings_without(
    roles: Sequence[Role], whole: Role, records: Sequence[Record]
) -> tuple[Savings, ...]:
    """Return what each role's configuration saves beside the whole, by metric."""
    series = by_metric(records)
    return tuple(
        {metric: shift(known[whole], known[role]) for metric, known in series.items()}
        for role in roles
    )


def measured_anyway(profile: Profile) -> set[int]:
    """Return the controls that no group says enough about.

    They are expected to cost something, bear a price for all rules, or another goes with them.
    """
    controls = profile.controls
    payers = indices_paid_for(controls)
    found = {at for at, one in enumerate(controls) if one.suspect or one.requires}
    found |= {controls.index(need) for one in controls for need in requirements_of(one, controls)}
    return found | (set(payers) if len(payers) == 1 else set())


def without_model(profile: Profile, predicted: set[int]) -> set[int]:
    """Return the audit rules that the cost model says nothing about."""
    return {
        at
        for at, one in enumerate(profile.controls)
        if isinstance(one, AuditRule) and at not in predicted
    }


def _fired(first: Sequence[Record], model: PredictedSavings | None) -> set[tuple[MetricId, int]]:
    """Return the metrics and controls that fired on them, whose cost no model knows well.

    Where a daemon takes the records, they are those that the model says fire.
    """
    counted = fired_counts(first)
    if counted is None:
        return set() if model is None else model.firing
    return {where for where, times in counted.items() if times}


def _together(fired: Collection[tuple[MetricId, int]]) -> set[int]:
    """Return the controls that fired where another did: one left out saves little of a record."""
    on = Counter(metric for metric, _ in fired)
    return {at for metric, at in fired if on[metric] > 1}


def _from_earlier(
    profile: Profile, run: Run, first: Sequence[Record], metrics: Collection[MetricId]
) -> dict[int, Predictions]:
    """Return what earlier bills say that a profile's controls cost."""
    known = earlier_costs(run, environment_of(first), metrics)
    return {at: known[one.name] for at, one in enumerate(profile.controls) if one.name in known}


def predicted_savings(profile: Profile, constants: Constants | None) -> PredictedSavings | None:
    """Return the cost model's predictions for a profile's rules; None if it makes none."""
    if constants is None:
        return None
    found = load_as_measured(numbered_rules(profile), constants)
    numbered: list[tuple[int, KernelRule]] = []
    for rule in found.rules:
        place = None if rule.source is None else rule.source.place
        if place is None or place.line is None:
            return None
        numbered.append((place.line - 1, rule))
    if not numbered or found.failing:
        return None
    try:
        return PredictedSavings(numbered, constants)
    except (DuplicateError, UnresolvedError):
        return None


def _model_words(constants: Constants) -> str:
    return (
        f"the cost model of audit rules (constants of kernel {constants.about['kernel']}), and 0"
        " for other controls"
    )


def nothing(_group: Group) -> Predictions:
    """Return that leaving out a group saves nothing, for want of a model."""
    return {}


def with_what_follows(planned: PlannedRun, profile: Profile) -> PlannedRun:
    """Return the first trials with a note of those that follow, before it is known what fires."""
    number = sum(not one.in_baseline for one in profile.controls)
    notes = (*planned.plan.notes, _trials_in_words(number))
    return replace(planned, plan=replace(planned.plan, notes=notes))


def _trials_in_words(controls: int) -> str:
    groups = 1 + len(separating_groups(range(controls), (), ""))
    return (
        f"then about {count(groups, 'trial')} that leave out groups of controls, and two for each"
        " control that fires or whose predicted cost is off"
    )
