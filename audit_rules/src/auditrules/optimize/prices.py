"""The costs of rules under the cost model: each by itself, and a whole set, for every call.

A rule's cost to a call that matches none does not depend on its position, so a change to a few
rules can be judged by these alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from auditrules.cost.call_classes import kind
from auditrules.cost.constants import Constants
from auditrules.cost.events import SOME_INODE, events
from auditrules.cost.predict import Histogram
from auditrules.kernel.event import Event, FileId
from auditrules.kernel.field_tests import holds
from auditrules.kernel.semantics import BUCKETS, Loaded, arrange, bucket_of
from auditrules.model.kernel_rule import Condition, FieldTest, KernelRule
from auditrules.optimize.set_costs import ConditionTests, SetCosts
from auditrules.tables.lookup import Arch

_ABSENT = -2
"""ENOENT: how a call on a file most often fails."""

_DEVICE = (8, 1)
"""The device of all files that rules name."""

_NOBODY = 4_000_000_000
"""Unresolved users and groups have numbers from here on, in the model only."""

Tested = tuple[tuple[bool, float], ...]
"""For each condition whether it holds for a call, and the cost of testing it (instructions)."""

TOLERANCE = 1e-6  # instructions; sums of the same constants in another order differ by less


def no_directory(_path: str) -> bool:
    """Say that no directory lies at a path."""
    return False


@dataclass(frozen=True)
class PricedCall:
    """A call for which rules are priced, and how often the workload makes it.

    Calls of one `kind` are equivalent for all rules that name them, and for all others.
    """

    event: Event
    weight: float
    kind: int


@dataclass
class Prices:
    """The cost model, with the calls that are priced and the weight of each.

    `typical` are the typical calls of all numbers that have a name; `failing` those of b64 where
    they fail because a file is not there. `likely_directory` says how to price a
    watch of unknown kind.
    """

    constants: Constants
    histogram: Histogram
    b32: bool = True
    likely_directory: Callable[[str], bool] = no_directory
    typical: tuple[PricedCall, ...] = ()
    failing: tuple[PricedCall, ...] = ()
    by_number: dict[int, list[PricedCall]] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)
    _files: dict[str, FileId] = field(default_factory=dict)
    _resolved: dict[KernelRule, KernelRule] = field(default_factory=dict)
    _alone: dict[KernelRule, SetCosts] = field(default_factory=dict)
    _sets: dict[tuple[KernelRule, ...], SetCosts] = field(default_factory=dict)
    _costs: dict[tuple[KernelRule, int, bool], float] = field(default_factory=dict)
    _conditions: dict[tuple[tuple[Condition, ...], int], Tested] = field(default_factory=dict)
    _kinds: dict[Hashable, int] = field(default_factory=dict)
    _seen: dict[int, tuple[Event, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        arches: tuple[Arch, ...] = ("b64", "b32") if self.b32 else ("b64",)
        self.typical = tuple(
            self._case(event, self.histogram.get((arch, event.call), 0.0))
            for arch in arches
            for event in events(arch).values()
        )
        self.failing = tuple(
            self._case(replace(case.event, exit=_ABSENT), 0.0)
            for case in self.typical
            if case.event.exit is not None and case.event.arch == "b64"
        )
        for case in (*self.typical, *self.failing):
            self.by_number.setdefault(case.event.call, []).append(case)

    def _case(self, event: Event, weight: float) -> PricedCall:
        return PricedCall(event, weight, self.kind(event))

    def kind(self, event: Event) -> int:
        """Return a number that equivalent calls share (`cost.alike.kind`)."""
        if id(event) not in self._seen:
            number = self._kinds.setdefault(kind(event), len(self._kinds))
            self._seen[id(event)] = event, number  # while it is stored, no other object has its id
        return self._seen[id(event)][1]

    @cached_property
    def weight(self) -> float:
        """The weight of all typical calls together."""
        return sum(case.weight for case in self.typical)

    def arrange_rules(self, rules: Iterable[KernelRule]) -> Loaded:
        """Return rules as the kernel arranges them, prepared for the model.

        Every path in a rule exists, every unresolved user and group has a unique number, and a
        watch of unknown kind has its likely kind.
        """
        taken: dict[KernelRule, KernelRule] = {}
        for rule in map(self.resolve_rule, rules):
            same = replace(rule, prepend=False) if rule.prepend else rule
            while same in taken:  # two ways to write one rule, if its kind is the likely one
                rule = replace(rule, key=f"{rule.key}+")  # noqa: PLW2901  (priced as another)
                same = replace(rule, prepend=False)
            taken[same] = rule
        return arrange(tuple(taken.values()), MappingProxyType(self._files))

    def resolve_rule(self, rule: KernelRule) -> KernelRule:
        """Return a rule whose users and groups are numbers, and whose kind is settled.

        Its paths exist from now on.
        """
        if rule not in self._resolved:
            settled = rule
            if rule.watch is not None:
                settled = rule.with_kind(directory=self.likely_directory(rule.watch))
            conditions = tuple(map(self._with_number, settled.conditions))
            same = conditions == settled.conditions
            self._resolved[rule] = settled if same else replace(settled, conditions=conditions)
        return self._resolved[rule]

    def _with_number(self, test: Condition) -> Condition:
        if not isinstance(test, FieldTest):
            return test
        if test.field in {"path", "dir", "exe"}:
            at = len(self._files)
            self._files.setdefault(str(test.value), FileId(*_DEVICE, 1_000_000 + at))
        if isinstance(test.value, str) and _is_id(test.field):
            number = self._names.setdefault(test.value, _NOBODY + len(self._names))
            return replace(test, value=number)
        return test

    def of_rule(self, rule: KernelRule, event: Event) -> float:
        """Return the cost of one rule by itself for a call (instructions)."""
        if rule.watch is not None:
            rule = self.resolve_rule(rule)
        named = rule.names(event.call)
        if not named and not rule.in_a_bucket:
            return self.constants.walk["unnamed"]
        known = rule, self.kind(event), named
        if known not in self._costs:
            self._costs[known] = (
                self._by_itself(rule).walk(event, self.kind(event)).cost
                if named
                else self.constants.walk["unnamed"] * self._files_in_bucket(rule, event)
            )
        return self._costs[known]

    def _by_itself(self, rule: KernelRule) -> SetCosts:
        if rule not in self._alone:
            self._alone[rule] = self.set_costs([replace(rule, prepend=False)])
        return self._alone[rule]

    def _files_in_bucket(self, rule: KernelRule, event: Event) -> float:
        """Return the expected number of visited files in a rule's bucket."""
        bucket = bucket_of(self.resolve_rule(rule), self._files)
        inodes = [name.file.inode for name in event.names]
        unknown = inodes.count(SOME_INODE)
        known = sum(inode % BUCKETS == bucket for inode in inodes if inode != SOME_INODE)
        return known + unknown / BUCKETS

    def of_conditions(self, rule: KernelRule, event: Event) -> Tested:
        """Return for each condition whether it holds for a call, and the cost of testing it."""
        known = rule.conditions, self.kind(event)
        if known not in self._conditions:
            self._conditions[known] = tuple(self._test_costs(rule, event))
        return self._conditions[known]

    def _test_costs(self, rule: KernelRule, event: Event) -> Iterator[tuple[bool, float]]:
        walk = self.constants.walk
        for condition in self.resolve_rule(rule).conditions:
            alone = replace(rule, conditions=(condition,), key="")
            cost = self.of_rule(alone, event) - walk["enter"]
            held = holds(condition, event, None, self._files)
            yield held, cost - walk["matched"] if held else cost

    def of_rules(self, rules: Sequence[KernelRule], event: Event) -> float:
        """Return the cost of rules for a call that none of them matches (instructions)."""
        return sum(self.of_rule(rule, event) for rule in rules)

    def of_cases(self, rules: Sequence[KernelRule], cases: Iterable[PricedCall]) -> list[float]:
        """Return for each case the cost by `of_rules`."""
        by_mask: dict[tuple[int, bool], list[KernelRule]] = {}
        for rule in rules:
            by_mask.setdefault((rule.mask, rule.in_a_bucket), []).append(rule)
        known: dict[tuple[int, bool, int], float] = {}
        unnamed = self.constants.walk["unnamed"]
        costs = []
        for case in cases:
            cost = 0.0
            for at, ((mask, in_a_bucket), alike) in enumerate(by_mask.items()):
                named = bool(mask >> case.event.call & 1)
                if not named and not in_a_bucket:
                    cost += unnamed * len(alike)
                    continue
                like = at, named, case.kind
                if like not in known:
                    known[like] = self.of_rules(alike, case.event)
                cost += known[like]
            costs.append(cost)
        return costs

    def mean(self, rules: Sequence[KernelRule]) -> float:
        """Return the cost of rules for the workload's mean call, where none of them decides."""
        total = sum(self.of_rules(rules, case.event) * case.weight for case in self._weighty)
        return total / self.weight if self.weight else 0.0

    @cached_property
    def _weighty(self) -> tuple[PricedCall, ...]:
        return tuple(case for case in self.typical if case.weight)

    def mean_of(self, costs: Mapping[tuple[Arch, int], float]) -> float:
        """Return the workload's mean of costs by call."""
        counted = {call: count for call, count in self.histogram.items() if call in costs}
        total = sum(costs[call] * count for call, count in counted.items())
        return total / (sum(counted.values()) or 1.0)

    def of_set(self, rules: Sequence[KernelRule]) -> Mapping[tuple[Arch, int], float]:
        """Return the cost of a whole set for each typical call: walk and record (instructions)."""
        known = tuple(rules)
        if known not in self._sets:
            self._sets[known] = self.set_costs(known)
        costs = self._sets[known]
        return {
            (case.event.arch, case.event.call): costs.cost(case.event, case.kind)
            for case in self.typical
        }

    def set_costs(self, rules: Iterable[KernelRule]) -> SetCosts:
        """Return the walks of calls under a whole set."""
        return SetCosts(self._tests, self.arrange_rules(rules))

    @cached_property
    def _tests(self) -> ConditionTests:
        return ConditionTests(self.constants)


def _is_id(name: str) -> bool:
    return name.endswith(("uid", "gid"))
