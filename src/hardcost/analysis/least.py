"""The smallest cost that is distinguishable from chance, by the apparent cost of placebos.

A placebo is compared just as a control is. Its apparent cost is chance: it depends on where the
kernel's memory happened to lie. A control's cost of the same size may be no more than that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scipy import special

from hardcost.analysis.estimates import on_grid, shift
from hardcost.analysis.finding import Least
from hardcost.design.placebos import compared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.estimates import Series

FALSE_ALARMS = 0.01
"""The rate at which a control that costs nothing may seem to cost some, if chance is normal."""


def least(metric: str, known: Mapping[str, Series]) -> Least:
    """Return the smallest distinguishable cost on a metric, from its trials by configuration."""
    shifts = [shift(known[name], known[on]).value for name, on in compared(known)]
    if not shifts:
        return Least(metric, 0.0, 0)
    rare = next(iter(known.values())).chance  # too rare for a bill's own placebos to show it
    return Least(metric, max(rare, bound(shifts)), len(shifts))


def bound(shifts: Sequence[float]) -> float:
    """Return the bound for the next placebo's shift: 0 without any, in the shifts' unit.

    It is at least the largest shift seen. If shifts are normal with mean 0, as for configurations
    without effect, the next one over the root mean square of n of them has Student's distribution
    with n degrees of freedom. The bound is its two-sided quantile for `FALSE_ALARMS`.
    """
    if not shifts:
        return 0.0
    square = math.fsum(one * one for one in shifts) / len(shifts)
    quantile = float(special.stdtrit(len(shifts), 1 - FALSE_ALARMS / 2))
    return on_grid(max(quantile * math.sqrt(square), *map(abs, shifts)))


def interaction_bound(least: float, controls: int) -> float:
    """Return the bound for an interaction of so many controls by chance, in `least`'s unit.

    The profile's total less each control's cost contains the profile's own trial `controls` - 1
    times and every other trial once; their variances add up. A cost contains two trials. One
    control can't interact: the bound is infinite.
    """
    if controls < 2:  # noqa: PLR2004  (two interact)
        return math.inf
    return least * math.sqrt(((controls - 1) ** 2 + controls + 1) / 2)
