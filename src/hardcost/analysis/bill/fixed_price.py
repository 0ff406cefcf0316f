"""The fixed price of having any audit rule, from the trials of idle ones (`plan.first_rule`)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from hardcost.analysis.estimates.estimates import Estimate, Series, on_grid, shift
from hardcost.model.role import Idle, Role

NOTHING = Estimate(0.0, 0.0, 0.0)

SPREAD = math.sqrt(3)
"""By how much it is wider than a cost: the trial of one idle rule counts twice in it, so that the
variances of six trials add up, and of two in a cost."""


def fixed_price(known: Mapping[Role, Series], least: float) -> Estimate:
    """Return the price of having any rule on a metric, from its trials by role.

    It is 0 where it was not measured, since no rule is on the exit list, and where chance could
    make it: `least` is the smallest distinguishable cost.
    """
    if not {Idle(0), Idle(1), Idle(2)} <= known.keys():
        return NOTHING
    first, second = shift(known[Idle(1)], known[Idle(0)]), shift(known[Idle(2)], known[Idle(1)])
    found = subtract_estimate(first, second)
    return NOTHING if _may_be_nothing(found, least) else found


def subtract_estimate(cost: Estimate, by: Estimate) -> Estimate:
    """Return the difference of two estimates, assuming that their errors are independent."""
    if by == NOTHING:
        return cost
    value = cost.value - by.value
    half = on_grid(math.hypot(half_of(cost), half_of(by)))
    return Estimate(value, value - half, value + half)


def half_of(estimate: Estimate) -> float:
    """Return half of an estimate's interval."""
    return (estimate.high - estimate.low) / 2


def _may_be_nothing(found: Estimate, least: float) -> bool:
    if abs(found.value) <= SPREAD * least:
        return True
    return found.low < found.high and found.low <= 0 <= found.high
