"""A bill whose controls are each measured, as a finding."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hardcost.analysis import itemise
from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.analysis.predicted import annotated
from hardcost.cli import budgets, expected
from hardcost.cli.finding import notes_of
from hardcost.design import leave_one_out
from hardcost.design.compared import compared_with
from hardcost.instruments.insn import INSN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.budget import Budget
    from hardcost.analysis.finding import Bill
    from hardcost.cli.session import Measure
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan
    from hardcost.store.record import Record

_SHOWN = (leave_one_out.BASELINE, leave_one_out.PROFILE, leave_one_out.AUDIT_OFF)


def finding(  # noqa: PLR0913, PLR0917  (a finding is made of just these)
    profile: Profile,
    plan: Plan,
    run: str,
    records: Sequence[Record],
    measure: Measure,
    limit: Budget | None,
) -> Finding:
    """Return the bill of `records`; with a budget, with what to leave out, which is measured."""
    shown = [cell for cell in cells(plan, records) if cell.configuration in _SHOWN]
    whole = [record for record in records if record.configuration == leave_one_out.PROFILE]
    return Finding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=tuple(shown),
        notes=(baseline_note(profile), *plan.notes, *notes_of(whole)),
        bill=_bill(profile, plan, records),
        advice=(None if limit is None else budgets.advice(profile, plan, records, measure, limit)),
    )


def baseline_note(profile: Profile) -> str:
    """Return the note that says what a profile's bill is compared with."""
    return f"compared with: {compared_with(profile)} (the configuration `baseline`)"


def _bill(profile: Profile, plan: Plan, records: Sequence[Record]) -> Bill:
    """Return the bill; where instructions were counted, with what was predicted beside it."""
    measured = itemise.itemise(profile, records)
    measured = dataclasses.replace(measured, compared_with=compared_with(profile))
    if plan.instrument != INSN.name:
        return measured
    return annotated(measured, expected.of_profile(profile))
