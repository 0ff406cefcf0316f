"""The cost of a change of a profile, from trials of both states and of each without a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from hardcost.analysis.bill.fixed_price import NOTHING, SPREAD, fixed_price, subtract_estimate
from hardcost.analysis.change.growth import largest_first, line_of
from hardcost.analysis.estimates.estimates import (
    Estimate,
    Series,
    by_metric,
    shift,
    value,
)
from hardcost.analysis.estimates.resolution import smallest_distinguishable
from hardcost.analysis.verification.weighing import Confirmed
from hardcost.controls.control import Profile
from hardcost.model.finding.change import Change, ChangeLine, Contribution, Growth
from hardcost.model.role import Base, Baseline, Role, Whole, Without
from hardcost.model.workload import MetricId
from hardcost.plan.change import Changes, ChangeState
from hardcost.plan.first_rule import indices_paid_for
from hardcost.store.record import Record

ConfirmedLines = Mapping[Without, Mapping[MetricId, Confirmed]]
"""Predicted savings of lines that groups confirmed, by the role of the state without the line."""


def growths(
    records: Sequence[Record],
    lines: Mapping[Without, ChangeLine],
    *,
    payer: ChangeState | None = None,
    sole: AbstractSet[Without] = frozenset(),
    confirmed: ConfirmedLines | None = None,
) -> tuple[Growth, ...]:
    """Return how each metric grew from one state to the other.

    `lines` are lines of the change by the role of the configuration without them. A part that is
    not distinguishable from 0 is left to the rest. The `payer` is the state that alone pays for
    having any audit rule; `sole` are the roles that lack its only one. Such a line's part is beside
    the price of having any, which leaving it out saves as well. Of `confirmed` lines the parts are
    the predictions that groups confirmed.
    """
    found = []
    for metric, known in by_metric(records).items():
        floor = smallest_distinguishable(metric, known).cost
        base, baseline = known[Base()], known[Baseline()]
        head = known[Whole()]
        by, before = shift(head, base), shift(base, baseline).value
        start = value(base).value
        price = fixed_price(known, floor) if payer is not None else NOTHING
        bounds = {role: SPREAD * floor if role in sole else floor for role in lines}
        parts = {
            role: Contribution(line, *_cost(known, role, price if role in sole else NOTHING))
            for role, line in lines.items()
            if role in known
        } | {
            role: Contribution(lines[role], *_signed(costs[metric].cost, role), known="verified")
            for role, costs in (confirmed or {}).items()
        }
        found.append(
            Growth(
                metric=metric,
                unit=base.unit,
                base=start,
                head=start + by.value,
                low=by.low,
                high=by.high,
                least=floor,
                before=before,
                after=before + by.value,
                parts=largest_first(
                    one for role, one in parts.items() if _counts(one, bounds[role])
                ),
                fixed=-price.value if payer == Base() else price.value,
            )
        )
    return tuple(found)


def lines_by_role(base: Profile, head: Profile, changes: Changes) -> dict[Without, ChangeLine]:
    """Return the lines of a change by the role of the configuration that lacks them."""
    added = {Without((at,)): line_of(head.controls[at], Change.ADDED) for at in changes.added}
    removed = {
        Without((at,), Base()): line_of(base.controls[at], Change.REMOVED) for at in changes.removed
    }
    return added | removed


def only_rule(base: Profile, head: Profile, payer: ChangeState | None) -> frozenset[Without]:
    """Return the role that lacks the only audit rule of the state that alone pays."""
    if payer is None:
        return frozenset()
    rules = indices_paid_for((base if payer == Base() else head).controls)
    return frozenset({Without(rules, payer)}) if len(rules) == 1 else frozenset()


def _cost(
    known: Mapping[Role, Series], role: Without, price: Estimate
) -> tuple[float, float, float]:
    """Return a line's cost and interval: the saving without it, less the fixed price."""
    return _signed(subtract_estimate(shift(known[role.of], known[role]), price), role)


def _signed(saved: Estimate, role: Without) -> tuple[float, float, float]:
    """Return what a line adds to the later state: what leaving it out there saves, or here adds."""
    if role.of == Whole():
        return saved.value, saved.low, saved.high
    return -saved.value, -saved.high, -saved.low


def _counts(part: Contribution, floor: float) -> bool:
    return abs(part.cost) > floor and not part.low <= 0 <= part.high
