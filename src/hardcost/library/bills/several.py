"""The bills of several profiles, measured in one run and shown side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hardcost.analysis.bill.budget import Budget
from hardcost.analysis.bill.itemise import BillRecords
from hardcost.controls.control import Profile
from hardcost.library.bills import budgets, single
from hardcost.library.bills.weights import Ranking
from hardcost.library.choices import Choices
from hardcost.library.measurement import Foreseen, Measuring, PlannedRun, finish_run
from hardcost.measure.monitor import Monitor
from hardcost.model.finding.bill import Bill, Bills
from hardcost.model.finding.cell import Cell
from hardcost.model.role import Named, OfProfile, Whole
from hardcost.model.workload import Workload
from hardcost.plan.plan import Plan
from hardcost.plan.several import common_controls, have_one_baseline, make_alike, plan_together
from hardcost.store.record import Record


@dataclass(frozen=True)
class SideBySideBills:
    """Bills of several profiles that are to be measured in one run."""

    profiles: Sequence[Profile]
    workloads: Sequence[Workload]
    how: Measuring
    budget: Budget | None
    ranking: Ranking
    monitor: Monitor

    def preview(self) -> Foreseen:
        """Return what would be measured."""
        _, whole, _ = self._plans()
        return PlannedRun.of(whole, self.how, self.monitor).preview()

    def bill(self) -> Bills:
        """Measure each control of each profile left out and alone, and save the bills.

        Raises:
            HardcostError: Something is wrong with the input, the machine, a trial or the store.
        """
        alike, whole, plans = self._plans()
        with PlannedRun.of(whole, self.how, self.monitor).begin_run() as run:
            measured = run.measure()
            bills = []
            for profile, plan in zip(alike, plans, strict=True):
                mine = BillRecords(_records_of_profile(profile, plan, measured.records))
                found = single.finding(profile, plan, run, mine, self.how, self.ranking)
                if self.budget is not None:
                    advice = budgets.advice(Choices(profile, plan, run, mine), self.budget)
                    found = dataclasses.replace(found, advice=advice)
                bills.append(found)
            together = _finding_of_bills(run.name, whole, self.profiles, plans, bills)
            return finish_run(run, together, measured, self.how)

    def _plans(self) -> tuple[Sequence[Profile], Plan, Sequence[Plan]]:
        """Return the profiles as they are compared, the plan of all, and the plan of each."""
        alike = make_alike(self.profiles)
        own = [single.plan_of(profile, self.workloads, self.how) for profile in alike]
        whole, plans = plan_together(alike, own, self.how.setup)
        return alike, whole, plans


def _finding_of_bills(
    run: str,
    whole: Plan,
    profiles: Sequence[Profile],
    plans: Sequence[Plan],
    bills: Sequence[Bill],
) -> Bills:
    """Return the finding that shows bills side by side."""
    shared = have_one_baseline(plans)
    return Bills(
        run=run,
        study=whole.study,
        title=whole.title,
        instrument=whole.instrument,
        cells=tuple(_cells(bills, shared=shared)),
        notes=tuple(dict.fromkeys(note for one in bills for note in one.notes)),
        common=common_controls(profiles),
        shared_baseline=shared,
        bills=tuple(bills),
    )


def _records_of_profile(
    profile: Profile, plan: Plan, records: Sequence[Record]
) -> tuple[Record, ...]:
    """Return a profile's records under the names of its own `plan`."""
    own = {OfProfile(profile.name, one.role): one.role for one in plan.configurations}
    return tuple(
        record.model_copy(update={"role": own[record.role]})
        for record in records
        if record.role in own
    )


def _cells(bills: Sequence[Bill], *, shared: bool) -> Iterable[Cell]:
    """Yield what was measured of each profile, under names that distinguish the profiles."""
    seen = set()
    for one in bills:
        name = one.profile
        for cell in one.cells:
            of = cell.configuration
            baseline = cell.baseline if shared else OfProfile(name, cell.baseline)
            if of == Whole():
                of = Named(name)
            elif not shared:
                of = OfProfile(name, of)
            if (of, cell.workload, cell.metric) not in seen:
                seen.add((of, cell.workload, cell.metric))
                yield dataclasses.replace(cell, configuration=of, baseline=baseline)
