"""How many rules a set needs: events no two of which one rule can match.

Take calls that the set decides about: witnesses. In any set that records the same, each witness is
matched by a rule of the exit list (the files that it visits are ones that no rule names, so that no
bucket holds them). Two witnesses need two rules if they differ in action or key, or if every rule
that matches both also matches a call about which nothing is decided. Such a call is found by mixing
the two (see `mixing`). `perm` is checked for each permission. Where the witnesses differ in where a
file is, or in the program, what lies beside both will do: a rule has but one `dir` and one `exe`.

Where something else is decided about the mixed call, a rule that does so has to stand before the
one that matches both, and must match neither. Sets are meant that test arguments (a0 to a3) only as
the given rules do; if then no such rule can be, two rules are needed as well.

A clique is a number of witnesses each two of which need two rules. So the exit list has at least as
many rules as a clique has witnesses.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

from hardcost.auditrules.cost.events import SOME_INODE, of_number
from hardcost.auditrules.event import FileId
from hardcost.auditrules.kernelrule import CALLS, Action, FilterList, Operator, Test
from hardcost.auditrules.optimize.mixing import GROUPS, ODD, SERVICE, mixed, part, spelled
from hardcost.auditrules.optimize.reach import bits, reach
from hardcost.auditrules.optimize.witness import FRESH_INODE, witness
from hardcost.auditrules.semantics import decide, holds, permissions
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hardcost.auditrules.event import Event
    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.semantics import Loaded

_TRIED = (4, 1, 2, 2)
"""Calls of a rule, of each ABI, with which the largest clique is looked for: by `Witness.odd`."""

Class = tuple[str, str]
"""What a rule does: its action and its key."""


@dataclass(frozen=True)
class Witness:
    """A call that the set decides about, what it does, and how far it is from a typical one.

    `rule` is the index of the rule that it was made for; that one, or one before it, decides.
    """

    event: Event
    does: Class
    rule: int
    odd: int = 0


class Needs:
    """What a set of rules needs, as the kernel arranges it."""

    def __init__(self, loaded: Loaded, *, b32: bool) -> None:
        self.b32, self.loaded, self.files = b32, loaded, loaded.files
        self.exit = [loaded.rules[index] for index in loaded.lists[FilterList.EXIT]]
        self.path_rules = [
            loaded.rules[index]
            for bucket in loaded.buckets
            for index in bucket
            if loaded.rules[index].list is FilterList.EXIT
        ]
        self._conflicts: dict[tuple[int, int], bool] = {}
        self._by_call: dict[int, list[KernelRule]] = {}
        self._looks: dict[int, dict[str, frozenset[object]]] = {}
        self._taken: dict[int, int | None] = {}

    # Witnesses -----------------------------------------------------------------------------------

    @cached_property
    def witnesses(self) -> dict[int, list[Witness]]:
        """Witnesses by number of the call."""
        found: dict[int, list[Witness]] = defaultdict(list)
        for index, rule in enumerate(self.exit):
            calls = reach(rule, b32=self.b32)
            for arch in lookup.ARCHES:
                for number in bits(calls.of(arch) & _named_calls()):
                    for own in lookup.ARCHES:
                        # The other ABI's typical call too: what is then other is the ABI alone.
                        typical = replace(of_number(number, own), arch=arch)
                        if own == arch or number in lookup.call_names(own):
                            found[number] += self._of_rule(index, placed(typical))
        for witnesses in found.values():
            witnesses.sort(key=lambda one: one.odd)
        return found

    def _of_rule(self, index: int, typical: Event) -> Iterator[Witness]:
        """Yield calls so changed that a rule matches: typical, a service's, odd, of all flags."""
        flags = _flags(self.exit[index])
        starts = (
            typical,
            replace(typical, **SERVICE),
            replace(typical, **ODD),
            replace(typical, arguments=(flags,) * 4, open_flags=flags),
        )
        for odd, start in enumerate(starts):
            event = witness(self.exit[index], start, self.files)
            does = None if event is None else self.decided(event)
            if event is not None and does is not None:
                yield Witness(event, does, index, odd)

    @cached_property
    def path_witnesses(self) -> dict[int, list[Witness]]:
        """Calls on a watched file that only its rule decides about, by number."""
        found: dict[int, list[Witness]] = defaultdict(list)
        for index, rule in enumerate(self.path_rules):
            if rule.path is None:
                continue
            calls = reach(rule, b32=self.b32)
            for arch in lookup.ARCHES:
                for number in bits(calls.of(arch) & _named_calls()):
                    event = witness(rule, of_number(number, arch), self.files)
                    if event is None or self.decided(event) is not None:
                        continue
                    by = decide(self.loaded, event).decided_by
                    if by is not None:
                        found[number].append(Witness(event, _does(self.loaded.rules[by]), index))
        return found

    def decided(self, event: Event) -> Class | None:
        """Return what the exit list does about a call, None if nothing."""
        if event.call not in self._by_call:
            self._by_call[event.call] = [rule for rule in self.exit if rule.names(event.call)]
        for rule in self._by_call[event.call]:
            if all(holds(test, event, None, self.files) for test in rule.conditions):
                return _does(rule)
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
                _told_by_no_permission(a.event, b.event, between)
                and (self.undecided(between) or self._out_of_turn(a, b, between))
                for between in mixed(a.event, b.event)
            )
        return self._conflicts[known]

    def _out_of_turn(self, a: Witness, b: Witness, between: Event) -> bool:
        """Say whether no rule can decide otherwise about the call between before one for both does.

        Such a rule would have to fail for both.
        """
        does = self.decided(between)
        return does not in {None, a.does} and not all(
            self._tells(between, one.event) for one in (a, b)
        )

    def _tells(self, event: Event, other: Event) -> bool:
        """Say whether a rule might match one call and not another.

        Arguments are tested as the given rules do, or by `perm`.
        """
        differing = {group for group in GROUPS if part(event, group) != part(other, group)}
        if differing - {"arguments"}:
            return True
        if permissions(event) & ~permissions(other):
            return True
        return any(
            holds(test, event, None, self.files) and not holds(test, other, None, self.files)
            for test in self._argument_tests
        )

    @cached_property
    def _argument_tests(self) -> frozenset[Test]:
        return frozenset(
            test
            for rule in (*self.exit, *self.path_rules)
            for test in rule.conditions
            if isinstance(test, Test) and test.field in {"a0", "a1", "a2", "a3"}
        )

    def undecided(self, event: Event) -> bool:
        """Say whether nothing at all decides about a call."""
        if self.decided(event) is not None:
            return False
        return not any(
            rule.names(event.call)
            and all(holds(test, event, name, self.files) for test in rule.conditions)
            for name in event.names
            if name.file.inode not in {FRESH_INODE, SOME_INODE}
            for rule in self.path_rules
        )

    def looks(self, one: Witness) -> Mapping[str, frozenset[object]]:
        """Return what the calls look like that the rule of a witness has to match, by group.

        That is where no rule is to spare. The group `files` has calls' numbers and files together.
        """
        own = self.taken(one)
        if own is None:
            return {}
        if own not in self._looks:
            found: dict[str, set[object]] = defaultdict(set)
            for witnesses in self.witnesses.values():
                for other in witnesses:
                    if self.taken(other) == own:
                        for group in GROUPS:
                            found[group].add(spelled(other.event, group))
                        found["files"].add((other.event.call, spelled(other.event, "names")))
            self._looks[own] = {group: frozenset(seen) for group, seen in found.items()}
        return self._looks[own]

    def naming(self, number: int) -> list[Witness]:
        """Return one witness for each rule that has to name a call, where no rule is to spare."""
        found: dict[int, Witness] = {}
        for one in self.witnesses.get(number, ()):
            own = self.taken(one)
            if own is not None:
                found.setdefault(own, one)
        return list(found.values())

    def taken(self, one: Witness) -> int | None:
        """Return whose rule has to match a witness where no rule is to spare, as an index.

        It is the one in `everywhere` that the witness needs no rule beside, if there is but one.
        """
        if id(one) not in self._taken:
            may = [
                index
                for index, member in enumerate(self.everywhere)
                if member.does == one.does and not self.need_two(one, member)
            ]
            self._taken[id(one)] = may[0] if len(may) == 1 else None
        return self._taken[id(one)]

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
            found += grown
        return found

    def _grown(self, start: Witness, members: Sequence[Witness]) -> list[Witness]:
        grown = [start]
        for one in members:
            if one is not start and all(self.need_two(one, other) for other in grown):
                grown.append(one)
        return grown

    @cached_property
    def everywhere(self) -> list[Witness]:
        """As large a clique as was found, over all calls."""
        chosen: list[Witness] = []
        by_rule: dict[tuple[object, ...], list[Witness]] = defaultdict(list)
        for witnesses in self.witnesses.values():
            for one in witnesses:
                by_rule[one.rule, one.event.arch, one.odd].append(one)
        for members in by_rule.values():
            members.sort(key=lambda one: (not self._by_arch_alone(one), one.event.call))
            by_call = {one.event.call: one for one in reversed(members)}
            chosen += list(reversed(by_call.values()))[: _TRIED[members[0].odd]]
        return self.clique(chosen)

    def _by_arch_alone(self, one: Witness) -> bool:
        """Say whether nothing but `arch` tells the call from one that must stay undecided."""
        other = replace(one.event, arch="b32" if one.event.arch == "b64" else "b64")
        return _told_by_no_permission(one.event, one.event, other) and self.undecided(other)

    @cached_property
    def paths(self) -> list[Witness]:
        """Calls on watched files, each of which needs a rule of its own."""
        one_each: dict[tuple[object, ...], Witness] = {}
        for witnesses in self.path_witnesses.values():
            for one in witnesses:
                one_each.setdefault((one.does, one.event.names[0].file), one)
        return self.clique(one_each.values(), self.everywhere)


