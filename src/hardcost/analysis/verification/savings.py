"""The predicted savings from leaving out groups of controls: audit rules by the cost model, else 0.

A prediction decides which trials are run, and becomes a cost only where trials confirm it. So an
estimate is good enough here: files that no rule watches are taken to lie where no rule looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from auditrules.cost import events
from auditrules.cost.constants import Constants
from auditrules.cost.events import SOME_INODE
from auditrules.cost.predict import Prediction, predict
from auditrules.kernel import semantics
from auditrules.kernel.event import Event
from auditrules.kernel.semantics import BUCKETS, Loaded
from auditrules.kernel.signal_calls import notes_signals
from auditrules.model.kernel_rule import FieldTest, FilterList, KernelRule
from hardcost.analysis.verification.groups import HALF, Group, Predictions
from hardcost.model.workload import MetricId


class PredictedSavings:
    """Savings by the metrics of the workload `syscalls`, in instructions.

    `rules` are those of the profile, in order, each with the index of its control. Leaving out
    controls of other kinds is predicted to save nothing.

    Raises:
        DuplicateError: Two rules are the same, and the kernel would refuse the second.
        UnresolvedError: A rule names a user or group whose number is not known.
    """

    def __init__(self, rules: Sequence[tuple[int, KernelRule]], constants: Constants) -> None:
        self._rules = rules
        self._constants = constants
        self._loaded = semantics.load(rule for _, rule in rules)
        self._calls = {
            MetricId(metric): [_unwatched(events.typical(name), self._loaded) for name in calls]
            for metric, calls in events.operations().items()
        }
        self.controls = {control for control, _ in rules}
        self._kinds = Counter(_kind(rule) for _, rule in rules)
        deciding = {
            (metric, by)
            for metric, calls in self._calls.items()
            for event in calls
            if (by := semantics.decide(self._loaded, event).decided_by) is not None
        }
        self._deciding = {by for _, by in deciding}
        self.firing = {(metric, rules[by][0]) for metric, by in deciding}
        """The rules that decide a typical call: a record's cost is known less well."""

    def __call__(self, group: Group) -> Predictions:
        """Return the saving from leaving out a group of controls, by metric."""
        left_out = [at for at, (control, _) in enumerate(self._rules) if control in group]
        if not left_out:
            return {}
        if len(left_out) == 1 and not self._changes_others(left_out[0]):
            (only,) = left_out
            return {
                metric: sum(one.walking.get(only, 0.0) for one in whole)
                for metric, whole in self._whole.items()
            }
        rest = semantics.load(rule for control, rule in self._rules if control not in group)
        return {
            metric: sum(one.total for one in self._whole[metric])
            - sum(one.total for one in self._predict(calls, rest))
            for metric, calls in self._calls.items()
        }

    def alone(self, control: int) -> Predictions:
        """Return the cost of a control by itself, by metric; {} if it is no rule."""
        rules = [rule for its, rule in self._rules if its == control]
        if not rules:
            return {}
        only = semantics.load(rules)
        return {
            metric: sum(one.total for one in self._predict(calls, only))
            for metric, calls in self._calls.items()
        }

    @cached_property
    def _whole(self) -> dict[MetricId, list[Prediction]]:
        return {
            metric: list(self._predict(calls, self._loaded))
            for metric, calls in self._calls.items()
        }

    def _predict(self, calls: Sequence[Event], loaded: Loaded) -> Iterator[Prediction]:
        return (predict(self._constants, loaded, event) for event in calls)

    def _changes_others(self, at: int) -> bool:
        """Say whether the walk of the other rules, or what all share, may be another without it."""
        rule = self._rules[at][1]
        alone = self._kinds[_kind(rule)] == 1  # the only one of a kind bears the kind's price
        asks = notes_signals([rule]) or "ppid" in _fields(rule)
        return alone or asks or rule.list is not FilterList.EXIT or at in self._deciding


class ExpectedSavings:
    """Predicted savings, in whose place are those of `earlier` bills where the two differ.

    `predicted` is the saving from leaving out a group, `earlier` that of single controls. They
    differ where they are apart by more than `least` on some metric: there `corrections` has by how
    much.
    """

    def __init__(
        self,
        predicted: Callable[[Group], Predictions],
        earlier: Mapping[int, Predictions],
        least: Predictions,
    ) -> None:
        self._predicted = predicted
        all_corrections = {
            one: {metric: cost - alone.get(metric, 0.0) for metric, cost in costs.items()}
            for one, costs in earlier.items()
            for alone in [predicted(frozenset({one}))]
        }
        self.corrections: Mapping[int, Predictions] = {
            one: by
            for one, by in all_corrections.items()
            if any(abs(it) > max(least.get(metric, 0.0), HALF) for metric, it in by.items())
        }

    def __call__(self, group: Group) -> Predictions:
        """Return the saving from leaving out a group of controls, by metric."""
        found = dict(self._predicted(group))
        for one in sorted(group & self.corrections.keys()):
            for metric, by in self.corrections[one].items():
                found[metric] = found.get(metric, 0.0) + by
        return found


def _kind(rule: KernelRule) -> tuple[object, ...]:
    return rule.list, rule.in_a_bucket, bool(_fields(rule) & {"path", "dir", "inode"})


def _fields(rule: KernelRule) -> set[str]:
    return {one.field for one in rule.conditions if isinstance(one, FieldTest)}


def _unwatched(event: Event, loaded: Loaded) -> Event:
    """Return a call whose files lie in a bucket without rules, if there is one."""
    free = next((number for number in range(BUCKETS) if not loaded.buckets[number]), None)
    if free is None:
        return event
    names = tuple(
        replace(name, file=name.file._replace(inode=free))
        if name.file.inode == SOME_INODE
        else name
        for name in event.names
    )
    return replace(event, names=names)
