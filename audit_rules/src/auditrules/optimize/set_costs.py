"""What calls pay under a whole set, found by what rules and calls have in common.

`cost.predict` walks all rules for each call. Here conditions are tested once for each kind of call
(`cost.call_classes.kind`) and for all sets; a walk looks at the rules that name the call, and
counts the others. The costs are those of `predict.price_walk`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from auditrules.cost.constants import Constants
from auditrules.cost.events import SOME_INODE
from auditrules.cost.predict import (
    RuleTest,
    expected_test,
    has_counted_rules,
    match_cost,
    price_test,
    record_cost,
)
from auditrules.kernel.event import Event
from auditrules.kernel.records import SYSCALL, dropped_by
from auditrules.kernel.semantics import (
    BUCKETS,
    Loaded,
    excluding_rules,
    exempted_by,
    hiding_tests,
    without_hidden_names,
)
from auditrules.model.kernel_rule import Action, Condition, FilterList, KernelRule, bits

_LIST = -1
"""Instead of a visited file's place: a rule is tested in the exit list."""

_AS_IT_IS = "as it is"
"""How a call's files are seen that are not priced."""

Tests = dict[tuple[int, int, int], RuleTest]
"""Results of tests, by the numbers of the conditions, of the call's kind and of the file."""


@dataclass
class ConditionTests:
    """The tests that were made, for all sets."""

    constants: Constants
    _numbers: dict[tuple[Condition, ...], int] = field(default_factory=dict)
    _by_rule: dict[KernelRule, int] = field(default_factory=dict)
    _made: dict[Hashable, Tests] = field(default_factory=dict)
    met: dict[Hashable, Event] = field(default_factory=dict)

    def number(self, rule: KernelRule) -> int:
        """Return a number that rules with the same conditions in the same order share."""
        if rule not in self._by_rule:
            number = self._numbers.setdefault(rule.conditions, len(self._numbers))
            self._by_rule[rule] = number
        return self._by_rule[rule]

    def of(self, seen: Hashable) -> Tests:
        """Return the tests of calls whose files are seen in one way."""
        return self._made.setdefault(seen, {})


@dataclass
class Walk:
    """A call's walk so far: its cost (instructions), and the rule that decides (index).

    `ended_by` is the rule at which the walk of the list ended, None if it went to the list's end.
    """

    cost: float = 0.0
    decided_by: int | None = None
    ended_by: int | None = None
    key: str = ""
    asks_parent: bool = False


