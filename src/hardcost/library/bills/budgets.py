"""A budget: what to leave out so that metrics do not grow by more than they may."""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.analysis.bill.budget import Budget, is_within_budget
from hardcost.analysis.choice.budgeted_metrics import BudgetedMetrics
from hardcost.library.choices import Choices
from hardcost.library.least_budget import LeastBudget
from hardcost.model.finding.bill import Advice
from hardcost.model.workload import Workload, metric_among
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


def advice(choices: Choices, wanted: Budget) -> Advice:
    """Propose what to leave out, of controls worth the same each, so that the budget is kept.

    Raises:
        InputError: The budget names a metric that was not measured.
    """
    totals = {one.metric: one for one in choices.totals(choices.every)}
    limit = wanted.for_metrics(map(str, totals))
    metrics = BudgetedMetrics.of(totals, limit)
    problem = choices.tradeoff(metrics, metrics.limits(limit), [1.0] * len(choices.controls))
    result = choices.search(problem)
    kept = frozenset[int]() if result.best is None else result.best.kept
    cheapest = LeastBudget(choices, problem, metrics, limit).cheapest(result.points, kept)
    left = choices.totals(kept)
    return Advice(
        budget=limit.others,
        leave_out=tuple(choices.controls[one].name for one in sorted(choices.every - kept)),
        kept=len(kept),
        totals=left,
        within=is_within_budget(left, limit),
        budgets=dict(limit.metrics),
        alone=() if cheapest is None else choices.totals(cheapest.point.kept),
    )
