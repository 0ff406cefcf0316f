"""A bill's figures as shown: rounded consistently, sorted, and adding up to the last digit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from statistics import median_low
from typing import TYPE_CHECKING

from hardcost.report.text import decimals, number, rounded, visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hardcost.analysis.finding import Bill, Item, Sum, Total

_ZERO = Decimal(0)

_REQUIREMENT = "SRG-"
"""Prefix of requirements for every operating system; a control serves up to a dozen of them."""

FEW = 3
"""Most metrics that are all shown side by side; of more, some are chosen."""


@dataclass(frozen=True)
class Entry:
    """One control of a bill: `number` counts from 1 in the order of the bill.

    `unshown` says that the numbers do not show its cost. `place` is its location and its names in
    benchmarks. `fired` is the number of audit records that it caused over all metrics, None if
    unknown.
    """

    number: int
    control: str
    place: str
    fired: int | None
    items: Mapping[str, Item]
    unshown: bool = False


@dataclass(frozen=True)
class Account:
    """A bill's figures for one metric, all with `digits` decimals.

    `items` maps control to cost; their sum, `fixed`, `rest` and `interaction` make `cost`, which is
    `with_profile` - `baseline`, exactly. If rounding prevents that, `interaction`, a remainder by
    definition, takes up the last digit; a single control has no interaction, so there it is `rest`.
    `least` is the smallest distinguishable cost; `by_chance` says that the whole profile's cost is
    not distinguishable.
    """

    metric: str
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

    def of(self, entries: Iterable[Entry]) -> Decimal:
        """Return the sum of the costs of `entries`."""
        return sum((self.items.get(entry.control, _ZERO) for entry in entries), _ZERO)


@dataclass(frozen=True)
class Ledger:
    """A bill in order: entries largest first, an account for each metric.

    `by_share` says that metrics have several units, so that the order is by share of the total.
    """

    entries: tuple[Entry, ...]
    accounts: tuple[Account, ...]
    by_share: bool

    @cached_property
    def usual(self) -> Account:
        """The most representative metric: `agreeing` is largest there."""
        return max(self.accounts, key=self.agreeing)

    @property
    def has_least(self) -> bool:
        """Whether a cost above 0 may be chance on any metric."""
        return any(account.least for account in self.accounts)

    def agreeing(self, account: Account) -> int:
        """Return how many controls cost the same on this metric as on their median metric."""
        return sum(
            account.items.get(control, _ZERO) == typical
            for control, typical in self._typical.items()
        )

    @cached_property
    def _typical(self) -> dict[str, Decimal]:
        """Each control's cost on its median metric."""
        return {
            entry.control: median_low(
                [account.items.get(entry.control, _ZERO) for account in self.accounts]
            )
            for entry in self.entries
        }


def ledger(bill: Bill) -> Ledger:
    """Return the figures of `bill` as shown."""
    order = control_order(bill)
    items: dict[str, dict[str, Item]] = {control: {} for control in order}
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
    return Ledger(entries, accounts, _several_units(bill))


def control_order(bill: Bill) -> dict[str, int]:
    """Return each control's place in the bill, from 0: the largest first.

    The size of a control is its largest cost on any metric or, if metrics have several units, its
    largest share of a total; without an item it is 0. Ties go to the larger sum over all metrics,
    then to the profile's order.
    """
    by_share = _several_units(bill)
    sizes: dict[str, list[float]] = {}
    for item in bill.items:
        size = item.share if by_share else item.cost
        sizes.setdefault(item.control, []).append(size if math.isfinite(size) else 0.0)
    for control in bill.controls:
        sizes.setdefault(control, [0.0])
    ordered = sorted(sizes, key=lambda control: (-max(sizes[control]), -sum(sizes[control])))
    return {control: nth for nth, control in enumerate(ordered)}


def _several_units(bill: Bill) -> bool:
    return len({total.unit for total in bill.totals}) > 1


def _by_metric(sums: tuple[Sum, ...]) -> dict[str, float]:
    return {remainder.metric: remainder.cost for remainder in sums}


def called(ids: Iterable[str]) -> Iterator[str]:
    """Return a control's names in benchmarks, without the requirements behind them."""
    return (one for one in ids if not one.startswith(_REQUIREMENT))


def _entry(nth: int, control: str, items: Mapping[str, Item], *, unshown: bool) -> Entry:
    fired = [item.fired for item in items.values() if item.fired is not None]
    place = next((item.place for item in items.values() if item.place), "")
    ids = next((item.ids for item in items.values()), ())
    return Entry(
        nth,
        control,
        " ".join(filter(None, (place, *called(ids)))),
        sum(fired) if fired else None,
        items,
        unshown or any(item.caveat for item in items.values()),
    )


def _account(
    total: Total, items: Mapping[str, Item], rest: float, interaction: float, fixed: float
) -> Account:
    costs = {c: item.cost if math.isfinite(item.cost) else 0.0 for c, item in items.items()}
    digits = decimals(
        (total.baseline, total.with_profile, *costs.values(), rest, interaction, fixed)
    )
    baseline, whole = rounded(total.baseline, digits), rounded(total.with_profile, digits)
    shown = {control: rounded(cost, digits) for control, cost in costs.items()}
    kept, once = rounded(rest, digits), rounded(fixed, digits)
    balance = whole - baseline - sum(shown.values(), _ZERO) - once - kept
    # Each of these numbers may be off by half a last digit.
    slack = Decimal(1).scaleb(-digits) * (len(shown) + 4 + bool(fixed)) / 2
    if not interaction and abs(balance) <= slack:
        kept, balance = kept + balance, _ZERO
    missed = balance - rounded(interaction, digits)
    fault = ""
    if abs(missed) > slack:
        balance -= missed
        fault = (
            f"The bill does not add up on {visible(total.metric)}: "
            f"its parts miss the total by {number(missed, digits)}."
        )
    return Account(
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
