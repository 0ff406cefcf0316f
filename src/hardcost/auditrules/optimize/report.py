"""What there is to say of a cheaper set: each call's cost before and after, and the least."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from hardcost.auditrules.cost.events import operations
from hardcost.auditrules.optimize import never
from hardcost.auditrules.optimize.bound import Bounds, Reached
from hardcost.auditrules.optimize.prices import TOLERANCE, Prices
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardcost.auditrules.cost.constants import Constants
    from hardcost.auditrules.cost.predict import Histogram
    from hardcost.auditrules.optimize.optimise import Optimised
    from hardcost.auditrules.tables.lookup import Arch

NEAR = 1.1
"""A cost is near the least if it is not above this many times that."""


@dataclass(frozen=True)
class Costs:
    """What the rules cost one call, or all of a workload on average, in instructions."""

    before: float
    after: float
    least: float

    @property
    def near(self) -> bool:
        """Whether the cost after is near the least."""
        return self.after <= self.least * NEAR + TOLERANCE


class Report:
    """A cheaper set under a workload."""

    def __init__(self, made: Optimised, constants: Constants, histogram: Histogram) -> None:
        self.made, self.histogram = made, histogram
        prices = Prices(constants, histogram, made.options.b32, made.options.likely_directory)
        self.bounds = Bounds(made.original, prices)

    @cached_property
    def least(self) -> Mapping[tuple[Arch, int], float]:
        """The least that each call by itself can cost."""
        return {call: self._least(call, None) for call in self.made.after}

    @cached_property
    def by_call(self) -> Mapping[tuple[Arch, int], Costs]:
        """All calls that have a name; `least` is that of sets that cost no weightier call more."""
        reached = Reached(self.made.before, self.made.after, self.least)
        found = {}
        for call, after in self.made.after.items():
            one = Costs(self.made.before[call], after, self.least[call])
            found[call] = one if one.near else replace(one, least=self._least(call, reached))
        return found

    def _least(self, call: tuple[Arch, int], reached: Reached | None) -> float:
        first = next((one.rule for one in self.made.lines if never.NEVER_FIRST in one.done), None)
        if first is None:
            return self.bounds.of(*call, reached)
        return self.bounds.behind(first, *call, reached)

    @cached_property
    def mean(self) -> Costs:
        """The mean over the workload's calls."""
        calls = [
            (self.by_call[call], count)
            for call, count in self.histogram.items()
            if call in self.by_call
        ]
        total = sum(count for _, count in calls) or 1.0
        return Costs(
            sum(one.before * count for one, count in calls) / total,
            sum(one.after * count for one, count in calls) / total,
            sum(one.least * count for one, count in calls) / total,
        )

    @cached_property
    def shown(self) -> tuple[tuple[Arch, int], ...]:
        """The calls that the operations of the workload `syscalls` are made of."""
        names = dict.fromkeys(
            name
            for operation, calls in operations().items()
            if operation != "exec"
            for name in calls
        )
        names["execve"] = None
        return tuple(("b64", lookup.calls("b64")[name]) for name in names)

    @cached_property
    def far(self) -> tuple[tuple[Arch, int], ...]:
        """The calls whose cost is not near the least, those that matter most first."""
        found = [call for call, one in self.by_call.items() if not one.near]
        return tuple(
            sorted(found, key=lambda call: (-self.histogram.get(call, 0.0), call[0] != "b64", call))
        )

    @property
    def done(self) -> Counter[str]:
        """How many lines each change was made to."""
        return Counter(what for line in self.made.lines for what in line.done)

    @property
    def walked(self) -> tuple[int, int]:
        """How many rules every call walks, before and after."""
        resolved = self.bounds.prices.resolved
        return (
            len(self.bounds.needs.exit),
            sum(not resolved(line.rule).in_a_bucket for line in self.made.lines),
        )
