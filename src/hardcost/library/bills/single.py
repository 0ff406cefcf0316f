"""A bill by single trials: each control left out, and alone, or only what groups leave open."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hardcost.analysis.bill import itemise, time_and_count
from hardcost.analysis.bill.accounting import with_accounting
from hardcost.analysis.bill.budget import Budget
from hardcost.analysis.bill.itemise import BillRecords
from hardcost.analysis.bill.prediction import add_predictions
from hardcost.analysis.bill.significance import drop_indistinguishable
from hardcost.analysis.estimates.estimates import cells
from hardcost.analysis.estimates.resolution import allowing_for_chance
from hardcost.controls.control import Profile
from hardcost.errors import HardcostError
from hardcost.instruments.insn import INSN
from hardcost.library import precision
from hardcost.library.bills import budgets, prediction, verification
from hardcost.library.bills.defaults import with_defaults
from hardcost.library.bills.weights import Ranking
from hardcost.library.choices import Choices
from hardcost.library.measurement import Foreseen, Measuring, PlannedRun, finish_run, notes_of
from hardcost.measure.control_failures import Spared, measure_and_drop_failing
from hardcost.measure.monitor import Monitor
from hardcost.measure.precision import Aim, Settled
from hardcost.measure.run import Run, environment_of
from hardcost.mechanisms.audit import audit_rules
from hardcost.mechanisms.facts import overruled_controls
from hardcost.model.finding.bill import Advice, Bill
from hardcost.model.role import AuditOff, Baseline, Whole
from hardcost.model.workload import Workload
from hardcost.plan import leave_one_out, placebo
from hardcost.plan.baseline import baseline_in_words
from hardcost.plan.factorial import BLOCK_ROUNDS
from hardcost.plan.plan import Plan
from hardcost.profiles.toml_text import pieces

_FIRST_ROUNDS = 2 * BLOCK_ROUNDS  # of a bill with a precision, whose rounds may take long
_BY_STATE = "disabled by its state (auditctl -e 0)"
_SHOWN = frozenset({Baseline(), Whole(), AuditOff()})


@dataclass(frozen=True)
class BillQuestion:
    """What is asked of a bill: a budget, how precise times are, its order, whether to count.

    With `verified`, controls are left out in groups, and by themselves where that says too little.
    """

    budget: Budget | None = None
    precision: Aim | None = None
    ranking: Ranking | None = None
    count: bool = True
    verified: bool = False


@dataclass(frozen=True)
class Single:
    """A bill that is to be measured."""

    profile: Profile
    workloads: Sequence[Workload]
    how: Measuring
    asked: BillQuestion
    monitor: Monitor

    def preview(self) -> Foreseen:
        """Return what would be measured."""
        planned = self._plan_run()
        if self.asked.verified:
            planned = verification.with_what_follows(planned, self.profile)
        return planned.preview()

    def bill(self) -> Bill:
        """Measure each control left out and alone, and save the bill.

        Raises:
            HardcostError: Something is wrong with the input, the machine, a trial or the store.
        """
        planned, how, asked = self._plan_run(), self.how, self.asked
        # What the machine can't do is refused before instructions are counted.
        prepared = planned.prepare_trials()
        counted = self._count_instructions() if asked.count and how.running else _Counted()
        aim = asked.precision
        if aim is not None:
            aim = replace(aim, began=time.monotonic())
        with planned.begin_run(prepared) as run:
            spared = self._measure(planned.plan, run)
            profile = spared.profile
            done = precision.measure_to_aim(
                spared.plan, run, aim, lambda rounds: self._plan(profile, rounds), spared.measured
            )
            known = self._verify(profile, done, run)
            billed = finding(profile, done.plan, run, known, how, asked.ranking)
            whole = replace(
                time_and_count.add_counts(billed, counted.bill),
                unmeasured=spared.unmeasured,
                notes=(*billed.notes, *done.notes, *counted.notes),
                advice=self._advice(profile, done.plan, run, known),
            )
            return finish_run(run, whole, spared.measured, how)

    def _plan_run(self) -> PlannedRun:
        """Find the machine, and return what is to be measured there."""
        precision.check_inexact(self.asked.precision, self.how.measured_by)
        plan = self._plan(self.profile)
        return PlannedRun.of(self._part(plan), self.how, self.monitor)

    def _part(self, plan: Plan) -> Plan:
        """Return the trials with which the bill begins."""
        return verification.first_trials(plan) if self.asked.verified else plan

    def _measure(self, plan: Plan, run: Run) -> Spared:
        """Measure the bill; in guests, without the controls that they do not bear."""
        if self.how.running:  # nothing is tried out on a machine that is in use
            return Spared(self.profile, plan, run.measure())
        return measure_and_drop_failing(self.profile, self._plan, run, self._part)

    def _verify(self, profile: Profile, done: Settled, run: Run) -> BillRecords:
        """Have groups of controls left out, if that is how the bill is made."""
        if not self.asked.verified:
            return BillRecords(tuple(done.records))
        return verification.verify_in_groups(profile, done.plan, run, done.records, self.how)

    def _advice(self, profile: Profile, plan: Plan, run: Run, known: BillRecords) -> Advice | None:
        if self.asked.budget is None:
            return None
        return budgets.advice(Choices(profile, plan, run, known), self.asked.budget)

    def _plan(self, profile: Profile, repetitions: int | None = None) -> Plan:
        """Return the trials of a profile's bill, repeated so often or as the user wants."""
        number = repetitions or self.how.repetitions
        if self.asked.precision is not None and repetitions is None:
            number = max(number or 0, _FIRST_ROUNDS)
        how = replace(self.how, repetitions=number)
        return plan_of(profile, self.workloads, how).set_up(how.setup)

    def _count_instructions(self) -> _Counted:
        """Return the same bill in instructions, as a run of its own."""
        by = self.how.counting()
        self.monitor.note(
            f"counting instructions of the same controls on the machine {by.machine} …"
        )
        try:
            plan = plan_of(self.profile, self.workloads, by).set_up(by.setup)
            with PlannedRun.of(plan, by, self.monitor).begin_run() as run:
                measured = run.measure()
                known = BillRecords(tuple(measured.records))
                found = finding(self.profile, plan, run, known, by, self.asked.ranking)
                return _Counted(finish_run(run, found, measured, by))
        except HardcostError as error:
            said = f"instructions were not counted beside the times: {error}"
            self.monitor.note(said)
            return _Counted(notes=(said,))


