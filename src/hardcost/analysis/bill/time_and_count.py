"""A bill's costs by the clock, each beside its exact count of instructions in the emulator.

Both are growth over the same baseline, so that their ratios compare. A control that the clock can't
distinguish from noise gets a part of the rest, by its count. Such an apportioned number was not
measured, and is never summed with those that were.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hardcost.model.finding.bill import Bill, Both, Differ, Item, Itemised, Total
from hardcost.model.workload import MetricId

FACTOR = 2.0
"""Two growths that differ by more than this factor disagree."""

MANY_RULES = 50
"""From about so many audit rules on, each further one took several times as long as the first ones
on the processors that were looked at."""


def both_costs(timed: Itemised, counted: Itemised) -> tuple[Both, ...]:
    """Return the whole profile's costs and each control's, on each metric that both bills have."""
    return (*whole_costs(timed, counted), *control_costs(timed, counted))


def add_counts(timed: Bill, counted: Bill | None) -> Bill:
    """Return a bill of times with both numbers of each cost, if they were counted, and where."""
    if counted is None:
        return timed
    where = {"machine": counted.machine, **counted.environment}
    return replace(timed, both=both_costs(timed, counted), counted_on=where)


def whole_costs(timed: Itemised, counted: Itemised) -> tuple[Both, ...]:
    """Return the whole profile's costs on each metric that both bills have."""
    known = {one.metric: one for one in counted.totals}
    found = []
    for total in timed.totals:
        exact = known.get(total.metric)
        if exact is None or not _compares(total, exact):
            continue
        low = total.cost if total.low is None else total.low
        high = total.cost if total.high is None else total.high
        recorded = any(item.fired for item in _items(counted, total.metric).values())
        differ = disagreement(
            exact.cost / exact.baseline, low, high, total, measured=total.distinguishable
        )
        found.append(
            Both(
                control=None,
                metric=total.metric,
                insn=exact.cost,
                insn_ratio=1 + exact.cost / exact.baseline,
                ns=total.cost,
                ns_low=low,
                ns_high=high,
                ns_ratio=1 + total.cost / total.baseline,
                measured=total.distinguishable,
                differ=differ,
                why=_why(differ, recorded=recorded, rules=_rules(counted)),
            )
        )
    return tuple(found)


def control_costs(timed: Itemised, counted: Itemised) -> tuple[Both, ...]:
    """Return each control's costs on each metric that both bills have, in the profile's order."""
    exact = {one.metric: one for one in counted.totals}
    found: list[Both] = []
    for total in timed.totals:
        whole = exact.get(total.metric)
        if whole is not None and _compares(total, whole):
            found += _of_metric(timed, counted, total, whole)
    return tuple(found)


def disagreement(
    counted: float, low: float, high: float, total: Total, *, measured: bool
) -> Differ:
    """Return how a time's interval [low, high], of `total`'s metric, disagrees with a count.

    `counted` is the growth of instructions. They agree or disagree only where the whole interval
    does; or where neither is distinguishable from 0.
    """
    sign = -1.0 if counted < 0 else 1.0
    ends = sorted(sign * one / total.baseline for one in (low, high))
    growth = abs(counted)
    if measured and growth and ends[1] < 0:
        return "direction"
    if measured and ends[0] > FACTOR * growth:
        return "more"
    if growth and max(map(abs, ends)) < growth / FACTOR:
        return "less"
    if not growth:
        return "" if not measured else "unknown"
    agrees = ends[0] >= growth / FACTOR and ends[1] <= growth * FACTOR
    return "" if agrees else "unknown"


def _of_metric(timed: Itemised, counted: Itemised, total: Total, whole: Total) -> Iterator[Both]:
    items, exact = _items(timed, total.metric), _items(counted, total.metric)
    resolved = {one.control for one in timed.items if one.metric == total.metric}
    certain = {one.control for one in counted.items if one.metric == total.metric}
    costs = {name: one.cost if name in certain else 0.0 for name, one in exact.items()}
    parts = _apportion_rest(timed, total, {k: v for k, v in costs.items() if k not in resolved})
    rules = _rules(counted)
    for name in timed.controls:
        if name not in items or name not in costs:
            continue
        item, insn = items[name], costs[name]
        measured = name in resolved
        differ = disagreement(insn / whole.baseline, item.low, item.high, total, measured=measured)
        yield Both(
            control=name,
            metric=total.metric,
            insn=insn,
            insn_ratio=1 + insn / whole.baseline,
            ns=item.cost,
            ns_low=item.low,
            ns_high=item.high,
            ns_ratio=1 + item.cost / total.baseline,
            measured=measured,
            apportioned=parts.get(name),
            share=insn / whole.cost if whole.distinguishable else None,
            fired=exact[name].fired,
            differ=differ,
            why=_why(differ, recorded=bool(exact[name].fired), rules=rules),
        )


def _apportion_rest(timed: Itemised, total: Total, costs: Mapping[str, float]) -> dict[str, float]:
    """Return the bill's rest on a metric, divided among controls by their counts above 0.

    A rest that is not distinguishable from 0 itself is not divided; its error is taken for that of
    the total and the items together, as if they were independent.
    """
    rest = math.fsum(one.cost for one in timed.rest if one.metric == total.metric)
    halves = [(one.high - one.low) / 2 for one in timed.items if one.metric == total.metric]
    if total.low is not None and total.high is not None:
        halves.append((total.high - total.low) / 2)
    own = {name: cost for name, cost in costs.items() if cost > 0}
    every = math.fsum(own.values())
    if not total.distinguishable or rest <= math.hypot(*halves) or not every:
        return {}
    return {name: rest * cost / every for name, cost in own.items()}


def _compares(timed: Total, counted: Total) -> bool:
    """Say whether growth is known of both."""
    numbers = (timed.baseline, timed.cost, counted.baseline, counted.cost)
    return all(map(math.isfinite, numbers)) and timed.baseline > 0 and counted.baseline > 0


def _items(bill: Itemised, metric: MetricId) -> dict[str, Item]:
    """Return each control's item on a metric, whether or not it is in the rest."""
    return {one.control: one for one in (*bill.items, *bill.small) if one.metric == metric}


def _rules(counted: Itemised) -> int:
    every: Sequence[Item] = (*counted.items, *counted.small)
    return len({one.control for one in every if one.fired is not None})


def _why(differ: Differ, *, recorded: bool, rules: int) -> str:
    """Return a likely reason, which is not measured."""
    if differ in {"", "unknown"}:
        return ""
    if differ == "direction":
        return "another path through the code, or where memory lies: --fresh measures again"
    if differ == "less":
        return (
            "the processor does such instructions beside others, or while it waits for something"
            " that takes long anyway, such as entering the kernel"
        )
    if recorded:
        return "a record wakes the daemon, and waits for locks and for room in the kernel's queue"
    if rules >= MANY_RULES:
        return f"a list of {rules} rules no longer fits into the first cache"
    return "an instruction that serialises, a cache that misses, or waiting"
