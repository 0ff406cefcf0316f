"""The bill: a profile's total cost for each metric, and each control's part of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hardcost.analysis.estimates import series, shift, value
from hardcost.analysis.finding import Bill, Item, Sum, Total
from hardcost.controls.control import AuditDaemon, AuditRule
from hardcost.design import leave_one_out as names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.estimates import Series
    from hardcost.controls.control import Control, Profile
    from hardcost.store.record import Record

ByConfiguration = dict[str, "Series"]


def itemise(profile: Profile, records: Sequence[Record]) -> Bill:
    """Return the bill of `profile` out of the trials of its leave-one-out plan.

    An item's cost is by how much the profile exceeds the profile without that control, sample by
    sample. What items and rest don't explain is the interaction; the sum is exact by construction,
    in floating point too, since all values are multiples of 1/1024. An item whose interval reaches
    to both sides of 0 goes into the rest: whether it costs anything was not resolved.
    """
    metrics = _by_metric(records)
    fired = _fired(records)
    totals, items, rest, interaction = [], [], [], []
    for metric, known in metrics.items():
        total = _total(metric, known)
        candidates = [
            _item(profile, index, metric, known, total, fired)
            for index, control in enumerate(profile.controls)
            if not isinstance(control, AuditDaemon)
        ]
        told = [item for item in candidates if _resolved(item)]
        below = math.fsum(item.cost for item in candidates if item not in told)
        explained = math.fsum(item.cost for item in told) + below
        totals.append(total)
        items.extend(told)
        rest.append(Sum(metric, below))
        interaction.append(Sum(metric, total.cost - explained))
    items.sort(key=lambda item: -item.cost)
    return Bill(
        profile=profile.name,
        title=profile.title,
        totals=tuple(totals),
        items=tuple(items),
        rest=tuple(rest),
        interaction=tuple(interaction),
    )


def _resolved(item: Item) -> bool:
    return item.low == item.high or not item.low <= 0 <= item.high


def _by_metric(records: Sequence[Record]) -> dict[str, ByConfiguration]:
    """Return every metric's trials by configuration; several workloads are told apart by name."""
    known = series(records)
    several = len({workload for _, workload, _ in known}) > 1
    metrics: dict[str, ByConfiguration] = {}
    for (configuration, workload, metric), trials in known.items():
        name = f"{workload} {metric}" if several else metric
        metrics.setdefault(name, {})[configuration] = trials
    return metrics


def totals(records: Sequence[Record], configuration: str) -> tuple[Total, ...]:
    """Return what `configuration` costs over the baseline, for each metric."""
    metrics = _by_metric(records)
    return tuple(_total(metric, known, configuration) for metric, known in metrics.items())


def _total(metric: str, known: ByConfiguration, configuration: str = names.PROFILE) -> Total:
    profile, baseline = known[configuration], known[names.BASELINE]
    base, treated = value(baseline).value, value(profile).value
    return Total(metric, profile.unit, baseline=base, with_profile=treated, cost=treated - base)


def _item(  # noqa: PLR0913, PLR0917  (a bill's item is made of just these)
    profile: Profile,
    index: int,
    metric: str,
    known: ByConfiguration,
    total: Total,
    fired: Mapping[tuple[str, int], int],
) -> Item:
    control = profile.controls[index]
    saved = shift(known[names.PROFILE], known[names.without(index)])
    alone = shift(known[names.alone(index)], known[names.BASELINE])
    return Item(
        control=control.name,
        metric=metric,
        unit=total.unit,
        cost=saved.value,
        low=saved.low,
        high=saved.high,
        share=saved.value / total.cost if total.cost else 0.0,
        alone=alone.value,
        fired=fired.get((metric, index), 0) if isinstance(control, AuditRule) else None,
        place=_place(control),
    )


def _fired(records: Sequence[Record]) -> dict[tuple[str, int], int]:
    """Return how often each control fired for each metric, from the trial with a key for each."""
    several = len({record.workload for record in records}) > 1
    counts: dict[tuple[str, int], int] = {}
    for record in records:
        if record.configuration != names.FIRED:
            continue
        for metric in record.measured:
            name = f"{record.workload} {metric.metric}" if several else metric.metric
            for key, count in (metric.fired or {}).items():
                index = names.index_of(key)
                if index is not None:
                    counts[name, index] = count
    return counts


def _place(control: Control) -> str:
    if isinstance(control, AuditRule) and control.rule.place is not None:
        return str(control.rule.place)
    return ""
