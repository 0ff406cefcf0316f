"""By how much each metric grew from one state to a later one, and by which lines."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from auditrules.model.location import Location
from hardcost.model.role import Role
from hardcost.model.workload import MetricId
from hardcost.units import is_rate

How = Literal["measured", "predicted"]
HowPart = Literal["measured", "verified", "predicted"]


class Change(StrEnum):
    """How a line changed."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    """Both states have it, and it costs more or less."""


@dataclass(frozen=True)
class ChangeLine:
    """A line of the change: a control, and its location, None where it is not known.

    `accepted`: a comment above it says that its cost is accepted.
    """

    place: Location | None
    control: str
    change: Change
    accepted: bool = field(default=False, compare=False)

    @property
    def named(self) -> str:
        """The location, or the control where that is not known."""
        return self.control if self.place is None else str(self.place)


@dataclass(frozen=True)
class Contribution:
    """The cost of a line of the change, in the metric's unit; [low, high] is its interval.

    `known` says how: `measured` by leaving out this line; `verified`: it was predicted, and trials
    that left out groups of lines with this one confirmed it; or `predicted`.
    """

    line: ChangeLine
    cost: float
    low: float
    high: float
    known: HowPart = "measured"


@dataclass(frozen=True)
class Growth:
    """One metric, earlier and later.

    `base` and `head` are its values in `unit`; [low, high] is the interval of their difference. A
    difference of up to `least` is not distinguishable from chance. `before` and `after` are what
    each state costs over the same without its controls, None where that is not known. `parts` are
    the lines of the change, those that add most first; `fixed` is the price of having any audit
    rule, if one state alone has some, and None where that is not known. `rest` is what these don't
    explain: parts, fixed and rest add up to the difference. `unpriced` are lines whose part is not
    predicted, each with why; it is in the rest. `configuration` is None where two states are
    compared, each a whole. `limit` is the largest share of `base` by which it may grow, None if it
    has none.
    """

    metric: MetricId
    unit: str
    base: float
    head: float
    low: float
    high: float
    least: float = 0.0
    before: float | None = None
    after: float | None = None
    parts: tuple[Contribution, ...] = ()
    configuration: Role | None = None
    limit: float | None = None
    fixed: float | None = None
    unpriced: tuple[tuple[ChangeLine, str], ...] = ()

    @property
    def name(self) -> str:
        """The metric, with the configuration if there are several."""
        return _metric_name(self.metric, self.configuration)

    @property
    def difference(self) -> float:
        """By how much the value grew."""
        return self.head - self.base

    @property
    def rest(self) -> float:
        """The growth that the lines do not explain: other lines, order, and interaction."""
        return self.difference - math.fsum((self.fixed or 0.0, *(one.cost for one in self.parts)))

    @property
    def share(self) -> float:
        """The growth of the cost as a part of the earlier value: of a rate, how much fell."""
        if self.base <= 0 or not math.isfinite(self.base + self.head):
            return math.nan if not self.base == 0 < self.head else math.inf
        return self._worse(self.difference) / self.base + 0.0

    @property
    def accepted(self) -> float:
        """The cost of lines for which it is accepted; it counts for no limit."""
        own = (one.cost for one in self.parts if one.line.accepted and self._worse(one.cost) > 0)
        return math.fsum(own)

    def _worse(self, value: float) -> float:
        return -value if is_rate(self.unit) else value

    @property
    def distinguishable(self) -> bool:
        """Whether the difference is more than chance could produce."""
        return abs(self.difference) > self.least and not self.low <= 0 <= self.high

    @property
    def exceeds(self) -> bool:
        """Whether the value is beyond the limit, be it by chance or not."""
        if self.limit is None or not self.share > self.limit:
            return False
        if not self.accepted:
            return True
        rest = self._worse(self.difference - self.accepted)
        return rest > max(self.least, self.limit * self.base)

    @property
    def over(self) -> bool:
        """Whether it is over its limit."""
        return self.exceeds and self.distinguishable


@dataclass(frozen=True)
class Unknown:
    """A metric without a number, and why; `configuration` is as in `Growth`."""

    metric: MetricId
    why: str
    configuration: Role | None = None

    @property
    def name(self) -> str:
        """The metric, with the configuration if there are several."""
        return _metric_name(self.metric, self.configuration)

    def __str__(self) -> str:
        return f"{self.name} ({self.why})"


@dataclass(frozen=True)
class Gate:
    """All metrics of two states, with their limits.

    `base` and `head` are the states as the user named them. `conditions` say under what the numbers
    hold, such as the instrument and the kernel. `unknown` are metrics without a number, each with
    why; `lines` the lines of the change, whatever they cost. `warnings` say why the numbers may not
    be comparable. `strict`: these, and what is beyond a limit perhaps by chance, are a "no".
    """

    base: str
    head: str
    how: How
    conditions: tuple[str, ...]
    growths: tuple[Growth, ...]
    lines: tuple[ChangeLine, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    runs: tuple[str, ...] = field(default=())
    strict: bool = False

    @property
    def failed(self) -> bool:
        """Whether the answer is "no"."""
        return bool(self.over or (self.strict and (self.unclear or self.warnings)))

    @property
    def over(self) -> tuple[Growth, ...]:
        """The metrics over their limits, the largest growth first."""
        return tuple(sorted((one for one in self.growths if one.over), key=lambda one: -one.share))

    @property
    def unclear(self) -> tuple[Growth, ...]:
        """The metrics that are beyond their limits perhaps by chance."""
        return tuple(one for one in self.growths if one.exceeds and not one.over)

    @property
    def changed(self) -> tuple[Growth, ...]:
        """The metrics that differ, the largest growth first."""
        found = (one for one in self.growths if one.difference)
        return tuple(sorted(found, key=lambda one: (not one.over, -_sortable(one.share))))

    @property
    def any_rule(self) -> Growth | None:
        """The metric of which the price of having any audit rule is most; None if it is 0."""
        paid = [one for one in self.growths if one.fixed]
        return max(paid, key=lambda one: abs(_of(one, one.fixed or 0.0)), default=None)

    @property
    def counted(self) -> tuple[ChangeLine, ...]:
        """The lines that add to a metric, or take from it."""
        return tuple(line for line in self.lines if self.parts_of(line))

    @property
    def counted_of_head(self) -> tuple[ChangeLine, ...]:
        """Those of them that are in the later state, and whose cost no comment accepts."""
        return tuple(
            line for line in self.counted if line.change is not Change.REMOVED and not line.accepted
        )

    @property
    def accepted(self) -> tuple[ChangeLine, ...]:
        """The lines that add to a metric, and whose cost a comment accepts."""
        return tuple(line for line in self.counted if line.accepted)

    def parts_of(self, line: ChangeLine) -> tuple[tuple[Growth, Contribution], ...]:
        """Return the costs of a line by metric, the largest share of the metric first."""
        found = [(one, part) for one in self.growths for part in one.parts if part.line == line]
        return tuple(sorted(found, key=lambda each: -abs(_of(each[0], each[1].cost))))

    def metrics_exceeded_by(self, line: ChangeLine) -> tuple[Growth, ...]:
        """Return the metrics over their limits to which a line adds."""
        return tuple(
            growth
            for growth, part in self.parts_of(line)
            if growth.over and not line.accepted and _of(growth, part.cost) > 0
        )

    @property
    def unexplained(self) -> tuple[Growth, ...]:
        """The metrics over their limits to which no line of the change adds."""
        blamed = {one.name for line in self.lines for one in self.metrics_exceeded_by(line)}
        return tuple(one for one in self.over if one.name not in blamed)


def _metric_name(metric: MetricId, configuration: Role | None) -> str:
    return str(metric) if configuration is None else f"{configuration}: {metric}"


def _of(growth: Growth, cost: float) -> float:
    """Return a cost as a part of the earlier value; above zero it makes the metric worse."""
    worse = -cost if is_rate(growth.unit) else cost
    return worse / growth.base if growth.base > 0 else worse


def _sortable(share: float) -> float:
    return -math.inf if math.isnan(share) else share