class SetCosts:
    """The walks of calls under a set, and their costs; equivalent calls are walked once."""

    def __init__(self, tests: ConditionTests, loaded: Loaded) -> None:
        self.tests, self.loaded, self.constants = tests, loaded, tests.constants
        self.numbers = [tests.number(rule) for rule in loaded.rules]
        self.listed = loaded.lists[FilterList.EXIT]
        self.place = {index: at for at, index in enumerate(self.listed)}
        self._in_buckets = [index for bucket in loaded.buckets for index in bucket]
        self._free = next((at for at, bucket in enumerate(loaded.buckets) if not bucket), None)
        self._hiding = hiding_tests(loaded)
        self._excluding = excluding_rules(loaded)
        self._named: dict[int, tuple[int, int]] = {}
        self._at: dict[int, tuple[int, ...]] = {}
        self._walks: dict[Hashable, Walk] = {}
        self._sums: dict[tuple[int, int], tuple[float, bool]] = {}

    def cost(self, event: Event, kind: int) -> float:
        """Return the cost of the rules for a call: walk and record (instructions)."""
        walk = self.walk(event, kind)
        if walk.decided_by is None or not self._is_recorded(walk, event):
            return walk.cost
        return walk.cost + record_cost(self.constants, self.loaded, event, walk.key)

    def walk(self, event: Event, kind: int) -> Walk:
        """Return the walk of a call of a kind, as `predict.price_walk` prices it."""
        key = "priced", self._named_by(event.call), kind
        if key not in self._walks:
            self._walks[key] = self._price(event, kind)
        return self._walks[key]

    def decided_by(self, event: Event, kind: int) -> int | None:
        """Return the rule that decides about a call (`semantics.decide`), by index."""
        key = "decided", self._named_by(event.call), kind
        if key not in self._walks:
            met = without_hidden_names(self.loaded, event)
            self._walks[key] = self._meet(event, met, kind, _AS_IT_IS)
        return self._walks[key].decided_by

    def _is_recorded(self, walk: Walk, event: Event) -> bool:
        if walk.decided_by is None or self.loaded.rules[walk.decided_by].action is Action.NEVER:
            return False
        if not self._excluding:
            return True
        return dropped_by(self._excluding, event, SYSCALL, self.loaded.files) is None

    # Which rules name a call ----------------------------------------------------------------------

    def _named_by(self, call: int) -> tuple[int, int]:
        """Return the rules that name a call, as bits: by position in the list, and in buckets."""
        if call not in self._named:
            listed, others = self._masks
            self._named[call] = (
                sum(found for mask, found in listed.items() if mask >> call & 1),
                sum(1 << at for at, mask in enumerate(others) if mask >> call & 1),
            )
        return self._named[call]

    @cached_property
    def _masks(self) -> tuple[dict[int, int], dict[int, list[int]]]:
        """The masks in the list, with the positions of their rules as bits; those in buckets."""
        listed: dict[int, int] = {}
        for position, index in enumerate(self.listed):
            mask = self.loaded.rules[index].mask
            listed[mask] = listed.get(mask, 0) | 1 << position
        others: dict[int, list[int]] = {}
        for index in self._in_buckets:
            others.setdefault(self.loaded.rules[index].mask, []).append(index)
        return listed, others

    def _positions(self, named: int) -> tuple[int, ...]:
        if named not in self._at:
            self._at[named] = bits(named)
        return self._at[named]

    # The walk -------------------------------------------------------------------------------------

    def _price(self, event: Event, kind: int) -> Walk:
        if not has_counted_rules(self.loaded):
            return Walk()
        if self.loaded.lists[FilterList.TASK] and exempted_by(self.loaded, event) is not None:
            return Walk()
        met = self._met(event, kind)
        walk = self._meet(event, met, kind, self._free)
        unknown = sum(name.file.inode == SOME_INODE for name in event.names)
        if unknown:
            cost, asks_parent = self._expect(event, kind, walk, unknown)
            walk.cost += cost / BUCKETS
            if asks_parent and not walk.asks_parent:
                walk.cost += self.constants.walk["ppid"] / BUCKETS
        return walk

    def test(self, rule: KernelRule, event: Event, kind: int) -> RuleTest:
        """Return the test of a rule that would be in the list; one does not need to name the call.

        Its users and groups are numbers.
        """
        if not rule.names(event.call):
            return RuleTest(self.constants.walk["unnamed"], asks_parent=False, holds=False)
        tests = self.tests.of((self._free, self._hiding) if event.names else ())
        key = self.tests.number(rule), kind, _LIST
        if key not in tests:
            met = self._met(event, kind)
            tests[key] = price_test(self.constants, self.loaded, rule.conditions, event, met)
        return tests[key]

    def _met(self, event: Event, kind: int) -> Event:
        """Return a call as it is priced: files of which no rule watches any are in a free bucket.

        Where none is free, they are left out.
        """
        key = self._free, self._hiding, kind
        if key not in self.tests.met:
            self.tests.met[key] = self._see(event)
        return self.tests.met[key]

    def _see(self, event: Event) -> Event:
        free, names = self._free, event.names
        if free is None:
            names = tuple(name for name in names if name.file.inode != SOME_INODE)
        else:
            names = tuple(
                replace(name, file=name.file._replace(inode=free))
                if name.file.inode == SOME_INODE
                else name
                for name in names
            )
        return without_hidden_names(self.loaded, replace(event, names=names))

    def _meet(self, event: Event, met: Event, kind: int, seen: Hashable) -> Walk:
        """Return the walk of the list, and of the buckets of the files that are met."""
        tests = self.tests.of((seen, self._hiding) if event.names else ())
        call = _Call(self, event, met, kind, tests, Walk())
        call.walk_list([self.listed[at] for at in self._positions(self._named_by(event.call)[0])])
        for at, name in enumerate(met.names):
            if call.walk_bucket(self.loaded.buckets[name.file.inode % BUCKETS], at):
                break
        if call.walk.asks_parent:
            call.walk.cost += self.constants.walk["ppid"]
        return call.walk

    # Files whose bucket is not known --------------------------------------------------------------

    def _expect(self, event: Event, kind: int, walk: Walk, unknown: int) -> tuple[float, bool]:
        """Return the cost of all buckets for the files with unknown numbers.

        Also whether it includes a test of the parent's number.
        """
        prices, priorities = self.constants.walk, self.loaded.priority
        least = 0 if walk.decided_by is None else priorities[walk.decided_by]
        cost, asks_parent = 0.0, False
        for at, (mask, rules) in enumerate(self._masks[1].items()):
            if not mask >> event.call & 1:
                cost += prices["unnamed"] * unknown * len(rules)
                continue
            key = at, kind
            if not least and key in self._sums:
                whole = self._sums[key]
            else:
                higher = [index for index in rules if priorities[index] > least]
                found = [self._expected(index, event, kind) for index in higher]
                whole = sum(one.cost for one in found), any(one.asks_parent for one in found)
                cost += prices["outranked"] * unknown * (len(rules) - len(higher))
                if not least:
                    self._sums[key] = whole
            cost += whole[0]
            asks_parent |= whole[1]
        return cost, asks_parent

    def _expected(self, index: int, event: Event, kind: int) -> RuleTest:
        tests, key = self.tests.of("expected"), (self.numbers[index], kind, _LIST)
        if key not in tests:
            conditions = self.loaded.rules[index].conditions
            tests[key] = expected_test(self.constants, self.loaded, conditions, event)
        return tests[key]


