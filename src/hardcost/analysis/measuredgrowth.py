"""What a change of a profile costs, from the trials of both states and of each without a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.analysis.estimates import by_metric, shift, value
from hardcost.analysis.growth import Change, Growth, Line, Part, line_of, ordered
from hardcost.analysis.least import least
from hardcost.design.changed import BASE, HEAD, without_of_base
from hardcost.design.leave_one_out import BASELINE, without

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.estimates import Series
    from hardcost.controls.control import Profile
    from hardcost.design.changed import Changes
    from hardcost.store.record import Record


def growths(
    records: Sequence[Record], lines: Mapping[str, Line], *, both: bool = True
) -> tuple[Growth, ...]:
    """Return how each metric grew from one state to the other.

    `lines` are lines of the change by the name of the configuration without them. A part that is
    not distinguishable from 0 is left to the rest. Without `both`, only the earlier state was
    measured, since nothing changed.
    """
    found = []
    for metric, known in by_metric(records).items():
        floor = least(metric, known).cost
        base, baseline = known[BASE], known[BASELINE]
        head = known[HEAD] if both else base
        by, before = shift(head, base), shift(base, baseline).value
        start = value(base).value
        parts = (
            Part(line, *_cost(known, name, line)) for name, line in lines.items() if name in known
        )
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
                parts=ordered(part for part in parts if _counts(part, floor)),
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


def _cost(known: Mapping[str, Series], name: str, line: Line) -> tuple[float, float, float]:
    """Return what a line adds, with its interval: what leaving it out saves."""
    of = HEAD if line.change is Change.ADDED else BASE
    saved = shift(known[of], known[name])
    if line.change is Change.ADDED:
        return saved.value, saved.low, saved.high
    return -saved.value, -saved.high, -saved.low


def _counts(part: Part, floor: float) -> bool:
    return abs(part.cost) > floor and not part.low <= 0 <= part.high