@dataclass(frozen=True)
class _Counted:
    """A bill in instructions beside one of times, or a note why there is none."""

    bill: Bill | None = None
    notes: tuple[str, ...] = ()


def finding(  # noqa: PLR0913, PLR0917  (what a bill is made of)
    profile: Profile,
    plan: Plan,
    run: Run,
    known: BillRecords,
    how: Measuring,
    ranking: Ranking | None = None,
) -> Bill:
    """Return the bill of what was measured, and confirmed.

    Where instructions were counted of audit rules, what was predicted stands beside the cost.
    """
    records = known.records
    compared = [record for record in records if record.role in _SHOWN]
    shown = allowing_for_chance(cells(plan, compared), records)
    whole = [record for record in records if record.role == Whole()]
    resolved = drop_indistinguishable(itemise.itemise(profile, records, known.confirmed), records)
    against = baseline_in_words(profile, running=how.running)
    described = replace(
        resolved,
        compared_with=against,
        pieces=pieces(profile),
        audit_off=_BY_STATE if how.running else resolved.audit_off,
        verification=known.verification,
    )
    accounted = with_accounting(described, profile, plan.instrument)
    itemised = with_defaults(accounted, profile.controls)
    notes: tuple[str, ...] = ()
    if plan.instrument == INSN.name and audit_rules(profile.controls):
        constants, notes = prediction.constants_for(run.machine, how, environment_of(whole))
        itemised = add_predictions(itemised, prediction.of_profile(profile, constants))
    return Bill.of(
        itemised if ranking is None else ranking.on(itemised),
        run=run.name,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=shown,
        notes=(
            _baseline_note(against),
            *plan.notes,
            *(why for _, why in overruled_controls(profile.controls)),
            *notes_of(whole),
            *notes,
        ),
    )


def plan_of(profile: Profile, workloads: Sequence[Workload], how: Measuring) -> Plan:
    """Return the trials of a profile's bill, as the user wants them measured."""
    return leave_one_out.bill_plan(
        profile,
        workloads,
        instrument=how.measured_by,
        seeds=how.seeds,
        repetitions=how.repetitions,
        placebos=placebo.affordable_placebos(profile.controls, workloads),
        running=how.running,
    )


def baseline_note(profile: Profile) -> str:
    """Return the note that says what a profile's bill is compared with."""
    return _baseline_note(baseline_in_words(profile))


def _baseline_note(against: str) -> str:
    return f"compared with: {against} (the configuration `baseline`)"
