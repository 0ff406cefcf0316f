"""The bills of several profiles, measured in one run and shown side by side."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from hardcost.analysis.finding import Finding, SideBySide
from hardcost.cli import billsingle, budgets, measuring
from hardcost.design import leave_one_out
from hardcost.design import several as design

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.analysis.budget import Budget
    from hardcost.analysis.finding import Cell
    from hardcost.cli.options import Choices
    from hardcost.cli.weights import Wanted
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan, Workload
    from hardcost.store.record import Record


def bill(
    profiles: Sequence[Profile],
    workloads: Sequence[Workload],
    chosen: Choices,
    limit: Budget | None,
    weighed: Wanted,
) -> None:
    """Measure each control of each profile left out and alone; print, save and report the bills.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
        Exit: A profile is over its budget.
    """
    alike = design.alike(profiles)
    own = [billsingle.plan_of(profile, workloads, chosen) for profile in alike]
    whole, plans = design.together(alike, own, chosen.setup)
    with measuring.run_of(whole, chosen) as run:
        if run is None:
            return
        records = run.measure().records
        bills = []
        for profile, plan in zip(alike, plans, strict=True):
            mine = _own(profile, plan, records)
            found = billsingle.finding(profile, plan, run, mine, chosen, weighed)
            if limit is not None:
                advice = budgets.advice(profile, plan, run, mine, limit)
                found = dataclasses.replace(found, advice=advice)
            bills.append(found)
        together = _together(run.name, whole, profiles, plans, bills)
        together = measuring.finished(run, together)
    measuring.shown(together, chosen)
    advised = [one.advice for one in bills if one.advice is not None]
    if any(advice.leave_out for advice in advised):
        raise click.exceptions.Exit(1)


def _together(
    run: str,
    whole: Plan,
    profiles: Sequence[Profile],
    plans: Sequence[Plan],
    bills: Sequence[Finding],
) -> Finding:
    """Return the finding that shows bills side by side."""
    shared = design.have_one_baseline(plans)
    return Finding(
        run=run,
        study=whole.study,
        title=whole.title,
        instrument=whole.instrument,
        cells=tuple(_cells(bills, shared=shared)),
        notes=tuple(dict.fromkeys(note for one in bills for note in one.notes)),
        together=SideBySide(tuple(bills), design.common(profiles), shared),
    )


def _own(profile: Profile, plan: Plan, records: Sequence[Record]) -> tuple[Record, ...]:
    """Return a profile's records under the names of its own `plan`."""
    own = {design.name_in_all(profile, one.name): one.name for one in plan.configurations}
    return tuple(
        record.model_copy(update={"configuration": own[record.configuration]})
        for record in records
        if record.configuration in own
    )


def _cells(bills: Sequence[Finding], *, shared: bool) -> Iterable[Cell]:
    """Yield what was measured of each profile, under names that tell the profiles apart."""
    seen = set()
    for one in bills:
        name = one.bill.profile if one.bill is not None else one.study
        for cell in one.cells:
            of = cell.configuration
            baseline = cell.baseline if shared else f"{name}: {cell.baseline}"
            if of == leave_one_out.PROFILE:
                of = name
            elif not shared:
                of = f"{name}: {of}"
            if (of, cell.workload, cell.metric) not in seen:
                seen.add((of, cell.workload, cell.metric))
                yield dataclasses.replace(cell, configuration=of, baseline=baseline)
