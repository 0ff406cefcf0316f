"""Costs of a bill of several trials: which are distinguishable from 0, and the sum of the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hardcost.analysis.estimates.estimates import by_metric, shift
from hardcost.instruments.names import instrument_named
from hardcost.model.finding.bill import Item, Itemised, Sum, Total
from hardcost.model.role import Baseline, Whole
from hardcost.model.workload import MetricId
from hardcost.store.record import Record


def drop_indistinguishable(bill: Itemised, records: Sequence[Record]) -> Itemised:
    """Return a bill without parts that are not distinguishable from 0; it still adds up.

    A total has an interval unless it is a single trial of an exact instrument, whose samples leave
    no doubt that it costs something. One whose interval
    includes both sides of 0 is not itemised: all of it is rest. For the others, the interaction,
    which is a remainder, goes into the rest if the intervals of total and items together could
    produce it.
    """
    if not records:
        return bill
    totals = _with_intervals(bill.totals, records)
    unclear = {total.metric for total in totals if total.may_be_nothing}
    items = tuple(item for item in bill.items if item.metric not in unclear)
    small = tuple(item for item in bill.items if item.metric in unclear)
    rest = {remainder.metric: remainder.cost for remainder in bill.rest}
    interaction = {remainder.metric: remainder.cost for remainder in bill.interaction}
    fixed = {one.metric: one for one in bill.fixed}
    for total in totals:
        metric, left = total.metric, interaction.get(total.metric, 0.0)
        own = [item for item in items if item.metric == metric]
        if metric in unclear:
            rest[metric], interaction[metric] = total.cost, 0.0
            fixed[metric] = Sum(metric, 0.0)
        elif left and total.low is not None and abs(left) <= _spread(total, own, fixed):
            rest[metric], interaction[metric] = rest.get(metric, 0.0) + left, 0.0
    return replace(
        bill,
        totals=totals,
        items=items,
        small=(*small, *bill.small),
        fixed=tuple(fixed.values()),
        rest=_sums(rest),
        interaction=_sums(interaction),
    )


def _with_intervals(totals: Sequence[Total], records: Sequence[Record]) -> tuple[Total, ...]:
    known = by_metric(records)
    exact = instrument_named(records[0].instrument).exact
    found = []
    for total in totals:
        trials = known[total.metric]
        by = shift(trials[Whole()], trials[Baseline()])
        single = exact and len(trials[Whole()].medians) == 1
        # A program may vary from start to start within its one trial.
        may_be_nothing = by.low < by.high and by.low <= 0 <= by.high
        known_exactly = single and not may_be_nothing
        found.append(total if known_exactly else replace(total, low=by.low, high=by.high))
    return tuple(found)


def _spread(total: Total, items: Sequence[Item], fixed: Mapping[MetricId, Sum]) -> float:
    """Return how far the total and its parts may be off together, assuming independence."""
    low, high = total.low or 0.0, total.high or 0.0
    halves = [(high - low) / 2, *((item.high - item.low) / 2 for item in items)]
    halves += [fixed[total.metric].half] if total.metric in fixed else []
    return math.hypot(*halves)


def _sums(amounts: Mapping[MetricId, float]) -> tuple[Sum, ...]:
    return tuple(Sum(metric, amount) for metric, amount in amounts.items())
