"""Pairs of rules that might become one, in the order in which they are tried.

Two rules are similar if they have action and key in common, and the conditions but for `arch`, or
else the calls and the conditions but for one field.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping

from auditrules.kernel.conditions import SINGLE
from auditrules.model.kernel_rule import FieldTest, KernelRule, is_test

RulePair = tuple[int, int, int]
"""The lowest number of a rule with the same action and key, and the numbers of two rules."""


class SimilarPairs:
    """The pairs among rules by number, which change as rules are joined."""

    def __init__(self, rules: Mapping[int, KernelRule]) -> None:
        self._first: dict[Hashable, int] = {}
        self._like: defaultdict[Hashable, dict[int, None]] = defaultdict(dict)
        self._pairs: list[RulePair] = []
        for number in sorted(rules):
            rule = rules[number]
            if rule.watch is None:  # what -w says can't be joined to anything
                self._first.setdefault((rule.action, rule.key), number)
                self._add(number, rule)

    def in_order(self) -> Iterator[RulePair]:
        """Yield the pairs, while none is changed."""
        return iter(tuple(self._pairs))

    def forget(self, pair: RulePair) -> None:
        """Leave out a pair that can't become one rule, as long as both stay as they are."""
        self._pairs.remove(pair)

    def join(
        self, pair: RulePair, rules: tuple[KernelRule, KernelRule], joined: KernelRule
    ) -> None:
        """Replace two rules by one, under the lower number."""
        _, first, second = pair
        for number, rule in zip((first, second), rules, strict=True):
            for like in _likenesses(rule):
                self._like[like].pop(number, None)
        gone = {first, second}
        self._pairs = [one for one in self._pairs if one[1] not in gone and one[2] not in gone]
        self._add(first, joined)

    def _add(self, number: int, rule: KernelRule) -> None:
        group = self._first[rule.action, rule.key]
        found: set[RulePair] = set()
        for like in _likenesses(rule):
            others = self._like[like]
            found |= {(group, min(number, other), max(number, other)) for other in others}
            others[number] = None
        for pair in found:
            insort(self._pairs, pair)


def _likenesses(rule: KernelRule) -> Iterator[Hashable]:
    """Yield values of which similar rules have one in common."""
    own = rule.action, rule.key
    yield own, frozenset(test for test in rule.conditions if not is_test(test, "arch"))
    fields = {test.field for test in rule.conditions if isinstance(test, FieldTest)}
    for field in fields & SINGLE - {"arch"}:
        rest = frozenset(test for test in rule.conditions if not is_test(test, field))
        yield own, rule.mask, field, rest
