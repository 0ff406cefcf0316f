"""By how much each metric grew from one state to a later one, and by which lines of the change.

What grew is compared with limits: that is the gate. A metric is over its limit if its growth is
more than the limit, and is not chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from auditrules.read.ignore_comments import OVER_LIMIT
from hardcost.analysis.bill.budget import Budget
from hardcost.controls.control import Control
from hardcost.errors import RequestError
from hardcost.model.finding.change import Change, ChangeLine, Contribution, Gate, Growth


def with_limits(gate: Gate, limits: Budget) -> Gate:
    """Return the gate with each metric's limit.

    Raises:
        InputError: There is a limit for a metric that there is not, or that has no number.
    """
    for wanted in limits.metrics:
        without = [one for one in gate.unknown if one.name == wanted]
        if without:
            hint = "without `predict` it is measured" if gate.how == "predicted" else None
            raise RequestError(f"`limits`: '{wanted}' has no number: {without[0]}", hint=hint)
    known = limits.for_metrics((one.name for one in gate.growths), "limits")
    growths = (
        replace(one, limit=None if math.isinf(known.of(one.name)) else known.of(one.name))
        for one in gate.growths
    )
    return replace(gate, growths=tuple(growths))


def line_of(control: Control, change: Change) -> ChangeLine:
    """Return where a control stands that was added or removed."""
    if control.place is None:
        return ChangeLine(None, control.name, change)
    accepted = change is Change.ADDED and OVER_LIMIT in control.ignores
    return ChangeLine(control.place.at(None), control.name, change, accepted)


def largest_first(parts: Iterable[Contribution]) -> tuple[Contribution, ...]:
    """Return parts, those that add most first."""
    return tuple(sorted(parts, key=lambda part: (-part.cost, str(part.line.place or ""))))


def lines_of(growths: Sequence[Growth]) -> tuple[ChangeLine, ...]:
    """Return every line of any part once, in the order of the parts."""
    return tuple(dict.fromkeys(part.line for one in growths for part in one.parts))
