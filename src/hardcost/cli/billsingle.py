"""A bill by single trials: each control of a profile left out, and alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from hardcost.analysis import itemise
from hardcost.analysis.accounting import with_accounting
from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.analysis.predicted import annotated
from hardcost.analysis.resolved import resolved
from hardcost.cli import budgets, expected, measuring, precisely
from hardcost.cli.present import notes_of
from hardcost.controls.control import AuditRule
from hardcost.design import leave_one_out, placebos
from hardcost.design.compared import compared_with
from hardcost.design.factorial import BLOCK_ROUNDS
from hardcost.instruments.insn import INSN
from hardcost.profiles.pieces import pieces
from hardcost.run.session import environment_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.budget import Budget
    from hardcost.cli.options import Choices
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan, Workload
    from hardcost.run.precise import Aim
    from hardcost.run.session import Run
    from hardcost.store.record import Record

_FIRST_ROUNDS = 2 * BLOCK_ROUNDS  # of a bill with --precision, whose rounds may take long
_BY_STATE = "disabled by its state (auditctl -e 0)"
_SHOWN = (leave_one_out.BASELINE, leave_one_out.PROFILE, leave_one_out.AUDIT_OFF)


def bill(
    profile: Profile,
    workloads: Sequence[Workload],
    chosen: Choices,
    limit: Budget | None,
    aim: Aim | None = None,
) -> None:
    """Measure each control left out and alone; print, save and report the bill.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
        Exit: The profile is over its budget.
    """
    precisely.check_inexact(aim, chosen.measured_by)
    if aim is not None:
        chosen = replace(chosen, repetitions=max(chosen.repetitions or 0, _FIRST_ROUNDS))

    def rounds(number: int | None) -> Plan:
        return plan_of(profile, workloads, replace(chosen, repetitions=number)).set_up(chosen.setup)

    plan = rounds(chosen.repetitions)
    with measuring.run_of(plan, chosen) as run:
        if run is None:
            return
        done = precisely.measured(plan, run, aim, rounds, run.measure())
        found = finding(profile, done.plan, run, done.records, chosen)
        found = replace(found, notes=(*found.notes, *done.notes))
        if limit is not None:
            advice = budgets.advice(profile, done.plan, run, done.records, limit)
            found = replace(found, advice=advice)
        found = measuring.finished(run, found)
    measuring.shown(found, chosen)
    if found.advice is not None and found.advice.leave_out:
        raise click.exceptions.Exit(1)


def finding(
    profile: Profile, plan: Plan, run: Run, records: Sequence[Record], chosen: Choices
) -> Finding:
    """Return the bill of `records`.

    Where instructions were counted of audit rules, what was predicted stands beside the cost.
    """
    shown = [cell for cell in cells(plan, records) if cell.configuration in _SHOWN]
    whole = [record for record in records if record.configuration == leave_one_out.PROFILE]
    bill = resolved(itemise.itemise(profile, records), records)
    against = compared_with(profile, running=chosen.running)
    bill = replace(bill, compared_with=against, pieces=pieces(profile))
    if chosen.running:
        bill = replace(bill, audit_off=_BY_STATE)
    bill = with_accounting(bill, profile, plan.instrument)
    notes: tuple[str, ...] = ()
    if plan.instrument == INSN.name and any(isinstance(c, AuditRule) for c in profile.controls):
        constants, notes = expected.constants_for(run.machine, chosen, environment_of(whole))
        bill = annotated(bill, expected.of_profile(profile, constants))
    return Finding(
        run=run.name,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=tuple(shown),
        notes=(_baseline_note(against), *plan.notes, *notes_of(whole), *notes),
        bill=bill,
    )


def plan_of(profile: Profile, workloads: Sequence[Workload], chosen: Choices) -> Plan:
    """Return the trials of a profile's bill, as the user wants them measured."""
    return leave_one_out.bill_plan(
        profile,
        workloads,
        instrument=chosen.measured_by,
        seeds=chosen.seeds,
        repetitions=chosen.repetitions,
        placebos=placebos.affordable(profile.controls, workloads),
        running=chosen.running,
    )


def baseline_note(profile: Profile) -> str:
    """Return the note that says what a profile's bill is compared with."""
    return _baseline_note(compared_with(profile))


def _baseline_note(against: str) -> str:
    return f"compared with: {against} (the configuration `baseline`)"
