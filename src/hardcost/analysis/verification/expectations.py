"""What leaving out groups of controls is expected to save, and which groups are off.

The expectation is the prediction, in whose place is what was measured where the two differ, with
what no single control saves: two together, on a daemon's calls. A group is off where it saves
other than expected, and that is not chance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hardcost.analysis.estimates.estimates import Estimate, on_grid
from hardcost.analysis.verification.groups import HALF, Group, Predictions
from hardcost.model.workload import MetricId

Savings = Mapping[MetricId, Estimate]
"""What leaving out a group saved, by metric."""


@dataclass
class Expectations:
    """The groups that were weighed so far, the controls that were measured by themselves.

    `controls` are all that are weighed, the others as in `WeighingTask`. `explained` are groups
    that are off on a metric for no single control's sake, `chance` is by how much groups may be off
    where they showed that it is more than placebos say. `together` is what pairs of controls save
    beyond their sum, `daemons_calls` how many calls of a daemon a metric's call brings.
    """

    controls: tuple[int, ...]
    predicted: Callable[[Group], Predictions]
    least_of_placebos: Predictions
    plain: MetricId | None
    groups: dict[Group, Savings] = field(default_factory=dict)
    single: dict[int, Savings] = field(default_factory=dict)
    explained: set[tuple[Group, MetricId]] = field(default_factory=set)
    chance: dict[MetricId, float] = field(default_factory=dict)
    together: dict[MetricId, dict[Group, float]] = field(default_factory=dict)
    daemons_calls: dict[MetricId, float] = field(default_factory=dict)
    _predicted: dict[Group, Predictions] = field(default_factory=dict)
    _wrong: dict[MetricId, frozenset[int]] = field(default_factory=dict)  # kept until more is known

    def learn(self, group: Group, saved: Savings) -> None:
        """Take what leaving out a group, or a single control, saved."""
        if len(group) == 1:
            self.single[next(iter(group))] = saved
            self._wrong.clear()
        else:
            self.groups[group] = saved

    def weighed(self, metric: MetricId) -> list[Group]:
        """Return the groups that say something about a metric: those that were not set aside."""
        return [one for one in self.groups if (one, metric) not in self.explained]

    def allow(self, metric: MetricId, chance: float) -> None:
        """Take it that groups may be off by so much by chance, if it is more than known."""
        self.chance[metric] = max(self.least(metric), chance)
        self._wrong.pop(metric, None)

    def save_together(self, pair: Group, metric: MetricId, saving: float) -> None:
        """Take it that two controls save so much beyond their sum, and what was known of them."""
        of_pairs = self.together.setdefault(metric, {})
        of_pairs[pair] = of_pairs.get(pair, 0.0) + saving

    def wake_daemon(self, metric: MetricId, calls: float) -> None:
        """Take it that a metric's call brings so many calls of a daemon, beside those known."""
        self.daemons_calls[metric] = self.daemons_calls.get(metric, 0.0) + calls
        self._wrong.pop(metric, None)

    def off(self, metric: MetricId) -> dict[Group, float]:
        """Return by how much groups saved other than expected, where that is not chance."""
        found = {}
        for group, savings in self.groups.items():
            saved = savings.get(metric)
            if saved is None or (group, metric) in self.explained:
                continue
            expected = self._expected(group, metric)
            if self._differs(saved, expected, metric, len(self.corrected(group, metric))):
                found[group] = saved.value - expected
        return found

    def in_order(self, metric: MetricId) -> list[Group]:
        """Return the groups that saved what was expected."""
        off = self.off(metric)
        return [one for one in self.weighed(metric) if one not in off]

    def residual(self, group: Group, metric: MetricId) -> float:
        """Return by how much a group saved more than expected."""
        return self.groups[group][metric].value - self._expected(group, metric)

    def is_wrong(self, one: int, metric: MetricId) -> bool:
        """Say whether a measured control saves other than predicted."""
        return one in self._wrong_on(metric)

    def is_wrong_anywhere(self, one: int) -> bool:
        """Say whether it does on any metric."""
        return any(self.is_wrong(one, metric) for metric in self.least_of_placebos)

    def pairs_of_wrong(self) -> list[Group]:
        """Return the pairs of controls that were found to be wrong on any metric."""
        wrong = [one for one in sorted(self.single) if self.is_wrong_anywhere(one)]
        return [frozenset(one) for one in itertools.combinations(wrong, 2)]

    @property
    def unknown(self) -> list[int]:
        """The controls that were not measured by themselves."""
        return [one for one in self.controls if one not in self.single]

    def unknown_of(self, group: Group) -> list[int]:
        """Return the controls of a group that were not measured by themselves, in order."""
        return sorted(one for one in group if one not in self.single)

    def predict(self, group: Group, metric: MetricId) -> float:
        """Return the predicted saving of a group, on a daemon's calls, too."""
        calls = self.daemons_calls.get(metric, 0.0)
        more = calls * self.model(group, self.plain) if calls and self.plain else 0.0
        return self.model(group, metric) + more

    def model(self, group: Group, metric: MetricId) -> float:
        """Return the predicted saving of a group, which no group has corrected."""
        if group not in self._predicted:
            self._predicted[group] = self.predicted(group)
        return self._predicted[group].get(metric, 0.0)

    def least(self, metric: MetricId) -> float:
        """Return the smallest saving of a group that is distinguishable from chance."""
        return max(self.least_of_placebos[metric], self.chance.get(metric, 0.0))

    def moves(self, metric: MetricId) -> bool:
        """Say whether chance has a part in a metric."""
        return self.least_of_placebos[metric] > HALF

    def tolerance(self, metric: MetricId) -> float:
        """Return `least`, or half an instruction if that is more."""
        return max(self.least(metric), HALF)

    def allowance(self, group: Group, metric: MetricId) -> float:
        """Return by how much a group may save other than expected, by chance."""
        return max(HALF, self._chance_of(group, metric))

    def half(self, group: Group, metric: MetricId) -> float:
        """Return to within what a group that is in order confirms its sum."""
        return on_grid(self._chance_of(group, metric))

    def _chance_of(self, group: Group, metric: MetricId) -> float:
        """Return what chance does to a group's sum: each measured saving in it has a part."""
        saved = self.groups[group][metric]
        wider = math.sqrt(1 + len(self.corrected(group, metric)))
        spread = max(saved.high - saved.value, saved.value - saved.low)
        return wider * max(self.least(metric), spread)

    def corrected(self, group: Group, metric: MetricId) -> list[int]:
        """Return a group's controls whose prediction was found to be wrong."""
        return sorted(self._wrong_on(metric) & group)

    def _wrong_on(self, metric: MetricId) -> frozenset[int]:
        """Return the measured controls that save other than predicted on a metric."""
        if metric not in self._wrong:
            self._wrong[metric] = frozenset(
                one
                for one, savings in self.single.items()
                if (saved := savings.get(metric)) is not None
                and self._differs(saved, self.predict(only(one), metric), metric)
            )
        return self._wrong[metric]

    def _expected(self, group: Group, metric: MetricId) -> float:
        """Return the predicted saving of a group, with measured ones in place of wrong ones.

        What measured ones save together joins them.
        """
        corrections = (
            self.single[one][metric].value - self.predict(only(one), metric)
            for one in self.corrected(group, metric)
        )
        together = (by for pair, by in self.together.get(metric, {}).items() if pair <= group)
        return self.predict(group, metric) + math.fsum(corrections) + math.fsum(together)

    def _differs(
        self, saved: Estimate, expected: float, metric: MetricId, corrected: int = 0
    ) -> bool:
        """Say whether a saving is another than expected, and not by chance.

        The expectation has so many `corrected` predictions in it, each by a measurement in which
        chance has a part, too.
        """
        by = saved.value - expected
        half = saved.value - saved.low if by > 0 else saved.high - saved.value
        wider = math.sqrt(1 + corrected)
        return abs(by) > max(HALF, wider * max(self.least(metric), half))


def only(one: int) -> Group:
    """Return the group of one control."""
    return frozenset({one})
