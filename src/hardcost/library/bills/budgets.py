"""A budget: what to leave out so that metrics do not grow by more than they may."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hardcost.analysis.bill import itemise
from hardcost.analysis.bill.budget import Budget, excess, is_within_budget, propose
from hardcost.controls.control import Profile
from hardcost.measure.run import Run
from hardcost.model.finding.bill import Advice, Itemised, Total
from hardcost.model.role import Without
from hardcost.model.workload import Workload, metric_among
from hardcost.plan import leave_one_out
from hardcost.plan.plan import Plan
from hardcost.store.record import Record
from hardcost.workloads import syscalls


def check_metrics(
    wanted: Budget,
    workloads: Sequence[Workload],
    also: Sequence[str] = (),
    field: str = "budget",
) -> None:
    """Check the budget's metrics before anything is measured, where they are known by then.

    `also` are metrics that are worked out from others, `field` is the request's that has the
    budget.

    Raises:
        InputError: There is no metric of a name.
    """
    names = metrics(workloads)
    if names is not None:
        wanted.for_metrics([*also, *names], field)


def metrics(workloads: Sequence[Workload]) -> list[str] | None:
    """Return what will be measured; None where that is known only once it has run."""
    names: list[str] = []
    for workload in workloads:
        if workload.name != syscalls.NAME:
            return None
        calls = syscalls.chosen_calls(syscalls.KIND.read_parameters(dict(workload.parameters)))
        names += [str(metric_among(workloads, workload, call.name)) for call in calls]
    return names


def advice(
    profile: Profile, plan: Plan, run: Run, records: Sequence[Record], wanted: Budget
) -> Advice:
    """Propose what to leave out, have the run measure what remains, until the budget is kept.

    Raises:
        InputError: The budget names a metric that was not measured.
    """
    itemised = itemise.itemise(profile, records)
    totals = itemised.totals
    limit = wanted.for_metrics(str(total.metric) for total in totals)
    names = [control.name for control in profile.controls]
    everything = {item.control for item in itemised.items}
    dropped: tuple[str, ...] = ()

    def without(some: Sequence[str]) -> tuple[Total, ...]:
        """Measure what the profile costs without some controls."""
        indices = [index for index, name in enumerate(names) if name in some]
        more = run.measure_plan(leave_one_out.kept_plan(plan, indices)).records
        return itemise.totals((*records, *more), Without(tuple(indices)))

    while not is_within_budget(totals, limit) and len(dropped) < len(everything):
        dropped = propose(itemised, totals, dropped, limit)
        totals = without(dropped)
    for back in _useless_drops(itemised, dropped, limit):
        fewer = tuple(name for name in dropped if name not in back)
        known = without(fewer)
        if is_within_budget(known, limit):
            dropped, totals = fewer, known
            break
    cheapest, alone = _cheapest_control(itemised, dropped, limit)
    if len(dropped) == len(everything) and alone and is_within_budget(alone, limit):
        dropped, totals = tuple(name for name in dropped if name != cheapest), alone
    return Advice(
        budget=limit.others,
        leave_out=dropped,
        kept=len(everything) - len(dropped),
        totals=totals,
        within=is_within_budget(totals, limit),
        budgets=dict(limit.metrics),
        alone=() if is_within_budget(alone, limit) else alone,
    )


def _useless_drops(
    bill: Itemised, dropped: Sequence[str], limit: Budget
) -> Iterator[tuple[str, ...]]:
    """Yield the controls that were given up and save nothing: all, then those that are no rules.

    The latter do not pay the price of having any audit rule.
    """
    dear = {
        item.control
        for item in bill.items
        if item.low > 0 and math.isfinite(limit.of(str(item.metric)))
    }
    free = tuple(name for name in dropped if name not in dear)
    others = tuple(name for name in free if name not in bill.rules)
    yield from (some for some in dict.fromkeys((free, others)) if some)


def _cheapest_control(
    bill: Itemised, dropped: Sequence[str], limit: Budget
) -> tuple[str, tuple[Total, ...]]:
    """Return the cheapest control and its cost alone, where all were given up, or all rules."""
    every = {item.control for item in bill.items}
    none_of = every if every <= set(dropped) else set(bill.rules)
    if (
        not none_of
        or not dropped
        or not none_of <= set(dropped)
        or (none_of != every and len(none_of) == 1)
    ):
        return "", ()
    alone = {name: _totals_alone(bill, name) for name in sorted(none_of)}
    return min(alone.items(), key=lambda one: max(excess(it, limit) for it in one[1]))


def _totals_alone(bill: Itemised, control: str) -> tuple[Total, ...]:
    """Return what each metric costs with one control alone."""
    totals = {total.metric: total for total in bill.totals}
    return tuple(
        replace(of, with_profile=of.baseline + one.alone, cost=one.alone)
        for one in bill.items
        if one.control == control and one.alone is not None
        for of in [totals[one.metric]]
    )
