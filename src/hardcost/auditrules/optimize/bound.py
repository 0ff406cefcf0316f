"""The least that any set of rules which records the same can cost a call, under the cost model.

The argument. Take calls that the set decides about: witnesses. In any set that records the same,
each witness is matched by a rule of the exit list (the files that it visits are ones that no rule
names, so no bucket holds them). Two witnesses need two rules if they differ in action or key, or if
every rule that matches both also matches a call about which nothing is decided. Such a call is found
by mixing the two: each condition looks at one group of what a call is (`_GROUPS`), so that a call
each of whose groups comes from one of the two meets every condition that both meet. `perm` looks
at several groups, and is checked for each permission; a comparison of an id with a file's owner
looks at two, and these are not parted. Where the witnesses differ in a file's place or in the
program, what lies beside both will do: one rule has at most one `dir`, and at most one `exe`.

A clique is a number of witnesses each two of which need two rules. So the exit list has at least as
many rules as a clique has witnesses. For a call about which nothing is decided, all are walked:

- a rule that matches a witness with this call's number names the number. It costs at least entering
  it and the cheapest condition that holds for the witness and fails for the call;
- every other rule of a clique costs at least what passing over one costs.

A path rule is counted the same way, at the chance of 1 in 32 for each visited file to lie in its
bucket. A call that is recorded costs at least its record, and one rule that matches.

With a rule of `never` in front the sets meant are those that record the same without it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from hardcost.auditrules.cost.events import SOME_INODE, of_number
from hardcost.auditrules.cost.predict import predict
from hardcost.auditrules.event import FileId
from hardcost.auditrules.kernelrule import (
    CALLS,
    UNSET,
    Action,
    FilterList,
    KernelRule,
    Operator,
    Test,
)
from hardcost.auditrules.optimize.reach import bits, reach
from hardcost.auditrules.optimize.witness import FRESH_INODE, file_at, witness
from hardcost.auditrules.semantics import BUCKETS, holds, permissions
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hardcost.auditrules.event import Event
    from hardcost.auditrules.optimize.prices import Prices
    from hardcost.auditrules.tables.lookup import Arch

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "arch": ("arch",),
    "call": ("call",),
    "names": ("names",),
    "exe": ("exe",),
    "exit": ("exit",),
    "users": ("uid", "euid", "suid", "fsuid", "auid"),
    "groups": ("gid", "egid", "sgid", "fsgid", "groups"),
    "arguments": ("arguments", "open_flags"),
    "rest": ("pid", "ppid", "sessionid", "personality", "socket_family", "subject"),
}
"""What a call is, in groups: a condition other than `perm` and some of -C looks at one of them."""

_COMPARED = ("names", "users", "groups")
"""The groups of which -C compares two: the users, or the groups, with files' owners."""

_TELL: Mapping[str, tuple[str, ...]] = {
    "arch": ("arch", "perm"),
    "names": ("dir", "filetype", "devmajor", "devminor", "obj_uid", "obj_gid"),
    "exe": ("exe",),
    "exit": ("exit", "success"),
    "users": ("uid", "euid", "suid", "fsuid", "auid", "loginuid_set"),
    "groups": ("gid", "egid", "sgid", "fsgid"),
    "arguments": ("a0", "a1", "a2", "a3", "perm"),
    "rest": ("pid", "ppid", "sessionid", "pers", "saddr_fam"),
}
"""By which fields a rule can tell calls apart that differ in a group."""

_EQUAL_ALONE = frozenset({"dir", "perm"})
_EITHER_WAY = frozenset({"arch", "exe", "filetype", "loginuid_set"})
_EQUAL_OR_NOT = (Operator.EQUAL, Operator.NOT_EQUAL)
"""Operators that the kernel takes for these fields (`audit_field_valid`, AF:320)."""

_NO_VALUE = 0x7EDCBA99
"""A number that no call has anywhere."""

_TRIED = 5
"""Calls of a rule, of each ABI, with which the largest clique is looked for."""

_SERVICE: Mapping[str, Any] = {
    **dict.fromkeys(("uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid"), 0),
    "auid": UNSET,
    "sessionid": UNSET,
}
"""Who acts where a service does."""

