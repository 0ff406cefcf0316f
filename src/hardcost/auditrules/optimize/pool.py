"""Calls as numbers, one for each group of properties, so that similar calls are examined once.

Calls that no rule distinguishes by number form a class, and count as one call here. The two ABIs
have about 800 calls, in a few dozen classes.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from hardcost.auditrules.cost.alike import Named, kind, spelled
from hardcost.auditrules.cost.events import of_number
from hardcost.auditrules.event import Event, FileId
from hardcost.auditrules.fieldtests import holds, permissions
from hardcost.auditrules.kernelrule import Comparison
from hardcost.auditrules.optimize.decidedcalls import FRESH_INODE, file_at
from hardcost.auditrules.optimize.mixing import COMPARED, GROUPS, TELL, beside
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from hardcost.auditrules.kernelrule import Condition, KernelRule

Ids = tuple[int, ...]
"""A call: for each of GROUPS the number of its value."""

_AT = {group: at for at, group in enumerate(GROUPS)}
CALL, ARGUMENTS = _AT["call"], _AT["arguments"]
_NAMES, _EXE, _USERS, _GROUPS = (_AT[group] for group in ("names", "exe", "users", "groups"))
_LOOKS_AT = {
    name: itemgetter(_AT[group])
    for group, names in TELL.items()
    for name in names
    if name != "perm"
}
_COMPARES = itemgetter(*(_AT[group] for group in sorted(COMPARED)))
seen_by_perm = itemgetter(*(_AT[group] for group in ("arch", "call", "arguments")))
"""Returns the part of a call's numbers that decides about its permissions."""


class Seen:
    """A condition, and whether it holds for each value that it tests of the calls seen so far."""

    def __init__(self, condition: Condition, pool: Pool) -> None:
        self.condition, self.pool = condition, pool
        self._looks_at: Callable[[Ids], Hashable] = tuple
        if isinstance(condition, Comparison):
            self._looks_at = _COMPARES
        elif condition.field == "perm":
            self._looks_at = seen_by_perm
        elif condition.field in _LOOKS_AT:
            self._looks_at = _LOOKS_AT[condition.field]
        self._held: dict[Hashable, bool] = {}

    def holds(self, ids: Ids) -> bool:
        """Say whether the condition holds for a call."""
        looked_at = self._looks_at(ids)
        held = self._held.get(looked_at)
        if held is None:
            event = self.pool.event(ids)
            held = self._held[looked_at] = holds(self.condition, event, None, self.pool.files)
        return held


