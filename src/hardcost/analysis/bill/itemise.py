"""The bill: a profile's total cost for each metric, and each control's part of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hardcost.analysis.bill.fixed_price import (
    NOTHING,
    SPREAD,
    fixed_price,
    half_of,
    subtract_estimate,
)
from hardcost.analysis.estimates.estimates import (
    Estimate,
    Series,
    by_metric,
    shift,
    total,
)
from hardcost.analysis.estimates.resolution import interaction_bound, smallest_distinguishable
from hardcost.analysis.verification.groups import Predictions
from hardcost.analysis.verification.weighing import Confirmed
from hardcost.controls.control import Control, Profile, requirements_of
from hardcost.model.finding.bill import Item, Itemised, Sum, Total, Verification
from hardcost.model.role import Alone, Baseline, Fired, Role, Whole, Without
from hardcost.model.workload import MetricId, metric_among
from hardcost.plan.first_rule import indices_paid_for
from hardcost.plan.leave_one_out import index_of
from hardcost.store.record import Record

Confirmations = Mapping[int, Mapping[MetricId, Confirmed]]
"""Predicted costs that groups confirmed, by the control's index and the metric."""


@dataclass(frozen=True)
class BillRecords:
    """The records of a bill's trials; if it was verified, the costs that groups confirmed, and how.

    `alone` are the predicted costs of confirmed controls by themselves, which no trial confirmed.
    """

    records: tuple[Record, ...]
    confirmed: Confirmations = field(default_factory=dict)
    verification: Verification | None = None
    alone: Mapping[int, Predictions] = field(default_factory=dict)


def itemise(
    profile: Profile, records: Sequence[Record], confirmed: Confirmations | None = None
) -> Itemised:
    """Return the bill of `profile` from the trials of its leave-one-out plan.

    An item's cost is by how much the profile exceeds the profile without that control, sample by
    sample; of the only rule, less the fixed price of having any, which goes with it. What items,
    fixed price and rest don't explain is the interaction. The sum is exact by construction, in
    floating point too, since all values are multiples of 1/1024. An item whose interval includes
    both sides of 0, or that placebos reach too, is not resolved and goes into the rest. So does an
    interaction that chance alone could produce. The costs of the `confirmed` controls are the
    predictions that groups confirmed.
    """
    metrics = by_metric(records)
    fired = fired_counts(records)
    totals, items, fixed, rest, interaction, leasts = [], [], [], [], [], []
    small: list[Item] = []
    rules = indices_paid_for(profile.controls)
    sole = rules if len(rules) == 1 else ()
    for metric, known in metrics.items():
        floor = smallest_distinguishable(metric, known)
        whole = total(metric, known, Whole(), floor.cost)
        price = fixed_price(known, floor.cost)
        prices = dict.fromkeys(sole, price)
        candidates = [
            _verified_item(profile, index, whole, fired, found[metric])
            if (found := (confirmed or {}).get(index)) is not None
            else _measured_item(profile, index, known, whole, fired, prices.get(index, NOTHING))
            for index, control in enumerate(profile.controls)
            if not control.in_baseline
        ]
        # What the only rule costs beside the fixed price is as uncertain as that.
        bounds = {profile.controls[index].name: SPREAD * floor.cost for index in sole}
        least = {item.control: bounds.get(item.control, floor.cost) for item in candidates}
        resolved = [item for item in candidates if _is_resolved(item, least[item.control])]
        itemised = math.fsum(item.cost for item in resolved)
        between = whole.cost - math.fsum(item.cost for item in candidates) - price.value
        if abs(between) <= interaction_bound(floor.cost, len(candidates), fixed=bool(price.value)):
            between = 0.0
        totals.append(whole)
        items.extend(resolved)
        small.extend(item for item in candidates if item not in resolved)
        fixed.append(Sum(metric, price.value, half_of(price)))
        rest.append(Sum(metric, whole.cost - itemised - price.value - between))
        interaction.append(Sum(metric, between))
        leasts.append(floor)
    return Itemised(
        profile=profile.name,
        profile_title=profile.title,
        totals=tuple(totals),
        items=tuple(sorted(items, key=lambda item: -item.cost)),
        rest=tuple(rest),
        interaction=tuple(interaction),
        least=tuple(leasts),
        controls=tuple(control.name for control in _controls_with_items(profile)),
        small=tuple(small),
        fixed=tuple(fixed),
        rules=tuple(profile.controls[index].name for index in rules),
        needs=_needs(profile),
    )