@dataclass
class _Call:
    """A call during its walk, as it is and as the rules meet it, with the tests that were made."""

    under: SetCosts
    event: Event
    met: Event
    kind: int
    tests: Tests
    walk: Walk

    def walk_list(self, named: Sequence[int]) -> None:
        """Walk the list, of which some rules name the call."""
        passed, walk = len(self.under.listed), self.walk
        tested = 0
        for index in named:
            tested += 1
            if self._holds(index, _LIST):
                passed = self.under.place[index] + 1
                walk.ended_by = index
                break
        walk.cost += (passed - tested) * self.under.constants.walk["unnamed"]
        walk.cost += self.under.constants.crowding_cost(passed)

    def walk_bucket(self, bucket: Sequence[int], at: int) -> bool:
        """Walk the bucket of the visited file at a place; say whether a rule there decides."""
        walk, prices, loaded = self.walk, self.under.constants.walk, self.under.loaded
        least = 0 if walk.decided_by is None else loaded.priority[walk.decided_by]
        for index in bucket:
            if not loaded.rules[index].names(self.event.call):
                walk.cost += prices["unnamed"]
            elif loaded.priority[index] <= least:
                walk.cost += prices["outranked"]
            elif self._holds(index, at):
                return True
        return False

    def _holds(self, index: int, at: int) -> bool:
        """Test a rule; say whether it decides."""
        walk, rule = self.walk, self.under.loaded.rules[index]
        key = self.under.numbers[index], self.kind, at
        result = self.tests.get(key)
        if result is None:
            visited = None if at == _LIST else self.met.names[at]
            result = self.tests[key] = price_test(
                self.under.constants, self.under.loaded, rule.conditions, self.event, self.met,
                visited=visited,
            )  # fmt: skip
        walk.cost += result.cost
        walk.asks_parent |= result.asks_parent
        if not result.holds:
            return False
        walk.cost += match_cost(self.under.constants, rule)
        walk.key = rule.key or walk.key
        walk.decided_by = index
        return True
