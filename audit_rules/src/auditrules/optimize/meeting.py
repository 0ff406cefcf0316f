"""Which of many rules might meet a rule, or match whatever it does: found by what they share.

Sets of rules are integers, whose bits are the rules' numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

from auditrules.model.kernel_rule import Condition, KernelRule, bits
from auditrules.optimize.allowed_values import RulesAllowing, RulesApart
from auditrules.optimize.implication import unfollowable
from auditrules.optimize.reachable_calls import ReachableCalls, reach, reach_of_any
from auditrules.tables.lookup import ARCHES, Arch


def orders_to_keep(rules: Mapping[int, KernelRule], *, b32: bool) -> dict[int, int]:
    """Return for each rule the earlier ones that must stay before it, as bits.

    One call might match both, and they differ in action, key or place.
    """
    reached = {number: reach_of_any(rule, b32=b32) for number, rule in rules.items()}
    calls, values = _ByCall(), RulesApart(rules)
    same: dict[Hashable, int] = {}
    for number, rule in rules.items():
        calls.add(number, reached[number])
        kind = rule.action, rule.key, rule.place
        same[kind] = same.get(kind, 0) | 1 << number
    return {
        number: calls.meeting(reached[number])
        & ~same[rule.action, rule.key, rule.place]
        & ~values.apart(rule)
        & ((1 << number) - 1)
        for number, rule in rules.items()
    }


class CoveringRules:
    """Rules that may match whatever another does; `implication.covers` decides."""

    def __init__(self, rules: Mapping[int, KernelRule], *, b32: bool) -> None:
        self.b32 = b32
        self._calls = _ByCall()
        self._values = RulesAllowing(rules)
        self._often = Counter(one for rule in rules.values() for one in rule.conditions)
        self._by_condition: dict[Condition | None, int] = {}
        for number, rule in rules.items():
            self._add(number, rule)

    def put(self, number: int, rule: KernelRule) -> None:
        """Put one of the rules under the number of another, too."""
        self._values.put(number, rule)
        self._add(number, rule)

    def _add(self, number: int, rule: KernelRule) -> None:
        self._calls.add(number, reach(rule, b32=self.b32))
        # Of the conditions that the other rule must have too, the rarest excludes most.
        rarest = min(unfollowable(rule.conditions), key=self._often.__getitem__, default=None)
        self._by_condition[rarest] = self._by_condition.get(rarest, 0) | 1 << number

    def candidates(self, rule: KernelRule) -> int:
        """Return the rules that may match whatever a rule does."""
        found = self._by_condition.get(None, 0)
        for condition in rule.conditions:
            found |= self._by_condition.get(condition, 0)
        found = self._values.among(found, rule)
        return self._calls.among(found, reach(rule, b32=self.b32))


class _ByCall:
    """Rules by the calls that they reach."""

    def __init__(self) -> None:
        self._alike: dict[ReachableCalls, int] = {}
        self._reaching: dict[Arch, dict[int, int]] | None = None
        self._meeting: dict[ReachableCalls, int] = {}

    def add(self, number: int, calls: ReachableCalls) -> None:
        """Add a rule, after the first question only one."""
        self._alike[calls] = self._alike.get(calls, 0) | 1 << number
        if self._reaching is not None:
            self._spread(calls, 1 << number, self._reaching)

    def meeting(self, calls: ReachableCalls) -> int:
        """Return the rules that reach one of the calls."""
        if calls not in self._meeting:
            found = 0
            for arch in ARCHES:
                by_call = self._by_call[arch]
                for call in bits(calls.of(arch)):
                    found |= by_call.get(call, 0)
            self._meeting[calls] = found
        return self._meeting[calls]

    def among(self, rules: int, calls: ReachableCalls) -> int:
        """Return those of the rules that reach all of the calls."""
        for arch in ARCHES:
            by_call = self._by_call[arch]
            for call in bits(calls.of(arch)):
                rules &= by_call.get(call, 0)
                if not rules:
                    return 0
        return rules

    @property
    def _by_call(self) -> dict[Arch, dict[int, int]]:
        if self._reaching is None:
            self._reaching = {arch: {} for arch in ARCHES}
            for calls, rules in self._alike.items():
                self._spread(calls, rules, self._reaching)
        return self._reaching

    @staticmethod
    def _spread(calls: ReachableCalls, rules: int, found: dict[Arch, dict[int, int]]) -> None:
        for arch in ARCHES:
            by_call = found[arch]
            for call in bits(calls.of(arch)):
                by_call[call] = by_call.get(call, 0) | rules
