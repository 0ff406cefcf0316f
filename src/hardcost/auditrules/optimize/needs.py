"""How many rules a set needs: events no two of which one rule can match.

Take calls that the set decides about: witnesses. In any set that records the same, each witness is
matched by a rule of the exit list (the files that it visits are ones that no rule names, so that no
bucket holds them). Two witnesses need two rules if they differ in action or key, or if every rule
that matches both also matches an undecided call. Such a call is found by mixing
the two (see `pool`). `perm` is checked for each permission. If the witnesses differ in a
file's path, or in the program, a value beside both will do: a rule has only one `dir` and `exe`.

If the mixed call is decided differently, the rule that does so must precede the one that matches
both, and must match neither. Only sets that test arguments (a0 to a3) as the given rules do are
considered; if no such rule is possible then, two rules are needed as well.

A clique is a set of witnesses of which every two need two rules. The exit list therefore has at
least as many rules as a clique has witnesses.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

from hardcost.auditrules.cost.events import SOME_INODE, of_number
from hardcost.auditrules.event import FileId
from hardcost.auditrules.fieldtests import holds
from hardcost.auditrules.kernelrule import CALLS, Action, FilterList, Operator, Test
from hardcost.auditrules.optimize.decidedcalls import FRESH_INODE, witness
from hardcost.auditrules.optimize.mixing import ODD, SERVICE, TELL, spelled
from hardcost.auditrules.optimize.pool import ARGUMENTS, CALL, Pool, seen_by_perm
from hardcost.auditrules.optimize.reach import bits, reach
from hardcost.auditrules.semantics import decide
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hardcost.auditrules.event import Event
    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.optimize.pool import Ids, Seen
    from hardcost.auditrules.semantics import Loaded
    from hardcost.auditrules.tables.lookup import Arch

_TRIED = (4, 1, 2, 2)
"""Calls per rule and ABI that the search for the largest clique uses, by `Witness.odd`."""

Class = tuple[str, str]
"""What a rule does: its action and its key."""


@dataclass(frozen=True)
class Witness:
    """A call that the set decides, the decision, and its distance from a typical call.

    `rule` is the index of the rule that it was made for; that one, or one before it, decides.
    `event` has the lowest number of the class of `number`; `ids` and `at` are what the pool knows
    it by.
    """

    event: Event
    ids: Ids
    at: int
    number: int
    does: Class
    rule: int
    odd: int = 0


class Needs:
    """The needs of a set of rules, as the kernel arranges it.

    `pause` is called regularly; it may raise, and the results so far are kept.
    """

    def __init__(
        self, loaded: Loaded, *, b32: bool, pause: Callable[[], None] = lambda: None
    ) -> None:
        self.b32, self.loaded, self.files, self.pause = b32, loaded, loaded.files, pause
        self.pool = Pool(loaded.rules, loaded.files)
        self.exit = [loaded.rules[index] for index in loaded.lists[FilterList.EXIT]]
        self.path_rules = [
            loaded.rules[index]
            for bucket in loaded.buckets
            for index in bucket
            if loaded.rules[index].list is FilterList.EXIT
        ]
        self._conflicts: dict[tuple[int, int, bool], bool] = {}
        self._decided: dict[Ids, Class | None] = {}
        self._undecided: dict[Ids, bool] = {}
        self._by_call: dict[int, list[tuple[list[Seen], Class]]] = {}
        self._arch_alone: dict[Ids, bool] = {}
        self._cliques: dict[int, list[Witness]] = {}
        self._at: dict[int, list[Witness]] = {}
        self._taken: dict[tuple[Ids, Class, int], int | None] = {}

    # Witnesses -----------------------------------------------------------------------------------

    @cached_property
    def _witnesses(self) -> dict[int, list[Witness]]:
        """Witnesses by the lowest number of their class."""
        found: dict[int, list[Witness]] = defaultdict(list)
        for index, rule in enumerate(self.exit):
            self.pause()
            for arch, number in self._reached(rule):
                if number not in self.pool.classes:
                    continue
                for own in lookup.ARCHES:
                    # The other ABI's typical call too, which differs only in the ABI.
                    typical = replace(of_number(number, own), arch=arch)
                    if own == arch or number in lookup.call_names(own):
                        found[number] += self._of_rule(index, placed(typical))
        for witnesses in found.values():
            witnesses.sort(key=lambda one: one.odd)
        return found

    def _reached(self, rule: KernelRule) -> Iterator[tuple[Arch, int]]:
        """Yield the calls that a rule can match and that exist in an ABI."""
        calls = reach(rule, b32=self.b32)
        for arch in lookup.ARCHES:
            for number in bits(calls.of(arch) & _named_calls()):
                yield arch, number

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
            if event is not None:
                ids = self.pool.ids(event)
                does = self._does_about(ids)
                if does is not None:
                    yield Witness(event, ids, self.pool.at(ids), event.call, does, index, odd)

    def alike(self, number: int) -> int:
        """Return the number of an equivalent call.

        The calls of a class are equivalent, except those in `everywhere`: a rule may distinguish
        two calls by number.
        """
        if number in self._singled_out:
            return number
        numbers = self.pool.classes.get(self.pool.first(number), (number,))
        return next(one for one in numbers if one not in self._singled_out)

    @cached_property
    def _singled_out(self) -> frozenset[int]:
        return frozenset(one.number for one in self.everywhere)

    def witnesses(self, number: int) -> list[Witness]:
        """Return the witnesses of a call, the least odd first."""
        if number not in self._at:
            found = self._witnesses.get(self.pool.first(number), ())
            self._at[number] = [replace(one, number=number) for one in found]
        return self._at[number]

    def clique_at(self, number: int) -> list[Witness]:
        """Return the clique of a call's witnesses."""
        first = self.pool.first(number)
        if first not in self._cliques:
            self._cliques[first] = self.clique(self.witnesses(first))
        return [replace(one, number=number) for one in self._cliques[first]]

    @cached_property
    def path_witnesses(self) -> dict[int, list[Witness]]:
        """Calls on a watched file that only its rule decides, by class."""
        found: dict[int, list[Witness]] = defaultdict(list)
        for index, rule in enumerate(self.path_rules):
            self.pause()
            if rule.path is None:
                continue
            for arch, number in self._reached(rule):
                if number not in self.pool.classes:
                    continue
                event = witness(rule, of_number(number, arch), self.files)
                if event is None or self.decided(event) is not None:
                    continue
                by = decide(self.loaded, event).decided_by
                if by is not None:
                    does = _does(self.loaded.rules[by])
                    ids = self.pool.ids(event)
                    one = Witness(event, ids, self.pool.at(ids), number, does, index)
                    found[number].append(one)
        return found

    def decided(self, event: Event) -> Class | None:
        """Return what the exit list does about a call, None if nothing."""
        return self._does_about(self.pool.ids(event))

    def _does_about(self, ids: Ids) -> Class | None:
        if ids not in self._decided:
            self._decided[ids] = next(
                (
                    does
                    for conditions, does in self._naming(ids)
                    if all(condition.holds(ids) for condition in conditions)
                ),
                None,
            )
        return self._decided[ids]

    def _naming(self, ids: Ids) -> list[tuple[list[Seen], Class]]:
        """Return the rules of the exit list that name a call: conditions, and what each does."""
        if ids[CALL] not in self._by_call:
            number = self.pool.event(ids).call
            self._by_call[ids[CALL]] = [
                ([self.pool.seen(condition) for condition in rule.conditions], _does(rule))
                for rule in self.exit
                if rule.names(number)
            ]
        return self._by_call[ids[CALL]]

    # Which witnesses need two rules --------------------------------------------------------------

    def need_two(self, a: Witness, b: Witness) -> bool:
        """Say whether every rule that matches both also matches a call that must stay undecided."""
        if a.does != b.does:
            return True
        if a is b:
            return False
        same_number = a.number == b.number
        known = (a.at, b.at, same_number) if a.at < b.at else (b.at, a.at, same_number)
        if known not in self._conflicts:
            self._conflicts[known] = self._works_out_to_two(a, b)
        return self._conflicts[known]

    def _works_out_to_two(self, a: Witness, b: Witness) -> bool:
        for between, has_number_of_a in self.pool.mixed(a.ids, b.ids):
            does = self._does_about(between)
            if not self._is_asked_about(between):
                continue
            if does == a.does or not self._told_by_no_permission(a.ids, b.ids, between):
                continue
            if does is None:
                if self._is_undecided(between):
                    return True
                continue
            # A rule with another decision must precede one for both, and fail for both.
            same = a.number == b.number
            if not (
                self._tells(between, a.ids, same_number=same or has_number_of_a)
                and self._tells(between, b.ids, same_number=same or not has_number_of_a)
            ):
                return True
        return False

    def _told_by_no_permission(self, a: Ids, b: Ids, between: Ids) -> bool:
        """Say whether each test of `perm` that holds for both holds for the call between them."""
        if seen_by_perm(between) in {seen_by_perm(a), seen_by_perm(b)}:
            return True
        one, other, third = (self.pool.permissions(ids) for ids in (a, b, between))
        return _no_permission_tells(one, other, third)

    def _tells(self, ids: Ids, other: Ids, *, same_number: bool) -> bool:
        """Say whether a rule might match one call and not another.

        Arguments are tested as the given rules do, or by `perm`.
        """
        differing = {at for at, (one, two) in enumerate(zip(ids, other, strict=True)) if one != two}
        if differing - {ARGUMENTS} or not same_number:
            return True
        if self.pool.permissions(ids) & ~self.pool.permissions(other):
            return True
        return any(test.holds(ids) and not test.holds(other) for test in self._argument_tests)

    @cached_property
    def _argument_tests(self) -> frozenset[Seen]:
        return frozenset(
            self.pool.seen(test)
            for rule in (*self.exit, *self.path_rules)
            for test in rule.conditions
            if isinstance(test, Test) and test.field in {"a0", "a1", "a2", "a3"}
        )

    def undecided(self, event: Event) -> bool:
        """Say whether a call has to stay one about which nothing decides."""
        return self._is_undecided(self.pool.ids(event))

    def _is_undecided(self, ids: Ids) -> bool:
        if ids not in self._undecided:
            self._undecided[ids] = (
                self._is_asked_about(ids)
                and self._does_about(ids) is None
                and not self._in_a_bucket(ids)
            )
        return self._undecided[ids]

    def _is_asked_about(self, ids: Ids) -> bool:
        """Say whether a call exists: where no program uses the 32-bit ABI, its calls don't."""
        return self.b32 or self.pool.event(ids).arch == "b64"

    def _in_a_bucket(self, ids: Ids) -> bool:
        """Say whether a rule of a bucket decides about a call, where none of the exit list does."""
        event = self.pool.event(ids)
        return any(
            rule.names(event.call)
            and all(holds(test, event, name, self.files) for test in rule.conditions)
            for name in event.names
            if name.file.inode not in {FRESH_INODE, SOME_INODE}
            for rule in self.path_rules
        )

    def looks(self, one: Witness) -> Mapping[str, frozenset[object]]:
        """Return the values, by group, of the calls that the rule of a witness has to match.

        This holds if no rule is to spare. The group `files` has calls' classes and files together.
        """
        own = self.taken(one)
        return {} if own is None else self._looks.get(own, {})

    @cached_property
    def _looks(self) -> dict[int, Mapping[str, frozenset[object]]]:
        """What `looks` returns, by the index of the rule's call in `everywhere`."""
        found: dict[int, dict[str, set[object]]] = defaultdict(lambda: defaultdict(set))
        for number in {self.alike(one) for each in self.pool.classes.values() for one in each}:
            self.pause()
            for one in self.witnesses(number):
                own = self.taken(one)
                if own is not None:
                    for group in TELL:
                        found[own][group].add(spelled(one.event, group))
                    files = self.pool.first(number), spelled(one.event, "names")
                    found[own]["files"].add(files)
        return {
            own: {group: frozenset(seen) for group, seen in groups.items()}
            for own, groups in found.items()
        }

    def naming(self, number: int) -> list[Witness]:
        """Return one witness for each rule that has to name a call, where no rule is to spare."""
        found: dict[int, Witness] = {}
        for one in self.witnesses(number):
            own = self.taken(one)
            if own is not None:
                found.setdefault(own, one)
        return list(found.values())

    def taken(self, one: Witness) -> int | None:
        """Return whose rule has to match a witness if no rule is to spare, as an index.

        It is the only one in `everywhere` that can share a rule with the witness, if there is one.
        """
        known = one.ids, one.does, one.number if one.number in self._singled_out else -1
        if known not in self._taken:
            may = [
                index
                for index, member in enumerate(self.everywhere)
                if member.does == one.does and not self.need_two(one, member)
            ]
            self._taken[known] = may[0] if len(may) == 1 else None
        return self._taken[known]

    def clique(self, witnesses: Iterable[Witness], given: Sequence[Witness] = ()) -> list[Witness]:
        """Return many witnesses that need separate rules, also from the given ones."""
        candidates = [one for one in witnesses if all(self.need_two(one, other) for other in given)]
        by_class: dict[Class, list[Witness]] = defaultdict(list)
        for one in candidates:
            by_class[one.does].append(one)
        return [one for members in by_class.values() for one in self._clique_of(members)]

    def _clique_of(self, members: Sequence[Witness]) -> list[Witness]:
        """Return a large clique among witnesses that do the same: the best of one for each start.

        Each is grown by whichever member needs a rule beside most others and all taken so far.
        """
        beside = self._beside(members)
        order = sorted(range(len(members)), key=lambda at: -beside[at].bit_count())
        place = {at: number for number, at in enumerate(order)}
        ordered = [sum(1 << place[other] for other in bits(beside[at])) for at in order]
        best: list[int] = []
        tried: set[int] = set()
        for start, others in enumerate(ordered):
            if others in tried:
                continue  # it is like one before it
            tried.add(others)
            grown, left = [start], others
            while left:
                lowest = (left & -left).bit_length() - 1
                grown.append(lowest)
                left &= ordered[lowest]
            best = max(best, grown, key=len)
        return [members[order[at]] for at in best]

    def _beside(self, members: Sequence[Witness]) -> list[int]:
        """Return for each witness which others need a rule beside its own, as bits."""
        found = [0] * len(members)
        for at, one in enumerate(members):
            self.pause()
            for further, other in enumerate(members[at + 1 :], at + 1):
                if self.need_two(one, other):
                    found[at] |= 1 << further
                    found[further] |= 1 << at
        return found

    @cached_property
    def everywhere(self) -> list[Witness]:
        """The largest clique that was found, over all calls."""
        chosen: list[Witness] = []
        by_rule: dict[tuple[object, ...], list[Witness]] = defaultdict(list)
        numbers = dict.fromkeys(number for rule in self.exit for _, number in self._reached(rule))
        for number in numbers:
            for one in self.witnesses(number):
                by_rule[one.rule, one.event.arch, one.odd].append(one)
        for members in by_rule.values():
            members.sort(key=lambda one: (not self._by_arch_alone(one), one.number))
            by_call = {one.number: one for one in reversed(members)}
            chosen += list(reversed(by_call.values()))[: _TRIED[members[0].odd]]
        return self.clique(chosen)

    def _by_arch_alone(self, one: Witness) -> bool:
        """Say whether only `arch` distinguishes the call from one that must stay undecided."""
        if one.ids not in self._arch_alone:
            arch: Arch = "b32" if one.event.arch == "b64" else "b64"
            other = self.pool.ids(replace(one.event, arch=arch))
            alone = self._told_by_no_permission(one.ids, one.ids, other)
            self._arch_alone[one.ids] = alone and self._is_undecided(other)
        return self._arch_alone[one.ids]

    @cached_property
    def paths(self) -> list[Witness]:
        """Calls on watched files, each of which needs a rule of its own."""
        one_each: dict[tuple[object, ...], Witness] = {}
        for witnesses in self.path_witnesses.values():
            for one in witnesses:
                one_each.setdefault((one.does, one.event.names[0].file), one)
        return self.clique(one_each.values(), self.everywhere)


def placed(event: Event) -> Event:
    """Return the call with visited files that no rule names."""
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
    """Return what a rule does; the key of a `never` rule is not recorded."""
    return rule.action.value, rule.key if rule.action is Action.ALWAYS else ""


@cache
def _no_permission_tells(one: int, other: int, between: int) -> bool:
    """Say whether each set of permissions that meets the first two meets the third."""
    return all(between & wanted for wanted in range(1, 16) if one & wanted and other & wanted)


@cache
def _named_calls() -> int:
    """Return the numbers that are a call in either ABI."""
    return sum({1 << n for arch in lookup.ARCHES for n in lookup.call_names(arch) if n < CALLS})
