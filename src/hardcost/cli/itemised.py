"""A bill whose controls are each measured, as a finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.analysis import itemise
from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.analysis.predicted import annotated
from hardcost.analysis.resolved import resolved
from hardcost.cli import budgets, expected
from hardcost.cli.finding import notes_of
from hardcost.cli.session import environment_of
from hardcost.controls.control import AuditRule
from hardcost.design import leave_one_out, placebos
from hardcost.design.compared import compared_with
from hardcost.instruments.insn import INSN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.budget import Budget
    from hardcost.cli.options import Choices
    from hardcost.cli.session import Measure
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan, Workload
    from hardcost.store.record import Record

_SHOWN = (leave_one_out.BASELINE, leave_one_out.PROFILE, leave_one_out.AUDIT_OFF)


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


def finding(  # noqa: PLR0913, PLR0917  (a finding is made of just these)
    profile: Profile,
    plan: Plan,
    run: str,
    records: Sequence[Record],
    measure: Measure,
    limit: Budget | None,
    chosen: Choices,
) -> Finding:
    """Return the bill of `records`; with a budget, with what to leave out, which is measured.

    Where instructions were counted of audit rules, what was predicted stands beside the cost.
    """
    shown = [cell for cell in cells(plan, records) if cell.configuration in _SHOWN]
    whole = [record for record in records if record.configuration == leave_one_out.PROFILE]
    bill = resolved(itemise.itemise(profile, records), records)
    bill = replace(bill, compared_with=compared_with(profile))
    notes: tuple[str, ...] = ()
    if plan.instrument == INSN.name and any(isinstance(c, AuditRule) for c in profile.controls):
        constants, notes = expected.constants_for(chosen, environment_of(whole))
        bill = annotated(bill, expected.of_profile(profile, constants))
    return Finding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=tuple(shown),
        notes=(baseline_note(profile), *plan.notes, *notes_of(whole), *notes),
        bill=bill,
        advice=(None if limit is None else budgets.advice(profile, plan, records, measure, limit)),
    )


def baseline_note(profile: Profile) -> str:
    """Return the note that says what a profile's bill is compared with."""
    return f"compared with: {compared_with(profile)} (the configuration `baseline`)"