_ODD: Mapping[str, Any] = {
    "arguments": (1 << 20, 1 << 20, 1 << 20, 1 << 20),
    "open_flags": 1 << 20,
    "exit": -133,
    "pid": 31001, "ppid": 31002, "sessionid": 31003,
    "uid": 31010, "euid": 31011, "suid": 31012, "fsuid": 31013, "auid": 31014,
    "gid": 31020, "egid": 31021, "sgid": 31022, "fsgid": 31023,
}  # fmt: skip
"""What rules have no reason to ask for: a rule that matches it asks for nothing there."""

Reached = Mapping[tuple["Arch", int], float]
"""Costs by call (instructions)."""

Class = tuple[str, str]
"""What a rule does: its action and its key."""


@dataclass(frozen=True)
class Witness:
    """A call that the set decides about, what it does, and how far it is from a typical one."""

    event: Event
    does: Class
    odd: int = 0


class Bounds:
    """The least cost of each call, for one set of rules."""

    def __init__(self, rules: Sequence[KernelRule], prices: Prices) -> None:
        self.prices, self.b32 = prices, prices.b32
        self.loaded = prices.loaded(rules)
        self.files = self.loaded.files
        exit_list = self.loaded.lists[FilterList.EXIT]
        self.exit = [self.loaded.rules[index] for index in exit_list]
        self.paths = [
            self.loaded.rules[index]
            for bucket in self.loaded.buckets
            for index in bucket
            if self.loaded.rules[index].list is FilterList.EXIT
        ]
        self._conflicts: dict[tuple[int, int], bool] = {}
        self._by_call: dict[int, list[KernelRule]] = {}
        self._tests: dict[tuple[str, Arch, int], float] = {}

    # Witnesses -----------------------------------------------------------------------------------

    @cached_property
    def witnesses(self) -> dict[int, list[Witness]]:
        """Witnesses by number of the call."""
        found: dict[int, list[Witness]] = defaultdict(list)
        for rule in self.exit:
            calls = reach(rule, b32=self.b32)
            for arch in lookup.ARCHES:
                for number in bits(calls.of(arch) & _named_calls()):
                    found[number] += self._of_rule(rule, self._placed(of_number(number, arch)))
        for witnesses in found.values():
            witnesses.sort(key=lambda one: one.odd)
        return found

    def _of_rule(self, rule: KernelRule, typical: Event) -> Iterator[Witness]:
        """Yield the typical call, a service's and an odd one, each so changed that it matches."""
        starts = (typical, replace(typical, **_SERVICE), replace(typical, **_ODD))
        for odd, start in enumerate(starts):
            event = witness(rule, start, self.files)
            does = None if event is None else self.decided(event)
            if event is not None and does is not None:
                yield Witness(event, does, odd)

    @cached_property
    def path_witnesses(self) -> dict[int, list[Witness]]:
        """Calls on a watched file that only its rule decides about, by number."""
        found: dict[int, list[Witness]] = defaultdict(list)
        for rule in self.paths:
            if rule.path is None:
                continue
            calls = reach(rule, b32=self.b32)
            for arch in lookup.ARCHES:
                for number in bits(calls.of(arch) & _named_calls()):
                    event = witness(rule, of_number(number, arch), self.files)
                    if event is not None and self.decided(event) is None:
                        found[number].append(Witness(event, (rule.action.value, rule.key)))
        return found

    def _placed(self, event: Event) -> Event:
        """Return the call on files that no rule names."""
        names = tuple(
            replace(name, file=FileId(0, 0, FRESH_INODE)) if name.path else name
            for name in event.names
        )
        return replace(event, names=names)

    def decided(self, event: Event) -> Class | None:
        """Return what the exit list does about a call, None if nothing."""
        if event.call not in self._by_call:
            self._by_call[event.call] = [rule for rule in self.exit if rule.names(event.call)]
        for rule in self._by_call[event.call]:
            if all(holds(test, event, None, self.files) for test in rule.conditions):
                return rule.action.value, rule.key
        return None

    # Which witnesses need two rules --------------------------------------------------------------

    def need_two(self, a: Witness, b: Witness) -> bool:
        """Say whether no rule can match both without matching what must stay undecided."""
        if a.does != b.does:
            return True
        if a is b:
            return False
        known = (id(a), id(b)) if id(a) < id(b) else (id(b), id(a))
        if known not in self._conflicts:
            self._conflicts[known] = any(
                self._told_by_no_permission(a.event, b.event, mixed) and self._undecided(mixed)
                for mixed in _mixed(a.event, b.event)
            )
        return self._conflicts[known]

    def _undecided(self, event: Event) -> bool:
        """Say whether nothing at all decides about a call."""
        if self.decided(event) is not None:
            return False
        return not any(
            rule.names(event.call)
            and all(holds(test, event, name, self.files) for test in rule.conditions)
            for name in event.names
            if name.file.inode not in {FRESH_INODE, SOME_INODE}
            for rule in self.paths
        )

    @staticmethod
    def _told_by_no_permission(a: Event, b: Event, mixed: Event) -> bool:
        """Say whether each test of `perm` that holds for both holds for the mixed call."""
        one, other, third = permissions(a), permissions(b), permissions(mixed)
        return all(third & wanted for wanted in range(1, 16) if one & wanted and other & wanted)

    def clique(self, witnesses: Iterable[Witness], given: Sequence[Witness] = ()) -> list[Witness]:
        """Return many witnesses each two of which, and each with the given ones, need two rules."""
        candidates = [one for one in witnesses if all(self.need_two(one, other) for other in given)]
        by_class: dict[Class, list[Witness]] = defaultdict(list)
        for one in candidates:
            by_class[one.does].append(one)
        found: list[Witness] = []
        for members in by_class.values():
            needs = {
                id(one): sum(self.need_two(one, other) for other in members) for one in members
            }
            ordered = sorted(members, key=lambda one: -needs[id(one)])
            grown = max((self._grown(start, ordered) for start in ordered), key=len)
            found += self._made_typical(grown, members)
        return found

    def _grown(self, start: Witness, members: Sequence[Witness]) -> list[Witness]:
        grown = [start]
        for one in members:
            if one is not start and all(self.need_two(one, other) for other in grown):
                grown.append(one)
        return grown

    def _made_typical(self, clique: list[Witness], members: Sequence[Witness]) -> list[Witness]:
        """Return the clique with typical calls in the place of odd ones, where they do as well."""
        for at, one in enumerate(clique):
            rest = [other for other in clique if other is not one]
            if one.odd:
                clique[at] = next(
                    (
                        other
                        for other in members
                        if other.odd < one.odd
                        and all(self.need_two(other, third) for third in rest)
                    ),
                    one,
                )
        return clique

    @cached_property
    def all_needed(self) -> list[Witness]:
        """As large a clique as was found, over all calls."""
        chosen: list[Witness] = []
        by_rule: dict[tuple[object, ...], list[Witness]] = defaultdict(list)
        for witnesses in self.witnesses.values():
            for one in witnesses:
                by_rule[one.does, one.event.arch, one.odd, _shape(one.event)].append(one)
        for members in by_rule.values():
            members.sort(key=lambda one: (not self._by_arch_alone(one), one.odd, one.event.call))
            chosen += members[:_TRIED]
        return self.clique(chosen)

    def _by_arch_alone(self, one: Witness) -> bool:
        """Say whether nothing but `arch` tells the call from one that must stay undecided."""
        other = replace(one.event, arch="b32" if one.event.arch == "b64" else "b64")
        return self._told_by_no_permission(one.event, one.event, other) and self._undecided(other)

    @cached_property
    def paths_needed(self) -> list[Witness]:
        """Calls on watched files, each of which needs a rule of its own."""
        one_each: dict[tuple[object, ...], Witness] = {}
        for witnesses in self.path_witnesses.values():
            for one in witnesses:
                one_each.setdefault((one.does, one.event.names[0].file), one)
        return self.clique(one_each.values(), self.all_needed)

    # Costs ---------------------------------------------------------------------------------------

    def of(self, arch: Arch, number: int, reached: Reached | None = None) -> float:
        """Return the least that rules can cost the typical call (instructions).

        With `reached`, the costs under some set: among sets that cost no call of greater weight more
        than these.
        """
        event = of_number(number, arch)
        prediction = predict(self.prices.constants, self.loaded, event)
        walk = self.prices.constants.walk
        does = self.decided(event)
        if does is not None:
            return prediction.recording + self._of_deciding(event, does)
        named = self.clique(self.witnesses.get(number, ()))
        total = sum(walk["enter"] + self._cheapest(one.event, event) for one in named)
        total += walk["unnamed"] * max(0, len(self.all_needed) - len(named))
        return total + self._of_buckets(event)

    def _of_deciding(self, event: Event, does: Class) -> float:
        """Return the least that the rule which decides about a call can cost it.

        Where another call must stay undecided that differs in one group, the rule looks at that.
        """
        walk = self.prices.constants.walk
        total = walk["enter"] + walk["matched"]
        if does[1]:
            total += walk["key"] + walk["key-byte"] * len(does[1].encode())
        for group, names in _TELL.items():
            if any(self._undecided(other) for other in _others(event, group)):
                total += min(
                    self._field(name) for name in names if name != "perm" or permissions(event)
                )
        return total + min(0.0, walk["bare"])

    def _field(self, name: str) -> float:
        """Return the least that testing a field costs, whatever the call is."""
        fields, operators = self.prices.constants.field, self.prices.constants.operator
        cost = fields.get(name, fields["other"])
        if name in _EQUAL_ALONE:
            return cost
        family = {"uid": "user", "gid": "group"}.get(name[-3:], "number")
        family = name if name in {"exe", "filetype"} else family
        allowed = _EQUAL_OR_NOT if name in _EITHER_WAY else tuple(Operator)
        return cost + min(0.0, *(operators.get(f"{family} {one}", 0.0) for one in allowed))

    def behind(
        self, first: KernelRule, arch: Arch, number: int, reached: Reached | None = None
    ) -> float:
        """Return the least cost where a given rule of `never` stands in front.

        A call that it does not name pays for that, and then what it would without the rule, or what
        another such rule costs, over those of the machine's own calls that nobody asks for.
        """
        event = of_number(number, arch)
        own = self.prices.of_rule(first, event)
        if first.names(number) and all(
            holds(test, event, None, self.files) for test in first.conditions
        ):
            return own + self._of_buckets(event)
        asked = arch != "b64" or any(
            reach(rule, b32=self.b32).of(arch) >> number & 1 for rule in (*self.exit, *self.paths)
        )
        other = math.inf if asked else self._own_never(event) + self._of_buckets(event)
        return own + min(self.of(arch, number, reached), other)

    def _own_never(self, event: Event) -> float:
        """Return what a rule of `never` over calls of one ABI costs a call that it names."""
        own = Test("arch", Operator.EQUAL, lookup.ARCH_NUMBERS[event.arch])
        rule = KernelRule(FilterList.EXIT, Action.NEVER, 1 << event.call, (own,))
        return self.prices.of_rule(rule, event)

    def _of_buckets(self, event: Event) -> float:
        """Return the least that path rules cost the call, where its files may lie in any bucket."""
        visited = sum(name.file.inode == SOME_INODE for name in event.names)
        if not visited:
            return 0.0
        walk = self.prices.constants.walk
        named = {
            (one.does, one.event.names[0].file) for one in self.path_witnesses.get(event.call, ())
        }
        fields = self.prices.constants.field
        # In its bucket a file is told by path or inode, or else by who owns it, or what it is.
        telling = ("path", "own-inode", "devmajor", "devminor", *_TELL["names"])
        entered = walk["enter"] + min(
            self._field(name) + self.prices.constants.each.get(name, 0.0)
            for name in telling
            if name in fields
        )
        total = 0.0
        for one in self.paths_needed:
            known = (one.does, one.event.names[0].file) in named
            total += (entered if known else walk["unnamed"]) / BUCKETS
        return total * visited

    def _cheapest(self, event: Event, typical: Event) -> float:
        """Return what the cheapest condition costs that holds for one call and fails for another."""
        costs = [
            self._failing(name, typical)
            for group, names in _TELL.items()
            if _part(event, group) != _part(typical, group)
            for name in names
        ]
        if any(_part(event, one) != _part(typical, one) for one in _COMPARED):
            fields = self.prices.constants.field
            least = min(self.prices.constants.operator.values(), default=0.0)
            costs += [cost + least for name, cost in fields.items() if ":" in name]
        return min(costs, default=0.0)

    def _failing(self, name: str, event: Event) -> float:
        """Return what a test of a field costs that fails for a call: with `=`, the cheapest."""
        known = name, event.arch, event.call
        if known not in self._tests:
            values: tuple[int | str, ...] = (_NO_VALUE,)
            if name in {"dir", "exe"}:
                values = ("/~",)
            elif name in {"perm", "filetype"}:
                values = (1, 2, 4, 8)
            elif name in {"success", "loginuid_set"}:
                values = (0, 1)
            fields = self.prices.constants.field
            cheaper = self._field(name) - fields.get(name, fields["other"])
            tests = [Test(name, Operator.EQUAL, value) for value in values]
            self._tests[known] = min(
                (
                    self.prices.of_test(test, event) + cheaper
                    for test in tests
                    if not holds(test, event, None, self.files)
                ),
                default=math.inf,
            )
        return self._tests[known]


