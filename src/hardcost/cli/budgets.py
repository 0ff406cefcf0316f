"""`--budget`: what to leave out so that metrics do not grow by more than they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.analysis import budget as budget_of
from hardcost.analysis import itemise
from hardcost.analysis.finding import Advice, Total
from hardcost.design import leave_one_out
from hardcost.workloads import syscalls
from hardcost.workloads.names import asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.budget import Budget
    from hardcost.analysis.finding import Bill
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan, Workload
    from hardcost.run.session import Run
    from hardcost.store.record import Record


def check_metrics(wanted: Budget, workloads: Sequence[Workload], also: Sequence[str] = ()) -> None:
    """Check the budget's metrics before anything is measured, where they are known by then.

    `also` are metrics that come of others.

    Raises:
        InputError: There is no metric of a name.
    """
    names: list[str] = list(also)
    for workload in workloads:
        if workload.name != syscalls.NAME:
            return  # what the others yield is known once they have run
        calls = syscalls.chosen(asked(syscalls, dict(workload.parameters)))
        prefix = f"{workload} " if len(workloads) > 1 else ""
        names += [f"{prefix}{call.name}" for call in calls]
    wanted.for_metrics(names)


def advice(
    profile: Profile, plan: Plan, run: Run, records: Sequence[Record], wanted: Budget
) -> Advice:
    """Propose what to leave out, have the run measure what remains, until the budget is kept.

    Raises:
        InputError: The budget names a metric that was not measured.
    """
    itemised = itemise.itemise(profile, records)
    totals = itemised.totals
    limit = wanted.for_metrics(total.metric for total in totals)
    names = [control.name for control in profile.controls]
    everything = {item.control for item in itemised.items}
    dropped: tuple[str, ...] = ()
    while not budget_of.within(totals, limit) and len(dropped) < len(everything):
        dropped = budget_of.propose(itemised, totals, dropped, limit)
        indices = [index for index, name in enumerate(names) if name in dropped]
        more = run.measure_more(leave_one_out.kept_plan(plan, profile, indices))
        totals = itemise.totals((*records, *more), leave_one_out.without_all(indices))
    kept = len(everything) - len(dropped)
    return Advice(
        budget=limit.others,
        leave_out=dropped,
        kept=kept,
        totals=totals,
        within=budget_of.within(totals, limit),
        budgets=dict(limit.metrics),
        alone=() if kept or not dropped else _alone(itemised, dropped[-1]),
    )


def _alone(bill: Bill, control: str) -> tuple[Total, ...]:
    """Return what each metric costs with one control alone."""
    baselines = {total.metric: total.baseline for total in bill.totals}
    return tuple(
        Total(one.metric, one.unit, base, base + one.alone, one.alone)
        for one in bill.items
        if one.control == control
        for base in [baselines[one.metric]]
    )
