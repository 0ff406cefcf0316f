"""Which of many rules allow a number of a field, looked up by their ranges instead of compared.

Sets of rules are integers, whose bits are the rules' numbers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from functools import lru_cache

from auditrules.kernel.conditions import SINGLE, Ranges, outside, ranges_of
from auditrules.model.kernel_rule import Condition, FieldTest, KernelRule
from auditrules.optimize.implication import limits

_LOOKED_UP = SINGLE - {"arch", "loginuid_set"}
"""Fields whose values are looked up where rules are to cover others."""


class RulesApart:
    """Rules that have no value of some field in common with a rule."""

    def __init__(self, rules: Mapping[int, KernelRule]) -> None:
        self._impossible = 0
        self._apart: dict[tuple[str, Ranges], int] = {}
        by_values: dict[str, dict[Ranges, int]] = {}
        for number, rule in rules.items():
            for field, values in limits(rule.conditions):
                if not values:
                    self._impossible |= 1 << number
                of_field = by_values.setdefault(field, {})
                of_field[values] = of_field.get(values, 0) | 1 << number
        self._limiting = {field: sum(found.values()) for field, found in by_values.items()}
        self._fields = {field: _Overlaps(found) for field, found in by_values.items()}
        for field, of_field in by_values.items():
            for values, alike in of_field.items():
                self._fields[field].toggle(values, alike)

    def apart(self, rule: KernelRule) -> int:
        """Return the rules that can hold for no call for which one of these rules does."""
        found = self._impossible
        for field, values in limits(rule.conditions):
            if not values:
                return -1  # all of them
            if (field, values) not in self._apart:
                meeting = self._fields[field].meeting(values)
                self._apart[field, values] = self._limiting[field] & ~meeting
            found |= self._apart[field, values]
        return found


class RulesAllowing:
    """Rules that may allow each value that a rule does, as far as ranges say."""

    def __init__(self, rules: Mapping[int, KernelRule]) -> None:
        limits_of = {number: _ranges_by_field(rule) for number, rule in rules.items()}
        excluded: dict[str, set[Ranges]] = {}
        for known in limits_of.values():
            for field, values in known.items():
                excluded.setdefault(field, set()).add(outside(values))
        self._excluding = {field: _Overlaps(found) for field, found in excluded.items()}
        self._limiting = dict.fromkeys(excluded, 0)
        self._limits: dict[int, Mapping[str, Ranges]] = {}
        for number, known in limits_of.items():
            self._put(number, known)

    def put(self, number: int, rule: KernelRule) -> None:
        """Put one of the rules under a number, instead of what is there."""
        self._put(number, _ranges_by_field(rule))

    def _put(self, number: int, known: Mapping[str, Ranges]) -> None:
        for each in (self._limits.get(number, {}), known):  # what is there is taken away
            for field, values in each.items():
                self._excluding[field].toggle(outside(values), 1 << number)
                self._limiting[field] ^= 1 << number
        self._limits[number] = known

    def among(self, rules: int, rule: KernelRule) -> int:
        """Return those of the rules that may allow each value that a rule does."""
        tested, known = _tested(rule.conditions), _ranges_by_field(rule)
        for field, limiting in self._limiting.items():
            if field not in tested:
                rules &= ~limiting  # a field may have no value, which no limit allows
            elif field in known:
                rules &= ~self._excluding[field].meeting(known[field])
        return rules


class _Allowing:
    """Which rules allow a number: each is toggled where one of its ranges begins and ends.

    The toggles before a number are summed up in a binary indexed tree.
    """

    def __init__(self, ends: Iterable[int]) -> None:
        self._ends = sorted(ends)
        self._sums = [0] * (len(self._ends) + 1)

    def toggle(self, values: Ranges, rules: int) -> None:
        """Add ranges of rules, or take them away again; their ends are known."""
        for end in _ends(values):
            at = bisect_left(self._ends, end) + 1
            while at < len(self._sums):
                self._sums[at] ^= rules
                at += at & -at

    def at(self, number: int) -> int:
        """Return the rules that allow a number."""
        found, at = 0, bisect_right(self._ends, number)
        while at:
            found ^= self._sums[at]
            at &= at - 1
        return found


class _Overlaps:
    """Which rules have a value of a field in common with others; each rule can be toggled."""

    def __init__(self, known: Iterable[Ranges]) -> None:
        every = tuple(known)
        self._allowing = _Allowing({end for values in every for end in _ends(values)})
        self._firsts = sorted({first for values in every for first, _ in values})
        # A tree: each node has the rules of the two below it, the leaves are in the second half.
        self._tree = [0] * (2 * len(self._firsts))

    def toggle(self, values: Ranges, rules: int) -> None:
        """Add values of rules, or take them away again; they are among the known ones."""
        self._allowing.toggle(values, rules)
        for first, _ in values:
            at = len(self._firsts) + bisect_left(self._firsts, first)
            self._tree[at] ^= rules
            while at > 1:
                at //= 2
                self._tree[at] = self._tree[2 * at] | self._tree[2 * at + 1]

    def meeting(self, values: Ranges) -> int:
        """Return the rules that have one of the values."""
        found = 0
        for first, last in values:
            found |= self._allowing.at(first) | self._beginning(first, last)
        return found

    def _beginning(self, after: int, last: int) -> int:
        """Return the rules of which a range begins behind one number, and not behind another."""
        found, half = 0, len(self._firsts)
        low, high = (half + bisect_right(self._firsts, one) for one in (after, last))
        while low < high:
            if low & 1:
                found |= self._tree[low]
                low += 1
            if high & 1:
                high -= 1
                found |= self._tree[high]
            low, high = low // 2, high // 2
        return found


def _ends(values: Ranges) -> list[int]:
    """Return where ranges begin, and where they have just ended."""
    return [end for first, last in values for end in (first, last + 1)]


def _tested(conditions: Iterable[Condition]) -> frozenset[str]:
    """Return the fields that conditions say something about."""
    fields = {test.field for test in conditions if isinstance(test, FieldTest)}
    return frozenset(fields | {"auid"} if "loginuid_set" in fields else fields)


@lru_cache(maxsize=1 << 14)
def _ranges_of(conditions: tuple[Condition, ...]) -> Mapping[str, Ranges]:
    tests = [test for test in conditions if isinstance(test, FieldTest)]
    odd = {test.field for test in tests if ranges_of(test) is None}
    if any(test.field == "loginuid_set" for test in tests):
        odd |= {"auid"}  # which it is about, too
    known = limits(conditions)
    return {field: values for field, values in known if field in _LOOKED_UP and field not in odd}


def _ranges_by_field(rule: KernelRule) -> Mapping[str, Ranges]:
    """Return the values that a rule allows, of fields about which it asks for ranges alone."""
    return _ranges_of(rule.conditions)