class Pool:
    """The calls seen so far, with the rules that can distinguish them.

    All are calls of the oldest release, whose records nothing else requests.
    """

    def __init__(self, rules: Sequence[KernelRule], files: Mapping[str, FileId]) -> None:
        self.files = files
        self._named = Named(rules)
        self._known: list[dict[Hashable, int]] = [{} for _ in GROUPS]
        self._values: list[list[tuple[Any, ...]]] = [[] for _ in GROUPS]
        self._at: dict[Ids, int] = {}
        self._conditions: dict[Condition, Seen] = {}
        self._permitted: dict[Hashable, int] = {}
        self._owned: dict[int, frozenset[tuple[int, int]]] = {}
        self._places: dict[tuple[int, int], tuple[str, FileId] | None] = {}
        self._near_names: dict[tuple[tuple[str, FileId], int, int], int] = {}

    # Classes of numbers --------------------------------------------------------------------------

    @cached_property
    def classes(self) -> Mapping[int, tuple[int, ...]]:
        """The numbers that are a call in either ABI, by the lowest number of their class."""
        found: defaultdict[Hashable, list[int]] = defaultdict(list)
        for number in sorted({n for arch in lookup.ARCHES for n in lookup.call_names(arch)}):
            typical = tuple(
                (number in lookup.call_names(arch), kind(of_number(number, arch)))
                for arch in lookup.ARCHES
            )
            found[self._named.by(number), typical].append(number)
        return {numbers[0]: tuple(numbers) for numbers in found.values()}

    @cached_property
    def _first(self) -> Mapping[int, int]:
        return {number: first for first, numbers in self.classes.items() for number in numbers}

    def first(self, number: int) -> int:
        """Return the lowest number of a call's class."""
        return self._first.get(number, number)

    # Calls ---------------------------------------------------------------------------------------

    def ids(self, event: Event) -> Ids:
        """Return a call's numbers; calls of one class that are otherwise equal have the same."""
        found = []
        for at, names in enumerate(GROUPS.values()):
            values = tuple(getattr(event, name) for name in names)
            found.append(self._number(at, (self.first(event.call),) if at == CALL else values))
        return tuple(found)

    def _number(self, at: int, values: tuple[Any, ...]) -> int:
        """Return the number of a group's value."""
        known = self._known[at]
        number = known.setdefault(spelled(values), len(known))
        if number == len(self._values[at]):
            self._values[at].append(values)
        return number

    def at(self, ids: Ids) -> int:
        """Return one number for all of a call's numbers."""
        return self._at.setdefault(ids, len(self._at))

    def event(self, ids: Ids) -> Event:
        """Return a call of these numbers: the first of its class."""
        fields: dict[str, Any] = {}
        for at, names in enumerate(GROUPS.values()):
            fields.update(zip(names, self._values[at][ids[at]], strict=True))
        return Event(**fields)

    def permissions(self, ids: Ids) -> int:
        """Return the permissions of a call, as `fieldtests.permissions` does."""
        known = seen_by_perm(ids)
        if known not in self._permitted:
            self._permitted[known] = permissions(self.event(ids))
        return self._permitted[known]

    def seen(self, condition: Condition) -> Seen:
        """Return the one object for a condition, with what is known about it."""
        if condition not in self._conditions:
            self._conditions[condition] = Seen(condition, self)
        return self._conditions[condition]

    # Calls mixed out of two ----------------------------------------------------------------------

    def mixed(self, a: Ids, b: Ids) -> Iterator[tuple[Ids, bool]]:
        """Yield calls that meet every condition, `perm` aside, that both calls meet.

        Each comes with whether it has the first one's number.
        """
        # A file's owner may be compared with an id, so both stay together.
        differ = (a[_USERS] != b[_USERS] or a[_GROUPS] != b[_GROUPS]) and (
            self._owners(a) != self._owners(b)
        )
        for group, at in _AT.items():
            if a[at] == b[at] or (differ and group in COMPARED):
                continue
            yield (*a[:at], b[at], *a[at + 1 :]), at != CALL
            yield (*b[:at], a[at], *b[at + 1 :]), at == CALL
        programs = [self._values[_EXE][one[_EXE]][0] for one in (a, b)]
        if None not in programs and programs[0] != programs[1]:
            other = self._number(_EXE, (FileId(0, 0, FRESH_INODE + 1),))
            yield (*a[:_EXE], other, *a[_EXE + 1 :]), True
        near = self._near(a, b)
        if near is not None:
            yield near, True

    def _owners(self, ids: Ids) -> frozenset[tuple[int, int]]:
        known = ids[_NAMES]
        if known not in self._owned:
            (names,) = self._values[_NAMES][known]
            self._owned[known] = frozenset((name.uid, name.gid) for name in names)
        return self._owned[known]

    def _near(self, a: Ids, b: Ids) -> Ids | None:
        """Return the first call, on a new file in every directory that holds the files of both."""
        known = a[_NAMES], b[_NAMES]
        if known not in self._places:
            one, other = (self._values[_NAMES][number][0] for number in known)
            self._places[known] = beside(one, other)
        place = self._places[known]
        if place is None:
            return None
        owned = place, a[_USERS], a[_GROUPS]
        if owned not in self._near_names:
            name = file_at(*place, self.event(a))
            self._near_names[owned] = self._number(_NAMES, ((name,),))
        return (*a[:_NAMES], self._near_names[owned], *a[_NAMES + 1 :])
