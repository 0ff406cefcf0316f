"""A bill verified in groups: has groups left out, until each control is confirmed or measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditrules.cost.constants import Constants
from auditrules.kernel.field_tests import UnresolvedError
from auditrules.model.kernel_lists import DuplicateError
from auditrules.model.kernel_rule import KernelRule
from hardcost.analysis.bill.itemise import Confirmations, fired_counts
from hardcost.analysis.estimates.estimates import by_metric, shift
from hardcost.analysis.estimates.resolution import smallest_distinguishable
from hardcost.analysis.verification.groups import (
    Group,
    Predictions,
    escaping_share,
    separating_groups,
)
from hardcost.analysis.verification.savings import PredictedSavings
from hardcost.analysis.verification.weighing import (
    FEWEST,
    GroupQuestion,
    Savings,
    WeighingTask,
    weigh,
)
from hardcost.controls.control import Profile, requirements_of
from hardcost.library.bills.prediction import load_as_measured, numbered_rules
from hardcost.measure.asking import answer_questions
from hardcost.measure.run import Run
from hardcost.mechanisms.audit import AuditRule
from hardcost.model.finding.bill import Verification
from hardcost.model.role import Alone, Baseline, Role, Whole, Without
from hardcost.model.workload import Workload
from hardcost.plan import leave_one_out
from hardcost.plan.first_rule import indices_paid_for
from hardcost.plan.plan import Plan
from hardcost.store.record import Record
from hardcost.units import count
from hardcost.workloads import syscalls

_BY_ITSELF = (Without, Alone)

_NO_MODEL = "the assumption that each costs 0"


@dataclass(frozen=True)
class VerifiedBill:
    """The records of a verified bill, the costs that groups confirmed, and how."""

    records: tuple[Record, ...]
    confirmed: Confirmations
    verification: Verification | None


def is_verifiable(profile: Profile, workloads: Sequence[Workload]) -> bool:
    """Say whether a bill can be verified: there is a prediction for what is measured."""
    builds = any(one.builds for one in profile.controls)
    return not builds and [one.name for one in workloads] == [syscalls.NAME]


def is_worth_verifying(profile: Profile) -> bool:
    """Say whether a profile has enough controls for groups of them."""
    return sum(not one.in_baseline for one in profile.controls) >= FEWEST


def first_trials(plan: Plan) -> Plan:
    """Return the trials of a bill's plan that come first: all that leave no control out."""
    trials = (one for one in plan.trials if not isinstance(one.configuration.role, _BY_ITSELF))
    return replace(plan, trials=tuple(trials))


def verify_in_groups(
    profile: Profile,
    plan: Plan,
    run: Run,
    first: Sequence[Record],
    constants: Constants | None,
) -> VerifiedBill:
    """Have groups of a profile's controls left out until each is confirmed or measured.

    `plan` is that of single trials, `first` are the records of its `first_trials`.

    Raises:
        HardcostError: A trial failed.
    """
    asked = _Weighing(profile, plan, run, first, constants)
    if not asked.task.least:
        return VerifiedBill(tuple(first), {}, None)
    weighed = answer_questions(weigh(asked.task), asked.measure)
    verification = Verification(
        groups=len(weighed.groups),
        wrong=tuple(profile.controls[one].name for one in weighed.wrong),
        prior=asked.prior,
        escaping=escaping_share(len(weighed.groups)),
    )
    return VerifiedBill(
        tuple(asked.records), weighed.confirmed, verification if weighed.confirmed else None
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
        predicted = _predicted_savings(profile, constants)
        known = set() if predicted is None else predicted.controls
        self.prior = _NO_MODEL if constants is None or not known else _model_words(constants)
        self.task = WeighingTask(
            controls=tuple(
                at for at, control in enumerate(profile.controls) if not control.in_baseline
            ),
            suspects=_suspects(profile, known, first),
            booting=frozenset(at for at, control in enumerate(profile.controls) if control.boots),
            predicted=predicted or _nothing,
            least={
                metric: smallest_distinguishable(metric, series).cost
                for metric, series in by_metric(first).items()
            },
            seed=plan.study,
        )

    def measure(self, question: GroupQuestion) -> tuple[Savings, ...]:
        """Measure groups that are left out, and controls alone; return what the groups save."""
        self._run.monitor.note(question.why)
        groups = [tuple(sorted(group)) for group in question.left_out]
        wanted: list[Role] = [Alone(one) for one in question.alone]
        plans = [leave_one_out.kept_plan(self._plan, group) for group in groups]
        plans.append(leave_one_out.trials_of_roles(self._plan, wanted))
        trials = tuple(trial for plan in plans for trial in plan.trials)
        records = self._run.measure_plan(replace(self._plan, trials=trials)).records
        self.records += records
        series = by_metric((*self._ends, *records))
        return tuple(
            {
                metric: shift(known[Whole()], known[Without(group)])
                for metric, known in series.items()
            }
            for group in groups
        )


def _suspects(profile: Profile, predicted: set[int], first: Sequence[Record]) -> frozenset[int]:
    """Return the controls that are measured by themselves from the start.

    They fired, no model predicts them, they bear a price for all rules, or another control goes
    with them.
    """
    controls = profile.controls
    payers = indices_paid_for(controls)
    found = {index for (_, index), times in (fired_counts(first) or {}).items() if times}
    found |= {at for at, one in enumerate(controls) if one.whole_system or one.requires}
    found |= {controls.index(need) for one in controls for need in requirements_of(one, controls)}
    found |= {
        at for at, one in enumerate(controls) if isinstance(one, AuditRule) and at not in predicted
    }
    found |= set(payers) if len(payers) == 1 else set()
    return frozenset(at for at in found if not controls[at].in_baseline)


def _predicted_savings(profile: Profile, constants: Constants | None) -> PredictedSavings | None:
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


def _nothing(_group: Group) -> Predictions:
    return {}


def trials_in_words(controls: int) -> str:
    """Return the trials that follow the first ones, before it is known what fires."""
    groups = 1 + len(separating_groups(range(controls), (), ""))
    return (
        f"then about {count(groups, 'trial')} that leave out groups of controls, and two for each"
        " control that fires or whose predicted cost is off"
    )
