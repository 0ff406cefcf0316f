"""A bill's figures as shown: rounded consistently, sorted, and adding up to the last digit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from hardcost.analysis.bill.weights import Weighing, control_order, weighing, with_average
from hardcost.model.finding.bill import Item, Itemised, Sum, Total
from hardcost.model.workload import MetricId
from hardcost.show.text import decimals, number, round_decimal
from hardcost.units import count, visible

_ZERO = Decimal(0)

_REQUIREMENT = "SRG-"
"""Prefix of requirements for every operating system; a control serves up to a dozen of them."""

FEW = 3
"""Most metrics that are all shown side by side; of more, some are chosen."""


@dataclass(frozen=True)
class BillRow:
    """One control of a bill: `number` counts from 1 in the order of the bill.

    `unshown` says that the numbers do not show its cost. `place` is its location and its names in
    benchmarks. `fired` is the number of audit records that it caused over all metrics, None if
    unknown.
    """

    number: int
    control: str
    place: str
    fired: int | None
    items: Mapping[MetricId, Item]
    unshown: bool = False


@dataclass(frozen=True)
class MetricFigures:
    """A bill's figures for one metric, all with `digits` decimals.

    `items` maps control to cost; their sum, `fixed`, `rest` and `interaction` make `cost`, which is
    `with_profile` - `baseline`, exactly. If rounding prevents that, `interaction`, a remainder by
    definition, takes up the last digit; a single control has no interaction, so there it is `rest`.
    `least` is the smallest distinguishable cost; `by_chance` says that the whole profile's cost is
    not distinguishable.
    """

    metric: MetricId
    unit: str
    digits: int
    baseline: Decimal
    with_profile: Decimal
    items: Mapping[str, Decimal]
    rest: Decimal
    interaction: Decimal
    fixed: Decimal = _ZERO
    fault: str = ""
    least: float = 0.0
    by_chance: bool = False

    @property
    def cost(self) -> Decimal:
        """Return the profile's cost."""
        return self.with_profile - self.baseline

    def of(self, entries: Iterable[BillRow]) -> Decimal:
        """Return the sum of the costs of `entries`."""
        return sum((self.items.get(entry.control, _ZERO) for entry in entries), _ZERO)


@dataclass(frozen=True)
class BillRows:
    """A bill in order: entries largest first, an account for each metric.

    `weighed` says what the order is by. If that is the average call, its account comes first.
    """

    entries: tuple[BillRow, ...]
    accounts: tuple[MetricFigures, ...]
    weighed: Weighing

    @property
    def leading(self) -> MetricFigures | None:
        """The metric that the order is by; None of a bill without metrics."""
        named = (one for one in self.accounts if one.metric == self.weighed.leading)
        return next(named, None)

    @property
    def has_least(self) -> bool:
        """Whether a cost above 0 may be chance on any metric."""
        return any(account.least for account in self.accounts)


def rows_of_bill(bill: Itemised) -> BillRows:
    """Return the figures of `bill` as shown."""
    order, weighed = control_order(bill), weighing(bill)
    bill = with_average(bill, weighed)
    items: dict[str, dict[MetricId, Item]] = {control: {} for control in order}
    for item in bill.items:
        items[item.control][item.metric] = item
    entries = tuple(
        _entry(nth, control, items[control], unshown=control in bill.unshown)
        for nth, control in enumerate(sorted(order, key=order.__getitem__), start=1)
    )
    fixed, rest = _by_metric(bill.fixed), _by_metric(bill.rest)
    interaction = _by_metric(bill.interaction)
    accounts = tuple(
        _account(
            total,
            {c: own[total.metric] for c, own in items.items() if total.metric in own},
            rest.get(total.metric, 0.0),
            interaction.get(total.metric, 0.0),
            fixed.get(total.metric, 0.0),
        )
        for total in bill.totals
        if math.isfinite(total.baseline) and math.isfinite(total.with_profile)
    )
    return BillRows(entries, accounts, weighed)


def _by_metric(sums: tuple[Sum, ...]) -> dict[MetricId, float]:
    return {remainder.metric: remainder.cost for remainder in sums}


def benchmark_names(ids: Iterable[str]) -> Iterator[str]:
    """Return a control's names in benchmarks, without the requirements that follow them."""
    return (one for one in ids if not one.startswith(_REQUIREMENT))


def _entry(nth: int, control: str, items: Mapping[MetricId, Item], *, unshown: bool) -> BillRow:
    fired = [item.fired for item in items.values() if item.fired is not None]
    place = next((str(item.place) for item in items.values() if item.place), "")
    ids = next((item.ids for item in items.values()), ())
    return BillRow(
        nth,
        control,
        " ".join(filter(None, (place, *benchmark_names(ids)))),
        sum(fired) if fired else None,
        items,
        unshown or any(item.caveat for item in items.values()),
    )


def _account(
    total: Total, items: Mapping[str, Item], rest: float, interaction: float, fixed: float
) -> MetricFigures:
    costs = {c: item.cost if math.isfinite(item.cost) else 0.0 for c, item in items.items()}
    digits = decimals(
        (total.baseline, total.with_profile, *costs.values(), rest, interaction, fixed)
    )
    baseline, whole = (
        round_decimal(total.baseline, digits),
        round_decimal(total.with_profile, digits),
    )
    shown = {control: round_decimal(cost, digits) for control, cost in costs.items()}
    kept, once = round_decimal(rest, digits), round_decimal(fixed, digits)
    balance = whole - baseline - sum(shown.values(), _ZERO) - once - kept
    # Each of these numbers may be off by half a last digit.
    slack = Decimal(1).scaleb(-digits) * (len(shown) + 4 + bool(fixed)) / 2
    if not interaction and abs(balance) <= slack:
        kept, balance = kept + balance, _ZERO
    missed = balance - round_decimal(interaction, digits)
    fault = ""
    if abs(missed) > slack:
        balance -= missed
        fault = (
            f"The bill does not add up on {visible(total.metric)}: "
            f"its parts miss the total by {number(missed, digits)}."
        )
    return MetricFigures(
        total.metric,
        str(total.unit),
        digits,
        baseline,
        whole,
        shown,
        kept,
        balance,
        once,
        fault,
        total.least,
        bool(total.cost) and not total.distinguishable,
    )


def others(amount: int) -> str:
    """Return the name of the row that sums up the unlisted controls."""
    return count(amount, "other") + " together"


def bill_size(bill: Itemised, *, searched: bool = False) -> str:
    """Return the number of controls on a bill, in words; of one by search, that of its culprits."""
    itemised = {item.control for item in bill.items}
    if not searched:
        return count(len(itemised | set(bill.controls)), "control")
    return count(len(itemised), "culprit") if itemised else "no culprit found"
