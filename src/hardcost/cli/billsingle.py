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
from hardcost.cli import budgets, expected, measuring
from hardcost.cli.present import notes_of
from hardcost.controls.control import AuditRule
from hardcost.design import leave_one_out, placebos
from hardcost.design.compared import compared_with
from hardcost.instruments.insn import INSN
from hardcost.profiles.pieces import pieces
from hardcost.run.session import environment_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.budget import Budget
    from hardcost.cli.options import Choices
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan, Workload
    from hardcost.run.session import Run
    from hardcost.store.record import Record

_SHOWN = (leave_one_out.BASELINE, leave_one_out.PROFILE, leave_one_out.AUDIT_OFF)


def bill(
    profile: Profile, workloads: Sequence[Workload], chosen: Choices, limit: Budget | None
) -> None:
    """Measure each control left out and alone; print, save and report the bill.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
        Exit: The profile is over its budget.
    """
    plan = plan_of(profile, workloads, chosen).set_up(chosen.setup)
    with measuring.run_of(plan, chosen) as run:
        if run is None:
            return
        records = run.measure().records
        found = finding(profile, plan, run, records, chosen)
        if limit is not None:
            advice = budgets.advice(profile, plan, run, records, limit)
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
    bill = replace(bill, compared_with=compared_with(profile), pieces=pieces(profile))
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
        notes=(baseline_note(profile), *plan.notes, *notes_of(whole), *notes),
        bill=bill,
    )


def plan_of(profile: Profile, workloads: Sequence[Workload], chosen: Choices) -> Plan:
    """Return the trials of a profile's bill, as the user wants them measured."""
    return leave_one_out.bill_plan(
        profile,
        workloads,
        instrument=chosen.instrument or INSN.name,
        seeds=chosen.seeds,
        repetitions=chosen.repetitions,
        placebos=placebos.affordable(profile.controls, workloads),
    )


def baseline_note(profile: Profile) -> str:
    """Return the note that says what a profile's bill is compared with."""
    return f"compared with: {compared_with(profile)} (the configuration `baseline`)"
