"""The changes that make rules cheaper; each keeps the same records with the same keys.

Every change is tried on the few rules concerned, and made if no call pays more for it. Unless all
of them are asked for, it also has to save enough: half of what a rule costs a call that it does not
name, and what two such rules cost where the line is hard to read then (numbers of calls, ranges).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from auditrules.auditctl.write import needs_watch_form
from auditrules.kernel.conditions import SINGLE, Ranges, allowed_values, contradiction, either
from auditrules.model.kernel_rule import (
    ALL_CALLS,
    UNSET,
    Condition,
    FieldTest,
    KernelRule,
    Operator,
    is_test,
)
from auditrules.optimize.allowance import Allowance, CostChange
from auditrules.optimize.decided_calls import Joined
from auditrules.optimize.implication import covers, without_needless
from auditrules.optimize.lines import Candidate, Candidates
from auditrules.optimize.meeting import CoveringRules
from auditrules.optimize.prices import TOLERANCE, Prices
from auditrules.optimize.reachable_calls import (
    ReachableCalls,
    always_stand_for,
    reach,
    reach_of_any,
    releases_of,
)
from auditrules.optimize.similar import RulePair, SimilarPairs
from auditrules.tables import lookup

SHADOWED = "dropped: another rule always decides first"
MERGED = "calls of similar rules merged"
BOTH_ABIS = "one rule for both ABIs, since its numbers mean no other call"
RANGE = "values of similar rules merged into a range"
NARROWED = "narrowed to the calls that can match"
NEEDLESS = "implied conditions dropped"
REORDERED = "conditions reordered"

_READABLE = frozenset({MERGED, NEEDLESS, REORDERED})
"""Changes after which a line still says what those before it said, in their words."""

_WORTH, _WORTH_NUMBERS = 0.5, 2.0
"""What a change has to save the mean call, in rules that do not name it, if the line stays readable
and if it does not."""

_MOST_GAPS = 16
"""The most values that a range may exclude; each is a condition."""

_USUAL = frozenset({UNSET + 1 - lookup.errors()[name] for name in ("ENOENT", "EAGAIN", "EINTR")})
"""Errors that calls fail with most often."""

_Item = TypeVar("_Item")

_MOST_PERMUTED = 6
"""The most conditions for which every order is tried."""


@dataclass(frozen=True)
class _Attempt:
    """A rule that can replace two, the name of the change, and what it changes for calls."""

    before: tuple[KernelRule, KernelRule]
    after: KernelRule
    what: str
    change: CostChange


class RuleChanges:
    """The rules, and the prices and allowances that decide about changes.

    `tell` is called now and then with the current step. Without `thorough`, only changes that are
    worth it are made.
    """

    def __init__(
        self,
        lines: Candidates,
        prices: Prices,
        original: Iterable[KernelRule],
        tell: Callable[[str], None] = lambda _doing: None,
        *,
        thorough: bool = True,
    ) -> None:
        self.lines, self.prices, self.tell, self.thorough = lines, prices, tell, thorough
        self.allowance = Allowance(prices, original)

    @property
    def b32(self) -> bool:
        """Whether there are 32-bit calls."""
        return self.lines.b32

    def _worth_it(self, before: Sequence[KernelRule], after: KernelRule, what: str) -> bool:
        """Say whether a change saves enough for how readable it leaves the line."""
        if self.thorough:
            return True
        readable = what in _READABLE or (what == NARROWED and before[0].mask != ALL_CALLS)
        least = (_WORTH if readable else _WORTH_NUMBERS) * self.prices.constants.walk["unnamed"]
        return self.prices.mean(before) - self.prices.mean([after]) >= least - TOLERANCE

    def _changeable(self) -> list[tuple[int, Candidate]]:
        """Return the lines that may be changed; a rule that needs the form -w covers all calls."""
        return [one for one in self.lines.lines.items() if not needs_watch_form(one[1].rule)]

    def drop_dead(self, *, keep_one: bool) -> Iterator[int]:
        """Drop the rules that can match nothing; yield the numbers of those.

        With `keep_one`, at least one stays: without any rule the kernel examines no call.
        """
        for number, line in list(self.lines.lines.items()):
            calls = reach_of_any(line.rule, b32=self.b32)
            if keep_one and len(self.lines.lines) == 1:
                return
            if not calls.numbers or contradiction(line.rule.conditions):
                self.lines.drop(number)
                yield from line.origins

    def narrow(self) -> None:
        """Remove from each mask the numbers of calls that the rule can't match.

        A rule for all calls is narrowed to those of its permissions, and names classes of calls,
        which each kernel expands to its own (`permissions.py`). A list of calls keeps what any
        release assigns to the permissions.
        """
        for number, line in self._changeable():
            rule = line.rule
            reached = reach if rule.mask == ALL_CALLS else reach_of_any
            wanted = reached(rule, b32=self.b32).numbers
            if wanted in {rule.mask, 0}:  # no line names no call
                continue
            narrowed = replace(rule, mask=wanted)
            if self._worth_it((rule,), narrowed, NARROWED):
                self.lines.replace(number, narrowed, NARROWED)

    def trim(self) -> None:
        """Drop conditions that the others imply."""
        for number, line in self._changeable():
            kept = without_needless(line.rule, b32=self.b32)
            changed = replace(line.rule, conditions=kept)
            if kept != line.rule.conditions and self._worth_it((line.rule,), changed, NEEDLESS):
                self.lines.replace(number, changed, NEEDLESS)

    def drop_shadowed(self) -> None:
        """Drop each rule that another always pre-empts."""
        lines = self.lines.lines
        covering = CoveringRules({at: line.rule for at, line in lines.items()}, b32=self.b32)
        for number in sorted(lines):
            other = -1
            while number in lines:
                left = covering.candidates(lines[number].rule) & ~(1 << number) & -(1 << other + 1)
                if not left:
                    break
                other = (left & -left).bit_length() - 1
                if other in lines and self._drop_if_shadowed(number, by=other):
                    covering.put(min(number, other), lines[min(number, other)].rule)

    def _drop_if_shadowed(self, number: int, by: int) -> bool:
        """Drop a rule if another pre-empts it; say whether the two became one."""
        wide, narrow = self.lines.lines[by].rule, self.lines.lines[number].rule
        if not covers(wide, narrow, b32=self.b32):
            return False
        alike = (wide.action, wide.key) == (narrow.action, narrow.key)
        if self.lines.must_precede(by, number) or (
            alike and not self.lines.stands_before(number, by)
        ):
            kept = self.lines.lines[by]
            origins = tuple(sorted({*kept.origins, *self.lines.lines[number].origins}))
            self.lines.drop(number)
            self.lines.lines[by] = replace(kept, origins=origins).with_rule(kept.rule, SHADOWED)
        elif alike and wide.place == narrow.place and self.lines.can_become_one(number, by):
            first, second = sorted((number, by))
            self.lines.join(first, second, wide, SHADOWED)
            return True
        return False

    def join(self) -> None:
        """Merge similar rules, two at a time, until no two can be merged."""
        self.allowance.count(self.lines)
        pairs = SimilarPairs({at: line.rule for at, line in self.lines.lines.items()})
        attempts: dict[RulePair, list[_Attempt]] = {}
        while any(self._join(pair, pairs, attempts) for pair in pairs.in_order()):
            pass

    def _join(
        self, pair: RulePair, pairs: SimilarPairs, attempts: dict[RulePair, list[_Attempt]]
    ) -> bool:
        _, first, second = pair
        both = self.lines.lines[first].rule, self.lines.lines[second].rule
        known = attempts.get(pair)
        if known is None or known[0].before[0] is not both[0] or known[0].before[1] is not both[1]:
            self.tell(f"merging similar rules, {len(self.lines.lines)} left")
            known = attempts[pair] = self._attempts(*both)
        if not known:
            del attempts[pair]
            pairs.forget(pair)
            return False
        if not self.lines.can_become_one(first, second):
            return False
        for attempt in known:
            if not self.allowance.has_room(attempt.change):
                continue
            lines = self.lines.copy()
            lines.join(first, second, attempt.after, attempt.what)
            joined = Joined(first, second, both, attempt.after)
            if self.allowance.allows_order(lines, joined):
                self.lines = lines
                self.allowance.take_change(both, attempt.after)
                pairs.join(pair, attempt.after)
                return True
        return False

    def _attempts(self, a: KernelRule, b: KernelRule) -> list[_Attempt]:
        """Return the rules that can replace two and save enough, in the order of trying."""
        found = []
        for joined, what in (*_same_conditions(a, b), *self._abis(a, b), *_ranges(a, b)):
            # The first condition that fails ends the test, so which is first matters most.
            for order in _firsts(joined.conditions):
                tried = replace(joined, conditions=order)
                if self._worth_it((a, b), tried, what):
                    change = self.allowance.change((a, b), tried)
                    if change is not None:
                        found.append(_Attempt((a, b), tried, what, change))
        return found

    def _abis(self, a: KernelRule, b: KernelRule) -> Iterator[tuple[KernelRule, str]]:
        """Yield rules without `arch` that match what two rules, one for each ABI, match."""
        conditions = tuple(test for test in a.conditions if not is_test(test, "arch"))
        if len(conditions) == len(a.conditions) or set(conditions) != {
            test for test in b.conditions if not is_test(test, "arch")
        }:
            return
        one, other = reach(a, b32=self.b32), reach(b, b32=self.b32)
        wanted = ReachableCalls(one.b64 | other.b64, one.b32 | other.b32)
        tests: list[tuple[Condition, ...]] = [()]
        # Without `arch` the numbers mean other calls in the other ABI. A permission that all wanted
        # calls have, and those do not, excludes them.
        if not any(is_test(test, "perm") for test in conditions):
            tests += [
                (FieldTest("perm", Operator.EQUAL, number),) for number in _permissions(wanted)
            ]
        for test in tests:
            joined = replace(a, mask=wanted.numbers, conditions=(*test, *conditions))
            # Which calls a permission stands for differs from release to release.
            if all(
                reach(joined, b32=self.b32, release=release) == wanted
                for release in releases_of(joined)
            ):
                yield joined, BOTH_ABIS

    def reorder(self) -> None:
        """Put the conditions of each rule of the exit list in the cheapest order."""
        for number, line in self._changeable():
            self.tell("reordering conditions")
            rule = line.rule
            order = None if rule.in_a_bucket else self._best_order(rule)
            if order is None:
                continue
            changed = replace(rule, conditions=order)
            if self._worth_it((rule,), changed, REORDERED):
                self.lines.replace(number, changed, REORDERED)
                self.allowance.take_change((rule,), changed)

    def _best_order(self, rule: KernelRule) -> tuple[Condition, ...] | None:
        """Return the cheapest order of the conditions that each call can pay, if it is another."""
        weights: dict[tuple[tuple[bool, float], ...], float] = {}
        left: dict[tuple[tuple[bool, float], ...], float] = {}
        for number, cases in self.prices.by_number.items():
            for case in cases if rule.names(number) else ():
                tests = self.prices.of_conditions(rule, case.event)
                weights[tests] = weights.get(tests, 0.0) + case.weight
                left[tests] = min(left.get(tests, math.inf), self.allowance.remaining(case))
        present = tuple(range(len(rule.conditions)))
        own = {tests: _testing_cost(tests, present) for tests in weights}
        best, least = present, _sums(own, weights)
        for order in _orders(len(present)):
            costs = {tests: _testing_cost(tests, order) for tests in weights}
            if all(costs[tests] <= own[tests] + left[tests] + TOLERANCE for tests in weights):
                sums = _sums(costs, weights)
                if sums[0] < least[0] - TOLERANCE or (
                    sums[0] <= least[0] + TOLERANCE and sums[1] < least[1] - TOLERANCE
                ):
                    best, least = order, sums
        if best == present:
            return None
        return tuple(rule.conditions[at] for at in best)


def _sums(
    costs: Mapping[tuple[tuple[bool, float], ...], float],
    weights: Mapping[tuple[tuple[bool, float], ...], float],
) -> tuple[float, float]:
    """Return the cost of a workload, and of one call of each kind."""
    return sum(costs[tests] * weights[tests] for tests in weights), sum(costs.values())


def _testing_cost(tests: Sequence[tuple[bool, float]], order: Sequence[int]) -> float:
    """Return the cost of testing conditions in an order, up to the first that fails."""
    total = 0.0
    for at in order:
        holds, cost = tests[at]
        total += cost
        if not holds:
            break
    return total


def _same_conditions(a: KernelRule, b: KernelRule) -> Iterator[tuple[KernelRule, str]]:
    if set(a.conditions) == set(b.conditions):
        yield replace(a, mask=a.mask | b.mask), MERGED


def _permissions(wanted: ReachableCalls) -> list[int]:
    """Return permissions that all of these calls have, whatever their arguments."""
    return [
        number
        for number in range(1, 16)
        if not wanted.b64 & ~always_stand_for("b64", number)
        and not wanted.b32 & ~always_stand_for("b32", number)
    ]


def _ranges(a: KernelRule, b: KernelRule) -> Iterator[tuple[KernelRule, str]]:
    """Yield a rule for two that differ in one field's values, if a range covers both."""
    if a.mask != b.mask:
        return
    odd = set(a.conditions) ^ set(b.conditions)
    fields = {test.field if isinstance(test, FieldTest) else "" for test in odd}
    if len(fields) != 1 or not fields <= SINGLE - {"arch"}:
        return
    (name,) = fields
    own = [rule.tests(name) for rule in (a, b)]
    if not own[0] or not own[1] or any(_is_bits(test) for test in (*own[0], *own[1])):
        return
    values = either(allowed_values(name, own[0]), allowed_values(name, own[1]))
    tests = _range_tests(name, values)
    if tests is None:
        return
    at = min(i for i, test in enumerate(a.conditions) if is_test(test, name))
    rest = [test for test in a.conditions if not is_test(test, name)]
    yield replace(a, conditions=(*rest[:at], *tests, *rest[at:])), RANGE