def placed(event: Event) -> Event:
    """Return a call with the files that it visits being ones that no rule names."""
    names = tuple(
        replace(name, file=FileId(0, 0, FRESH_INODE)) if name.path else name for name in event.names
    )
    return replace(event, names=names)


def _flags(rule: KernelRule) -> int:
    """Return the bits of arguments that a rule asks for, but what a file is opened for."""
    flags = 0
    for test in rule.conditions:
        if isinstance(test, Test) and test.operator in {Operator.ANY_BIT, Operator.ALL_BITS}:
            flags |= int(test.value)
    return flags & ~3


def _does(rule: KernelRule) -> Class:
    """Return what a rule does; the key of a rule of `never` is not recorded."""
    return rule.action.value, rule.key if rule.action is Action.ALWAYS else ""


def _told_by_no_permission(a: Event, b: Event, between: Event) -> bool:
    """Say whether each test of `perm` that holds for both holds for the call between them."""
    one, other, third = permissions(a), permissions(b), permissions(between)
    return all(third & wanted for wanted in range(1, 16) if one & wanted and other & wanted)


@cache
def _named_calls() -> int:
    """Return the numbers that are a call in either ABI."""
    return sum({1 << n for arch in lookup.ARCHES for n in lookup.call_names(arch) if n < CALLS})
