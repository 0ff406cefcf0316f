"""The bills of several profiles, measured in one run and shown side by side."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from hardcost.analysis.finding import Finding, SideBySide
from hardcost.cli import itemised
from hardcost.cli.session import carry_out
from hardcost.design import leave_one_out
from hardcost.design import several as design

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.analysis.budget import Budget
    from hardcost.analysis.finding import Cell
    from hardcost.cli.options import Choices
    from hardcost.cli.session import Measure
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan, Workload
    from hardcost.store.record import Record


def bill(
    profiles: Sequence[Profile],
    workloads: Sequence[Workload],
    chosen: Choices,
    limit: Budget | None,
) -> None:
    """Measure each control of each profile left out and alone; print, save and report the bills.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
        Exit: A profile is over its budget.
    """
    alike = design.alike(profiles)
    own = [itemised.plan_of(profile, workloads, chosen) for profile in alike]
    whole, plans = design.together(alike, own, chosen.setup)
    shared = design.have_one_baseline(plans)

    def finding_of(run: str, records: Sequence[Record], measure: Measure) -> Finding:
        bills = tuple(
            itemised.finding(
                profile, plan, run, _own(profile, plan, records), measure, limit, chosen
            )
            for profile, plan in zip(alike, plans, strict=True)
        )
        return Finding(
            run=run,
            study=whole.study,
            title=whole.title,
            instrument=whole.instrument,
            cells=tuple(_cells(bills, shared=shared)),
            notes=tuple(dict.fromkeys(note for one in bills for note in one.notes)),
            together=SideBySide(bills, design.common(profiles), shared),
        )

    found = carry_out(whole, chosen, finding_of)
    if found is None or found.together is None:
        return
    advised = [one.advice for one in found.together.bills if one.advice is not None]
    if any(advice.leave_out for advice in advised):
        raise click.exceptions.Exit(1)


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
