"""Calls as numbers, one for each group of what they are, so that like calls are looked at once.

Calls that no rule tells apart by their numbers are a class, and count as one call here. There are
some 800 calls in both ABIs, and a few dozen classes.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hardcost.auditrules.cost.alike import Named, kind, spelled
from hardcost.auditrules.cost.events import of_number
from hardcost.auditrules.event import Event, FileId
from hardcost.auditrules.kernelrule import Comparison
from hardcost.auditrules.optimize.mixing import COMPARED, GROUPS, TELL, beside
from hardcost.auditrules.optimize.witness import FRESH_INODE, file_at
from hardcost.auditrules.semantics import holds, permissions
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from hardcost.auditrules.event import Name
    from hardcost.auditrules.kernelrule import Condition, KernelRule

Ids = tuple[int, ...]
"""A call: for each of GROUPS the number of what it is."""

_AT = {group: at for at, group in enumerate(GROUPS)}
CALL, ARGUMENTS = _AT["call"], _AT["arguments"]
_NAMES, _EXE = _AT["names"], _AT["exe"]
_OF_PERM = tuple(_AT[group] for group in ("arch", "call", "arguments"))
_OF_PAIRS = tuple(_AT[group] for group in sorted(COMPARED))
_LOOKS_AT = {
    name: (_AT[group],) for group, names in TELL.items() for name in names if name != "perm"
} | {"perm": _OF_PERM}


class Pool:
    """The calls that were met, with the rules that can tell them apart."""

    def __init__(self, rules: Sequence[KernelRule], files: Mapping[str, FileId]) -> None:
        self.files = files
        self._named = Named(rules)
        self._known: list[dict[Hashable, int]] = [{} for _ in GROUPS]
        self._values: list[list[tuple[Any, ...]]] = [[] for _ in GROUPS]
        self._held: dict[tuple[Condition, Ids], bool] = {}
        self._permitted: dict[Ids, int] = {}
        self._places: dict[tuple[int, int], tuple[str, FileId] | None] = {}
        self._near_files: dict[tuple[tuple[str, FileId], int, int], Name] = {}

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
        """Return the number of what a group is."""
        known = self._known[at]
        number = known.setdefault(spelled(values), len(known))
        if number == len(self._values[at]):
            self._values[at].append(values)
        return number

    def event(self, ids: Ids) -> Event:
        """Return a call of these numbers: the first of its class."""
        fields: dict[str, Any] = {}
        for at, names in enumerate(GROUPS.values()):
            fields.update(zip(names, self._values[at][ids[at]], strict=True))
        return Event(**fields)

    def permissions(self, ids: Ids) -> int:
        """Return the permissions that a call stands for, as `semantics.permissions` does."""
        known = tuple(ids[at] for at in _OF_PERM)
        if known not in self._permitted:
            self._permitted[known] = permissions(self.event(ids))
        return self._permitted[known]

    def all_hold(self, conditions: Sequence[Condition], ids: Ids) -> bool:
        """Say whether all conditions hold for a call, whichever files it visits."""
        return all(self.holds(condition, ids) for condition in conditions)

    def holds(self, condition: Condition, ids: Ids) -> bool:
        """Say whether a condition holds for a call."""
        looks_at = _OF_PAIRS
        if not isinstance(condition, Comparison):
            looks_at = _LOOKS_AT.get(condition.field, tuple(range(len(GROUPS))))
        known = condition, tuple(ids[at] for at in looks_at)
        if known not in self._held:
            self._held[known] = holds(condition, self.event(ids), None, self.files)
        return self._held[known]

    # Calls mixed out of two ----------------------------------------------------------------------

    def mixed(self, a: Ids, b: Ids) -> Iterator[tuple[Ids, bool]]:
        """Yield calls that meet every condition, `perm` aside, that both calls meet.

        With each stands whether it has the first one's number.
        """
        parted = self._owners(a) != self._owners(b) and any(
            a[_AT[ids]] != b[_AT[ids]] for ids in ("users", "groups")
        )  # a file's owner may be compared with an id: what belongs together is not parted
        for group, at in _AT.items():
            if a[at] == b[at] or (parted and group in COMPARED):
                continue
            yield (*a[:at], b[at], *a[at + 1 :]), at != CALL
            yield (*b[:at], a[at], *b[at + 1 :]), at == CALL
        programs = [self._values[_EXE][one[_EXE]][0] for one in (a, b)]
        if None not in programs and programs[0] != programs[1]:
            yield self._with(a, _EXE, (FileId(0, 0, FRESH_INODE + 1),)), True
        near = self._near(a, b)
        if near is not None:
            yield near, True

    def _with(self, ids: Ids, at: int, values: tuple[Any, ...]) -> Ids:
        return (*ids[:at], self._number(at, values), *ids[at + 1 :])

    def _owners(self, ids: Ids) -> frozenset[tuple[int, int]]:
        (names,) = self._values[_NAMES][ids[_NAMES]]
        return frozenset((name.uid, name.gid) for name in names)

    def _near(self, a: Ids, b: Ids) -> Ids | None:
        """Return the first call on a new file in every directory in which the files of both lie."""
        known = a[_NAMES], b[_NAMES]
        if known not in self._places:
            one, other = (self._values[_NAMES][number][0] for number in known)
            self._places[known] = beside(one, other)
        place = self._places[known]
        if place is None:
            return None
        owned = place, a[_AT["users"]], a[_AT["groups"]]
        if owned not in self._near_files:
            self._near_files[owned] = file_at(*place, self.event(a))
        return self._with(a, _NAMES, ((self._near_files[owned],),))
