"""Which rules match wherever another one does: found by hash, not by comparing each with each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from auditrules.kernel.conditions import follows, subject_of
from auditrules.kernel.field_tests import arches_of
from auditrules.model.kernel_rule import Condition, KernelRule, is_test
from auditrules.model.subsets import Subsets
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

_MOST_ALIKE = 256
"""Up to so many conditions on one field are compared pairwise; beyond, only equal ones imply."""


class Numbered:
    """The conditions of rules, each known by its index, with a number for each condition.

    Numbers are compared and hashed faster than conditions are.
    """

    def __init__(self, conditions: Sequence[Sequence[Condition]]) -> None:
        """Number the conditions in the order in which rules have them."""
        known: dict[Condition, int] = {}
        self.of_rule = [
            tuple(known.setdefault(one, len(known)) for one in of_rule) for of_rule in conditions
        ]
        self.frequency = [0] * len(known)
        for numbers in self.of_rule:
            for number in numbers:
                self.frequency[number] += 1
        self._conditions = list(known)
        self._alike: dict[str, list[int]] = {}
        for condition, number in known.items():
            self._alike.setdefault(subject_of(condition), []).append(number)
        self._weaker: dict[int, tuple[int, ...]] = {}

    def weaker(self, number: int) -> tuple[int, ...]:
        """Return the conditions that hold wherever one does, itself the first."""
        found = self._weaker.get(number)
        if found is None:
            condition = self._conditions[number]
            alike = self._alike[subject_of(condition)]
            others = alike if len(alike) <= _MOST_ALIKE else ()
            follow = (
                other
                for other in others
                if other != number and follows(self._conditions[other], (condition,))
            )
            found = self._weaker[number] = (number, *follow)
        return found


class Covering:
    """Rules, added one by one, that are searched for those that cover another.

    A rule covers the calls of its mask where its conditions follow from the other's.
    """

    def __init__(self, numbered: Numbered) -> None:
        self._numbered = numbered
        self._sets = Subsets[int](numbered.frequency.__getitem__)
        self._held: dict[frozenset[int], _Held] = {}

    def add(self, index: int, mask: int) -> None:
        """Add a rule."""
        numbers = self._numbered.of_rule[index]
        key = frozenset(numbers)
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = _Held()
            self._sets.add(numbers)
        held.add(mask, index)

    def covering_rules(self, index: int, mask: int) -> tuple[int, ...]:
        """Return the rules that together match all that a rule does in some calls, or none."""
        needed, found = mask, []
        for held in self._held_after(index):
            if held.mask & needed:
                found.extend(held.members(needed))
                needed &= ~held.mask
                if not needed:
                    return tuple(sorted(found))
        return ()

    def missing_calls(self, index: int, mask: int) -> int:
        """Return the calls of a mask that no rule matches wherever a rule's conditions hold."""
        for held in self._held_after(index):
            mask &= ~held.mask
            if not mask:
                break
        return mask

    def _held_after(self, index: int) -> Iterable[_Held]:
        """Yield what is held under conditions that follow from a rule's."""
        weaker = self._numbered.weaker
        implied = {
            other: None for number in self._numbered.of_rule[index] for other in weaker(number)
        }
        for one in self._sets.within(implied.keys()):
            yield self._held[one]


class _Held:
    """The rules that have the same conditions."""

    def __init__(self) -> None:
        self.mask = 0
        self._parts: list[tuple[int, int]] = []

    def add(self, mask: int, index: int) -> None:
        if mask & ~self.mask:
            self._parts.append((mask & ~self.mask, index))
            self.mask |= mask

    def members(self, needed: int) -> list[int]:
        return [index for mask, index in self._parts if mask & needed]


def without_arch(rule: KernelRule) -> tuple[Condition, ...]:
    """Return a rule's conditions but for the ABI."""
    return tuple(one for one in rule.conditions if not is_test(one, "arch"))


def by_arch(rules: Sequence[KernelRule], numbered: Numbered) -> dict[Arch, Covering]:
    """Return the rules that can match in each ABI, by their numbered conditions without it."""
    found: dict[Arch, Covering] = {arch: Covering(numbered) for arch in lookup.ARCHES}
    for index, rule in enumerate(rules):
        for arch in arches_of(rule):
            found[arch].add(index, rule.mask)
    return found