def _part(event: Event, group: str) -> tuple[Any, ...]:
    return tuple(getattr(event, name) for name in _GROUPS[group])


def _with_group(event: Event, other: Event, group: str) -> Event:
    """Return the first call with a group of the second."""
    return replace(event, **{name: getattr(other, name) for name in _GROUPS[group]})


def _shape(event: Event) -> tuple[object, ...]:
    """Return what of a call tells witnesses of one rule from those of another, but for its number."""
    places = tuple(name.path for name in event.names if name.path and name.path.endswith("~"))
    return event.exit is not None and event.exit < 0 and event.exit, event.exe, places


def _others(event: Event, group: str) -> list[Event]:
    """Return calls that differ from one in a group."""
    if group == "arch":
        return [replace(event, arch="b32" if event.arch == "b64" else "b64")]
    if group == "names":
        return [replace(event, names=())] if event.names else []
    known = {name: value for name, value in _ODD.items() if name in _GROUPS[group]}
    return [replace(event, **known)] if known else []


@cache
def _named_calls() -> int:
    """Return the numbers that are a call in either ABI."""
    return sum({1 << n for arch in lookup.ARCHES for n in lookup.call_names(arch) if n < CALLS})


def _mixed(a: Event, b: Event) -> Iterator[Event]:
    """Yield calls that meet every condition, `perm` aside, that both calls meet."""
    one, other = (frozenset((name.uid, name.gid) for name in each.names) for each in (a, b))
    # A file's owner may be compared with an id: what belongs together is not parted.
    parted = one != other and any(_part(a, ids) != _part(b, ids) for ids in ("users", "groups"))
    for group in _GROUPS:
        if _part(a, group) == _part(b, group):
            continue
        if group in _COMPARED and parted:
            continue
        yield _with_group(a, b, group)
        yield _with_group(b, a, group)
    if a.exe is not None and b.exe is not None and a.exe != b.exe:
        yield replace(a, exe=FileId(0, 0, FRESH_INODE + 1))
    yield from _beside(a, b)


def _beside(a: Event, b: Event) -> Iterator[Event]:
    """Yield a call on a new file that lies in every directory in which the files of both lie."""
    if len(a.names) != 1 or len(b.names) != 1 or a.names == b.names:
        return
    one, other = a.names[0], b.names[0]
    alike = (one.mode, one.uid, one.gid, one.file[:2], one.label, one.special_device)
    if one.path is None or other.path is None or alike != (
        other.mode, other.uid, other.gid, other.file[:2], other.label, other.special_device
    ):  # fmt: skip
        return
    shared: list[str] = []
    for part, same in zip(one.path.split("/"), other.path.split("/"), strict=False):
        if part != same:
            break
        shared.append(part)
    place = "/".join([*shared, "~beside"])
    yield replace(a, names=(file_at(place, FileId(*one.file[:2], FRESH_INODE), a),))
