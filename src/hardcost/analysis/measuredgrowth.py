"""What a change of a profile costs, from the trials of both states and of each without a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.analysis.estimates import by_metric, shift, value
from hardcost.analysis.fixedprice import NOTHING, SPREAD, fixed_price, less
from hardcost.analysis.growth import Change, Growth, Line, Part, line_of, ordered
from hardcost.analysis.least import least
from hardcost.design.anyrule import paid_for
from hardcost.design.changed import BASE, HEAD, without_of_base
from hardcost.design.leave_one_out import BASELINE, without

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from hardcost.analysis.estimates import Estimate, Series
    from hardcost.controls.control import Profile
    from hardcost.design.changed import Changes
    from hardcost.store.record import Record


def growths(
    records: Sequence[Record],
    lines: Mapping[str, Line],
    *,
    both: bool = True,
    payer: str = "",
    sole: AbstractSet[str] = frozenset(),
) -> tuple[Growth, ...]:
    """Return how each metric grew from one state to the other.

    `lines` are lines of the change by the name of the configuration without them. A part that is
    not distinguishable from 0 is left to the rest. Without `both`, only the earlier state was
    measured, since nothing changed. The `payer` is the state that alone pays for having any audit
    rule; `sole` names the configurations that lack its only one. Such a line's part is beside the
    price of having any, which leaving it out saves as well.
    """
    found = []
    for metric, known in by_metric(records).items():
        floor = least(metric, known).cost
        base, baseline = known[BASE], known[BASELINE]
        head = known[HEAD] if both else base
        by, before = shift(head, base), shift(base, baseline).value
        start = value(base).value
        price = fixed_price(known, floor) if payer else NOTHING
        bounds = {name: SPREAD * floor if name in sole else floor for name in lines}
        parts = {
            name: Part(line, *_cost(known, name, line, price if name in sole else NOTHING))
            for name, line in lines.items()
            if name in known
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
                parts=ordered(one for name, one in parts.items() if _counts(one, bounds[name])),
                fixed=-price.value if payer == BASE else price.value,
            )
        )
    return tuple(found)


def lines_by_name(base: Profile, head: Profile, changes: Changes) -> dict[str, Line]:
    """Return the lines of a change by the name of the configuration that lacks them."""
    found = {without(at): line_of(head.controls[at], Change.ADDED) for at in changes.added}
    found |= {
        without_of_base(at): line_of(base.controls[at], Change.REMOVED) for at in changes.removed
    }
    return found


def only_rule(base: Profile, head: Profile, payer: str) -> frozenset[str]:
    """Return the configuration that lacks the only audit rule of the state that alone pays."""
    rules = paid_for((base if payer == BASE else head).controls) if payer else ()
    if len(rules) != 1:
        return frozenset()
    return frozenset({without_of_base(rules[0]) if payer == BASE else without(rules[0])})


def _cost(
    known: Mapping[str, Series], name: str, line: Line, price: Estimate
) -> tuple[float, float, float]:
    """Return what a line adds, with its interval: what leaving it out saves beside the price."""
    of = HEAD if line.change is Change.ADDED else BASE
    saved = less(shift(known[of], known[name]), price)
    if line.change is Change.ADDED:
        return saved.value, saved.low, saved.high
    return -saved.value, -saved.high, -saved.low


def _counts(part: Part, floor: float) -> bool:
    return abs(part.cost) > floor and not part.low <= 0 <= part.high