def _range_tests(name: str, values: Ranges) -> tuple[FieldTest, ...] | None:
    """Return tests that hold for just these values, None if there are too many gaps."""
    if not values:
        return None
    gaps = [
        number
        for (_, last), (first, _) in itertools.pairwise(values)
        if first - last <= _MOST_GAPS + 1
        for number in range(last + 1, first)
    ]
    wanted = sum(first - last - 1 for (_, last), (first, _) in itertools.pairwise(values))
    if wanted != len(gaps) or len(gaps) > _MOST_GAPS:
        return None
    low, high = values[0][0], values[-1][1]
    tests = [FieldTest(name, Operator.GREATER_OR_EQUAL, low)] if low else []
    # UNSET is the largest number of 32 bits: nothing is above it.
    tests += [FieldTest(name, Operator.LESS_OR_EQUAL, high)] if high != UNSET else []
    if low == high:
        tests = [FieldTest(name, Operator.EQUAL, low)]
    if name == "exit":
        # The first test that fails ends the rest, so the most frequent errors are tested first.
        gaps.sort(key=lambda gap: (gap not in _USUAL, -gap))
    tests += [FieldTest(name, Operator.NOT_EQUAL, gap) for gap in gaps]
    return tuple(tests) or None


def _orders(count: int) -> Iterator[tuple[int, ...]]:
    """Yield the orders to be tried: all, or each condition first where there are many."""
    if count <= _MOST_PERMUTED:
        yield from itertools.permutations(range(count))
    else:
        yield from _firsts(range(count))


def _firsts(items: Sequence[_Item]) -> Iterator[tuple[_Item, ...]]:
    """Yield the items as they are, then with each of the others first."""
    for at in range(len(items)):
        yield (items[at], *items[:at], *items[at + 1 :])


def _is_bits(test: Condition) -> bool:
    return isinstance(test, FieldTest) and test.operator in {Operator.ANY_BIT, Operator.ALL_BITS}
