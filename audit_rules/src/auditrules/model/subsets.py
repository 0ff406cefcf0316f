"""Sets that are searched for those within another: found by hash, not by comparing each with each.

The search is bounded, so that many sets take no longer than in proportion to their number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Generic, TypeVar

MOST_LOOKED_AT = 2000
"""Up to so many sets are looked at for one question; beyond, no more are found."""

_T = TypeVar("_T", bound="Hashable")


class Subsets(Generic[_T]):
    """Sets, added one by one; `frequency` says of a member how many sets have it."""

    def __init__(self, frequency: Callable[[_T], int]) -> None:
        self._frequency = frequency
        self._empty: list[frozenset[_T]] = []
        self._by_rarest: dict[_T, list[frozenset[_T]]] = {}

    def add(self, members: Sequence[_T]) -> None:
        """Add a set that is not there yet."""
        own = frozenset(members)
        if not own:
            self._empty.append(own)
            return
        # Under the member that fewest sets have, the lists stay short.
        self._by_rarest.setdefault(min(members, key=self._frequency), []).append(own)

    def within(self, whole: AbstractSet[_T]) -> Iterator[frozenset[_T]]:
        """Yield the sets that are part of a set: in its order, and then in that of adding."""
        yield from self._empty
        looked_at = len(self._empty)
        for member in whole:
            for one in self._by_rarest.get(member, ()):
                looked_at += 1
                if looked_at > MOST_LOOKED_AT:
                    return
                if one <= whole:
                    yield one