def _needs(profile: Profile) -> dict[str, tuple[str, ...]]:
    """Return the names of the controls that each control requires, where it does."""
    return {
        control.name: tuple(need.name for need in needs)
        for control in profile.controls
        if (needs := requirements_of(control, profile.controls))
    }


def _controls_with_items(profile: Profile) -> list[Control]:
    """Return the controls that have an item: one that only lets others act has none."""
    return [one for one in profile.controls if not one.in_baseline]


def _is_resolved(item: Item, least: float) -> bool:
    if least and abs(item.cost) <= least:
        return False
    return item.low == item.high or not item.low <= 0 <= item.high


def totals(records: Sequence[Record], role: Role) -> tuple[Total, ...]:
    """Return the cost of a role's configuration over the baseline, for each metric."""
    metrics = by_metric(records)
    return tuple(
        total(metric, known, role, smallest_distinguishable(metric, known).cost)
        for metric, known in metrics.items()
    )


def _measured_item(  # noqa: PLR0913, PLR0917  (what a cost is worked out from)
    profile: Profile,
    index: int,
    known: Mapping[Role, Series],
    whole: Total,
    fired: Mapping[tuple[MetricId, int], int] | None,
    price: Estimate,
) -> Item:
    """Return the item of a control that was left out by itself, and perhaps measured alone."""
    saved = subtract_estimate(shift(known[Whole()], known[Without((index,))]), price)
    item = _item(profile, index, whole, fired, saved)
    measured = known.get(Alone(index))
    if measured is None:
        return item
    alone = shift(measured, known[Baseline()])
    return replace(item, alone=alone.value, alone_low=alone.low, alone_high=alone.high)


def _verified_item(
    profile: Profile,
    index: int,
    whole: Total,
    fired: Mapping[tuple[MetricId, int], int] | None,
    found: Confirmed,
) -> Item:
    """Return the item of a predicted cost that groups confirmed."""
    return replace(
        _item(profile, index, whole, fired, found.cost),
        known="verified",
        groups=found.groups,
        smallest_group=found.smallest,
    )


def _item(
    profile: Profile,
    index: int,
    whole: Total,
    fired: Mapping[tuple[MetricId, int], int] | None,
    cost: Estimate,
) -> Item:
    """Return the item of a control with a cost, as if it was not measured alone."""
    control = profile.controls[index]
    return Item(
        control=control.name,
        metric=whole.metric,
        unit=whole.unit,
        cost=cost.value,
        low=cost.low,
        high=cost.high,
        share=cost.value / whole.cost if whole.distinguishable else 0.0,
        alone=None,
        fired=_times_fired(fired, whole.metric, index) if control.fires else None,
        place=control.place,
        ids=control.ids,
        severity=control.severity,
    )


def _times_fired(
    fired: Mapping[tuple[MetricId, int], int] | None, metric: MetricId, index: int
) -> int | None:
    """Return how often a control fired; None where that was not counted."""
    return None if fired is None else fired.get((metric, index), 0)


def fired_counts(records: Sequence[Record]) -> dict[tuple[MetricId, int], int] | None:
    """Return how often each control fired for each metric, from the trial with a key for each.

    None: there is no such trial, or records were not counted in it, since a daemon took them.
    """
    keyed = [record for record in records if record.role == Fired()]
    if all(metric.fired is None for record in keyed for metric in record.measured):
        return None
    workloads = {record.workload for record in records}
    counts: dict[tuple[MetricId, int], int] = {}
    for record in keyed:
        for metric in record.measured:
            name = metric_among(workloads, record.workload, metric.metric)
            for key, count in (metric.fired or {}).items():
                index = index_of(key)
                if index is not None:
                    counts[name, index] = count
    return counts
