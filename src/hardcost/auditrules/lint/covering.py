"""Which rules match wherever another one does: found by hash, not by comparing each with each."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from hardcost.auditrules.lint.conditions import about, implies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.kernelrule import Condition

_MOST_ALIKE = 256
"""Conditions on one field up to which each is compared with each; beyond, only the same imply."""

_MOST_CANDIDATES = 2000
"""Sets of conditions that are looked at for one rule; beyond, nothing is claimed."""

Conditions = tuple["Condition", ...]
"""In the order in which the rule has them, so that the same is found each time."""


class Covering:
    """Rules, added one by one, of which those that cover another are to be found.

    A rule covers the calls of its mask where its conditions follow from the other's.
    `all_conditions` are those of all rules that will be added or asked for.
    """

    def __init__(self, all_conditions: Iterable[Conditions]) -> None:
        self._frequency: Counter[Condition] = Counter()
        for conditions in all_conditions:
            self._frequency.update(conditions)
        self._alike: dict[str, list[Condition]] = {}
        for condition in self._frequency:
            self._alike.setdefault(about(condition), []).append(condition)
        self._weaker = cache(self._find_weaker)
        self._sets: dict[Condition | None, list[frozenset[Condition]]] = {}
        self._held: dict[frozenset[Condition], _Held] = {}

    def add(self, conditions: Conditions, mask: int, index: int) -> None:
        """Add a rule that is known by an index."""
        key = frozenset(conditions)
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = _Held()
            # The condition that fewest rules have: the lists stay short.
            rarest = min(conditions, key=lambda one: self._frequency[one], default=None)
            self._sets.setdefault(rarest, []).append(key)
        held.add(mask, index)

    def covering(self, conditions: Conditions, mask: int) -> tuple[int, ...]:
        """Return rules that together match all events of these conditions and calls, or none."""
        needed, found = mask, []
        for held in self._following(conditions):
            if held.mask & needed:
                found.extend(held.members(needed))
                needed &= ~held.mask
                if not needed:
                    return tuple(sorted(found))
        return () if needed or not mask else tuple(sorted(found))

    def missing(self, conditions: Conditions, mask: int) -> int:
        """Return the calls of a mask that no rule matches wherever the conditions hold."""
        for held in self._following(conditions):
            mask &= ~held.mask
            if not mask:
                break
        return mask

    def _following(self, conditions: Conditions) -> Iterable[_Held]:
        """Yield what is held under conditions that follow from these."""
        implied = {weaker: None for one in conditions for weaker in self._weaker(one)}
        looked_at = 0
        for rarest in (None, *implied):
            for candidate in self._sets.get(rarest, ()):
                looked_at += 1
                if looked_at > _MOST_CANDIDATES:
                    return
                if candidate <= implied.keys():
                    yield self._held[candidate]

    def _find_weaker(self, condition: Condition) -> tuple[Condition, ...]:
        alike = self._alike.get(about(condition), [])
        if len(alike) > _MOST_ALIKE:
            return (condition,)
        return tuple(other for other in (condition, *alike) if implies(condition, other))


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
