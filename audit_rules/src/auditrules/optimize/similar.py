"""Pairs of rules that might become one, in the order in which they are tried.

Two rules are similar if they have action and key in common, and the conditions but for `arch`, or
else the calls and the conditions but for one field.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping

from auditrules.kernel.conditions import SINGLE
from auditrules.model.kernel_rule import FieldTest, KernelRule, is_test

RulePair = tuple[int, int, int]
"""The lowest number of a rule with the same action and key, and the numbers of two rules."""


class SimilarPairs:
    """The pairs among rules by number, which change as rules are joined.

    Rules have places in the order in which they are tried; sets of rules are integers, whose bits
    are the places. Pairs are made only as they are asked for: there may be very many.
    """

    def __init__(self, rules: Mapping[int, KernelRule]) -> None:
        joinable = [number for number in sorted(rules) if rules[number].watch is None]
        self._first: dict[Hashable, int] = {}
        for number in joinable:  # what -w says can't be joined to anything
            self._first.setdefault((rules[number].action, rules[number].key), number)
        self._ranked = sorted((self._group(rules[number]), number) for number in joinable)
        self._place = {number: place for place, (_, number) in enumerate(self._ranked)}
        self._like: defaultdict[Hashable, int] = defaultdict(int)
        self._likenesses: dict[int, tuple[Hashable, ...]] = {}
        self._hopeless: defaultdict[int, int] = defaultdict(int)
        self._open = 0
        for place, (_, number) in enumerate(self._ranked):
            self._add(place, rules[number])

    def in_order(self) -> Iterator[RulePair]:
        """Yield the pairs, until rules are joined."""
        for first in _lowest(self._open):
            group, number = self._ranked[first]
            behind = self._partners(first) >> first + 1 << first + 1
            if not behind:
                self._open &= ~(1 << first)
            for second in _lowest(behind):
                yield group, number, self._ranked[second][1]

    def forget(self, pair: RulePair) -> None:
        """Leave out a pair that can't become one rule, as long as both stay as they are."""
        first, second = (self._place[number] for number in pair[1:])
        self._hopeless[first] |= 1 << second
        self._hopeless[second] |= 1 << first

    def join(self, pair: RulePair, joined: KernelRule) -> None:
        """Replace two rules by one, under the lower number."""
        first, second = (self._place[number] for number in pair[1:])
        for place in (first, second):
            for like in self._likenesses.pop(place):
                self._like[like] &= ~(1 << place)
            for other in _lowest(self._hopeless.pop(place, 0)):
                self._hopeless[other] &= ~(1 << place)
        self._open &= ~(1 << second)
        self._add(first, joined)

    def _group(self, rule: KernelRule) -> int:
        return self._first[rule.action, rule.key]

    def _add(self, place: int, rule: KernelRule) -> None:
        self._likenesses[place] = tuple(_likenesses(rule))
        for like in self._likenesses[place]:
            self._like[like] |= 1 << place
            self._open |= self._like[like]

    def _partners(self, place: int) -> int:
        """Return the rules that might become one with a rule."""
        found = 0
        for like in self._likenesses[place]:
            found |= self._like[like]
        return found & ~self._hopeless[place]


def _lowest(places: int) -> Iterator[int]:
    """Yield the places in a set, lowest first."""
    while places:
        yield (places & -places).bit_length() - 1
        places &= places - 1


def _likenesses(rule: KernelRule) -> Iterator[Hashable]:
    """Yield values of which similar rules have one in common."""
    own = rule.action, rule.key
    yield own, frozenset(test for test in rule.conditions if not is_test(test, "arch"))
    fields = {test.field for test in rule.conditions if isinstance(test, FieldTest)}
    for field in fields & SINGLE - {"arch"}:
        rest = frozenset(test for test in rule.conditions if not is_test(test, field))
        yield own, rule.mask, field, rest
