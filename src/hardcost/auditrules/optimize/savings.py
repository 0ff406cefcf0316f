"""What a cheaper set saves: each call's cost before and after, and the least possible."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hardcost.auditrules.cost.events import operations
from hardcost.auditrules.optimize import never
from hardcost.auditrules.optimize.bound import Bounds, Reached
from hardcost.auditrules.optimize.prices import TOLERANCE, Prices
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hardcost.auditrules.cost.constants import Constants
    from hardcost.auditrules.cost.predict import Histogram
    from hardcost.auditrules.optimize.optimise import Optimised
    from hardcost.auditrules.tables.lookup import Arch

NEAR = 1.1
"""A cost is near the least if it is not above this many times that."""


@dataclass(frozen=True)
class Costs:
    """What the rules cost one call, or all of a workload on average, in instructions.

    `least` is None if it was not computed in time.
    """

    before: float
    after: float
    least: float | None

    @property
    def near(self) -> bool:
        """Whether the cost after is known to be near the least."""
        return self.least is not None and self.after <= self.least * NEAR + TOLERANCE


class OutOfTimeError(Exception):
    """The time for computing the least is over."""


class Clock:
    """The processor time that was spent on the least, and how much it may be, in seconds.

    `tell` is called regularly with the time spent; `now` returns the processor time.
    """

    def __init__(
        self,
        limit: float | None,
        tell: Callable[[float], None] = lambda _spent: None,
        now: Callable[[], float] = time.process_time,
    ) -> None:
        self.limit, self.spent = limit, 0.0
        self._tell, self._now = tell, now
        self._started: float | None = None

    def check(self) -> None:
        """Take the time; the first call starts the clock.

        Raises:
            OutOfTimeError: The limit is reached.
        """
        now = self._now()
        if self._started is None:
            self._started = now
        self.spent = now - self._started
        if self.limit is not None and self.spent >= self.limit:
            raise OutOfTimeError
        self._tell(self.spent)


class Savings:
    """A cheaper set under a workload.

    `clock` bounds the computation of the least. Displayed calls and those of the workload come
    first; what is not computed in time stays None.
    """

    def __init__(
        self,
        made: Optimised,
        constants: Constants,
        histogram: Histogram,
        clock: Clock | None = None,
    ) -> None:
        self.made, self.histogram, self.clock = made, histogram, clock or Clock(None)
        prices = Prices(constants, histogram, made.options.b32, made.options.likely_directory)
        self.bounds = Bounds(made.original, prices, self.clock.check)
        self.needed: int | None = None
        self._alone: dict[tuple[Arch, int], float] = {}

    @property
    def least(self) -> Mapping[tuple[Arch, int], float]:
        """The least that each call by itself can cost, as far as it was computed."""
        self.work_out()
        return self._alone

    def work_out(self) -> None:
        """Compute the least costs, within the limit of the clock."""
        _ = self.by_call

    @cached_property
    def by_call(self) -> Mapping[tuple[Arch, int], Costs]:
        """All calls that have a name; `least` is that of sets that cost no weightier call more."""
        least: dict[tuple[Arch, int], float] = {}
        with contextlib.suppress(OutOfTimeError):
            least.update(self._least_of_each())
        return {
            call: Costs(self.made.before[call], after, least.get(call))
            for call, after in self.made.after.items()
        }

    def _least_of_each(self) -> Iterator[tuple[tuple[Arch, int], float]]:
        """Yield the least of each call, the most important first.

        Raises:
            OutOfTimeError: The clock's limit is reached.
        """
        self.clock.check()
        self.needed = len(self.bounds.needs.everywhere)
        weighty = sorted(
            (call for call in self.histogram if call in self.made.after),
            key=lambda call: -self.histogram[call],
        )
        for call in weighty:
            self._by_itself(call)
        reached = Reached(self.made.before, self.made.after, dict(self._alone))
        for call in dict.fromkeys((*self.shown, *weighty, *self.made.after)):
            if call in self.made.after:
                alone = self._by_itself(call)
                one = Costs(self.made.before[call], self.made.after[call], alone)
                yield call, alone if one.near else self._least(call, reached)

    def _by_itself(self, call: tuple[Arch, int]) -> float:
        if call not in self._alone:
            self.clock.check()
            self._alone[call] = self._least(call, None)
        return self._alone[call]

    @property
    def worked_out(self) -> int:
        """For how many calls the least is known."""
        return sum(one.least is not None for one in self.by_call.values())

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
        least = [one.least * count for one, count in calls if one.least is not None]
        return Costs(
            sum(one.before * count for one, count in calls) / total,
            sum(one.after * count for one, count in calls) / total,
            sum(least) / total if len(least) == len(calls) else None,
        )

    @cached_property
    def shown(self) -> tuple[tuple[Arch, int], ...]:
        """The calls that the operations of the workload `syscalls` make."""
        names = dict.fromkeys(name for calls in operations().values() for name in calls)
        return tuple(("b64", lookup.calls("b64")[name]) for name in names)

    @cached_property
    def far(self) -> tuple[tuple[Arch, int], ...]:
        """The calls whose cost is not near the least, the most important first."""
        known = {call: one for call, one in self.by_call.items() if one.least is not None}
        found = [call for call, one in known.items() if not one.near]
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
