"""The choice for a budget as a problem: controls with values, limits, and measured points.

Controls are numbers from 0 here, in the profile's order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hardcost.model.workload import MetricId

Kept = frozenset[int]
"""The controls that are on."""


@dataclass(frozen=True)
class Point:
    """A measured choice: by how much each metric exceeds the baseline, in its unit."""

    kept: Kept
    costs: Mapping[MetricId, float]


@dataclass(frozen=True)
class Tradeoff:
    """Which controls to keep.

    `values` say what keeping each is worth, 0 or more; infinite: it has to be kept. `limits` are
    the most that each metric may cost, in its unit; `scales` the metrics' baselines, by which costs
    are made comparable. A control of `needs` is kept only together with the one behind it.
    `alike` are groups that may share work, such as all audit rules. Costs that differ by up to
    `chance` are not distinguishable. `expected` are choices whose costs were not measured, but
    predicted, and perhaps confirmed in groups: a model starts from them, and none is chosen before
    it was measured.
    """

    values: tuple[float, ...]
    limits: Mapping[MetricId, float]
    scales: Mapping[MetricId, float]
    needs: tuple[tuple[int, int], ...] = ()
    alike: tuple[Kept, ...] = ()
    chance: Mapping[MetricId, float] = field(default_factory=dict)
    expected: tuple[Point, ...] = ()

    @property
    def controls(self) -> Kept:
        """All controls."""
        return frozenset(range(len(self.values)))

    @property
    def bound(self) -> Kept:
        """The controls that have to be kept, with their dependencies."""
        return self.closure(at for at, value in enumerate(self.values) if math.isinf(value))

    def closure(self, kept: Iterable[int]) -> Kept:
        """Return controls with those that they need."""
        found = set(kept)
        while more := {need for one, need in self.needs if one in found} - found:
            found |= more
        return frozenset(found)

    def drop_unmet(self, kept: Iterable[int]) -> Kept:
        """Return controls without those that lack one that they need."""
        found = set(kept)
        while lost := {one for one, need in self.needs if one in found and need not in found}:
            found -= lost
        return frozenset(found)

    def without(self, one: int) -> Kept:
        """Return all controls but one, and but those that need it."""
        return self.drop_unmet(self.controls - {one})

    def alone(self, one: int) -> Kept:
        """Return a control with those that it needs."""
        return self.closure({one})

    def with_expected(self, points: Iterable[Point]) -> dict[Kept, Point]:
        """Return measured points, and those expected that were not measured."""
        return {point.kept: point for point in (*self.expected, *points)}

    def value(self, kept: Iterable[int]) -> float:
        """Return the value of keeping some controls; those that have to be kept do not count."""
        return math.fsum(self.values[one] for one in kept if math.isfinite(self.values[one]))

    def use(self, costs: Mapping[MetricId, float]) -> float:
        """Return by how much costs exceed the limits at most, relative to the metric's scale."""
        return max(
            ((costs[metric] - limit) / self.scale(metric) for metric, limit in self.limits.items()),
            default=-math.inf,
        )

    def within(self, costs: Mapping[MetricId, float]) -> bool:
        """Say whether no metric costs more than it may."""
        return all(costs[metric] <= limit for metric, limit in self.limits.items())

    def scale(self, metric: MetricId) -> float:
        """Return the divisor of a metric: its baseline, or 1 where that is 0."""
        return self.scales.get(metric, 1.0) or 1.0

    def price(self, costs: Mapping[MetricId, float]) -> float:
        """Return the cost over all metrics, each relative to its baseline."""
        return math.fsum(cost / self.scale(metric) for metric, cost in costs.items())

    def on_limited_metrics(self, point: Point) -> Point:
        """Return a point with the costs of those metrics alone that have limits, as models do."""
        return Point(point.kept, {metric: point.costs[metric] for metric in self.limits})

    def better(self, one: Point, other: Point | None) -> bool:
        """Say whether a point keeps more than another, or the same for less."""
        if other is None:
            return True
        mine, its = self.value(one.kept), self.value(other.kept)
        if not math.isclose(mine, its, rel_tol=1e-9, abs_tol=1e-12):
            return mine > its
        if len(one.kept) != len(other.kept):
            return len(one.kept) > len(other.kept)
        return self.price(one.costs) < self.price(other.costs) - 1e-12

    def best(self, points: Iterable[Point]) -> Point | None:
        """Return the best of the points that are within the limits; None if none is."""
        found: Point | None = None
        for point in points:
            if self.bound <= point.kept and self.within(point.costs) and self.better(point, found):
                found = point
        return found
