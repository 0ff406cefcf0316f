"""The least that any set of rules which records the same can cost a call, under the cost model.

`needs` argues how many rules there must be. An undecided call walks all rules of the exit list:

- a rule that matches a witness with this call's number names the number. It costs at least entering
  it and the cheapest condition that holds for the witness and fails for the call;
- every other rule costs at least what passing over one costs.

A path rule counts the same way, with the chance of 1 in 32 that a visited file is in its bucket. A
recorded call costs at least its record and one matching rule.

With a `never` rule at the front, the bound is for sets that record the same without it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.auditrules.cost.events import SOME_INODE, of_number
from hardcost.auditrules.fieldtests import holds, permissions
from hardcost.auditrules.kernelrule import Action, FilterList, KernelRule, Operator, Test
from hardcost.auditrules.optimize.mixing import COMPARED, TELL, others, part, spelled
from hardcost.auditrules.optimize.needs import Needs, placed
from hardcost.auditrules.optimize.reach import reach
from hardcost.auditrules.semantics import BUCKETS
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hardcost.auditrules.event import Event
    from hardcost.auditrules.optimize.needs import Class, Witness
    from hardcost.auditrules.optimize.pool import Ids
    from hardcost.auditrules.optimize.prices import Prices
    from hardcost.auditrules.tables.lookup import Arch

_EQUAL_ALONE = frozenset({"dir", "path", "own-inode", "perm"})
_EITHER_WAY = frozenset({"arch", "exe", "filetype", "loginuid_set"})
_EQUAL_OR_NOT = (Operator.EQUAL, Operator.NOT_EQUAL)
"""Operators that the kernel takes for these fields (`audit_field_valid`, AF:320)."""

_NO_VALUE = 0x7EDCBA99
"""A number that is no call in either ABI."""

Costs = Mapping[tuple["Arch", int], float]
"""Instructions by call."""

_OF_EACH = ("obj_uid", "obj_gid", "filetype", "devmajor", "devminor")
"""Fields that cost less than `dir` where a call visits no file, and more where it does."""


@dataclass(frozen=True, eq=False)
class Reached:
    """The costs under a set and under its original, and the least for the call by itself."""

    before: Costs
    after: Costs
    least: Costs

    def spare(self, call: tuple[Arch, int]) -> float:
        """Return how far a call's cost was above the least."""
        return self.before.get(call, math.inf) - self.least.get(call, 0.0)

    def above(self, call: tuple[Arch, int]) -> float:
        """Return how far a call's cost is above the least."""
        return self.after.get(call, math.inf) - self.least.get(call, 0.0)


class Bounds:
    """The least cost of each call, for one set of rules."""

    def __init__(
        self,
        rules: Sequence[KernelRule],
        prices: Prices,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        self.prices = prices
        self._set = prices.alike(rules)
        self.loaded = self._set.loaded
        self.files = self.loaded.files
        self.needs = Needs(self.loaded, b32=prices.b32, pause=pause)
        self._tests: dict[tuple[str, Arch, int], float] = {}
        self._deciding: dict[tuple[Arch, int], float] = {}
        self._walks: dict[tuple[Arch, int, float, Reached | None], float] = {}
        self._are_settled: dict[tuple[float, Reached], bool] = {}

    def of(self, arch: Arch, number: int, reached: Reached | None = None) -> float:
        """Return the least that rules can cost the typical call (instructions).

        With `reached`: among sets that cost no call more than the original one, and none of
        greater weight more than the new one.
        """
        event = of_number(number, arch)
        does = self.needs.decided(event)
        if does is not None:
            of_class = arch, self.needs.pool.first(number)
            if of_class not in self._deciding:
                self._deciding[of_class] = self._of_deciding(event, does)
            return self._set.recording(event) + self._deciding[of_class]
        weight = self._weight(event) if reached is not None else 0.0
        known = arch, self.needs.alike(number), weight, reached
        if known not in self._walks:
            self._walks[known] = self._of_undecided(event, reached)
        return self._walks[known]

    def _of_undecided(self, event: Event, reached: Reached | None) -> float:
        """Return the least that rules can cost an undecided call."""
        walk = self.prices.constants.walk
        named = self.needs.clique_at(event.call)
        if reached is not None and self._settled(event, reached):
            named = max(named, self.needs.naming(event.call), key=len)
        total = walk["enter"] * len(named) + self._told_apart(named, placed(event), reached)
        total += walk["unnamed"] * max(0, len(self.needs.everywhere) - len(named))
        return total + self._of_buckets(event)

    def _of_deciding(self, event: Event, does: Class) -> float:
        """Return the least that the rule which decides about a call can cost it.

        If another call that differs in one group must stay undecided, the rule tests that group.
        """
        walk = self.prices.constants.walk
        total = walk["enter"] + walk["matched"]
        if does[1]:
            total += walk["key"] + walk["key-byte"] * len(does[1].encode(errors="surrogateescape"))
        looked_at = {
            group: min(self._field(name) for name in names if name != "perm" or permissions(event))
            for group, names in TELL.items()
            if any(self.needs.undecided(other) for other in others(event, group))
        }
        # One test may look at several of these groups: `perm`, or a comparison.
        for together in (("arch", "arguments"), tuple(COMPARED), ("exe",), ("exit",), ("rest",)):
            total += max((looked_at.get(group, 0.0) for group in together), default=0.0)
        return total + min(0.0, walk["bare"])

    def _field(self, name: str) -> float:
        """Return the least that testing a field costs, whatever the call is."""
        fields = self.prices.constants.field
        cost = fields.get(name, fields["other"]) + self._cheaper(name)
        if name == "perm":
            cost += min(0.0, *self.prices.constants.permission.values())
        return cost

    def _cheaper(self, name: str) -> float:
        """Return what a field's cheapest operator adds to the cost with `=`."""
        if name in _EQUAL_ALONE:
            return 0.0
        operators = self.prices.constants.operator
        family = {"uid": "user", "gid": "group"}.get(name[-3:], "number")
        family = name if name in {"exe", "filetype"} else family
        allowed = _EQUAL_OR_NOT if name in _EITHER_WAY else tuple(Operator)
        return min(0.0, *(operators.get(f"{family} {one}", 0.0) for one in allowed))

    def behind(
        self, first: KernelRule, arch: Arch, number: int, reached: Reached | None = None
    ) -> float:
        """Return the least cost with a given `never` rule at the front.

        A call that it does not name pays for passing it, and then as without the rule; or for
        another such rule, over unwanted calls of the machine's own ABI.
        """
        event = of_number(number, arch)
        own = self.prices.of_rule(first, event)
        if first.names(number) and all(
            holds(test, event, None, self.files) for test in first.conditions
        ):
            return own + self._of_buckets(event, decided=True)
        asked = arch != "b64" or any(
            reach(rule, b32=self.prices.b32).of(arch) >> number & 1
            for rule in (*self.needs.exit, *self.needs.path_rules)
        )
        other = (
            math.inf if asked else self._own_never(event) + self._of_buckets(event, decided=True)
        )
        return own + min(self.of(arch, number, reached), other)

    def _own_never(self, event: Event) -> float:
        """Return what a `never` rule over calls of one ABI costs a call that it names."""
        own = Test("arch", Operator.EQUAL, lookup.ARCH_NUMBERS[event.arch])
        rule = KernelRule(FilterList.EXIT, Action.NEVER, 1 << event.call, (own,))
        return self.prices.of_rule(rule, event)

    def _of_buckets(self, event: Event, *, decided: bool = False) -> float:
        """Return the least that path rules cost the call, where its files may lie in any bucket.

        If a rule of the exit list has `decided`, it may outrank them.
        """
        visited = sum(name.file.inode == SOME_INODE for name in event.names)
        if not visited:
            return 0.0
        walk = self.prices.constants.walk
        named = {
            (one.does, one.event.names[0].file)
            for one in self.needs.path_witnesses.get(self.needs.pool.first(event.call), ())
        }
        fields = self.prices.constants.field
        # In its bucket, a file is identified by path or inode, else by owner or type.
        telling = ("path", "own-inode", "devmajor", "devminor", *TELL["names"])
        entered = walk["enter"] + min(
            self._field(name) + self.prices.constants.each.get(name, 0.0)
            for name in telling
            if name in fields
        )
        if decided:
            entered = min(entered, walk["outranked"])
        total = 0.0
        for one in self.needs.paths:
            known = (one.does, one.event.names[0].file) in named
            total += (entered if known else walk["unnamed"]) / BUCKETS
        return total * visited

    def _told_apart(
        self, named: Sequence[Witness], typical: Event, reached: Reached | None
    ) -> float:
        """Return what makes rules fail for the call; of similar witnesses, the most expensive."""
        settled = reached is not None and self._settled(typical, reached)
        chosen, total = list(named), 0.0
        costs: dict[tuple[Ids, Class], float] = {}
        by_rule: dict[tuple[int, Class], list[Witness]] = defaultdict(list)
        for one in self.needs.witnesses(typical.call):
            by_rule[one.rule, one.does].append(one)
            if (one.ids, one.does) not in costs:
                costs[one.ids, one.does] = self._cheapest(one, typical, reached)
        for at, one in enumerate(named):
            best = costs[one.ids, one.does]
            for other in by_rule[one.rule, one.does]:
                cost = costs[other.ids, other.does]
                if cost > best and (
                    self.needs.taken(other) == self.needs.taken(one) is not None
                    if settled
                    else all(
                        self.needs.need_two(other, third)
                        for index, third in enumerate(chosen)
                        if index != at
                    )
                ):
                    best, chosen[at] = cost, other
            total += best
        return total

    def _cheapest(self, one: Witness, typical: Event, reached: Reached | None) -> float:
        """Return what the cheapest condition costs that holds for one call and not for another."""
        apart = {group for group in TELL if part(one.event, group) != part(typical, group)}
        costs = []
        if apart & COMPARED:
            fields = self.prices.constants.field
            least = min(self.prices.constants.operator.values(), default=0.0)
            costs += [cost + least for name, cost in fields.items() if ":" in name]
        if apart & {"arch", "arguments"}:
            costs.append(self._failing("perm", typical))
        names = [name for group in apart for name in TELL[group]]
        if reached is not None and self._settled(typical, reached):
            # In all that the rule matches, the tested part differs from the call's.
            looks = self.needs.looks(one)
            apart = {
                group for group in apart if spelled(typical, group) not in looks.get(group, ())
            }
            names = [name for group in apart for name in TELL[group]]
            if self._files_cost_more(one, typical, reached):
                names = [name for name in names if name not in _OF_EACH]
        costs += [self._failing(name, typical) for name in names if name != "perm"]
        return min(costs, default=0.0)

    def _weight(self, event: Event) -> float:
        return self.prices.histogram.get((event.arch, event.call), 0.0)

    def _heavier(self, typical: Event) -> list[tuple[Arch, int]]:
        """Return the calls of greater weight."""
        own = self._weight(typical)
        return [call for call, weight in self.prices.histogram.items() if weight > own]

    def _settled(self, typical: Event, reached: Reached) -> bool:
        """Say whether one more rule than needed would cost a weightier call more.

        Each rule then belongs to one event of the clique, and an event that differs from all but
        one of these must be matched by the rule of that one.
        """
        known = self._weight(typical), reached
        if known not in self._are_settled:
            unnamed = self.prices.constants.walk["unnamed"]
            self._are_settled[known] = any(
                reached.spare(call) < unnamed for call in self.prices.histogram
            ) or any(reached.above(call) < unnamed for call in self._heavier(typical))
        return self._are_settled[known]

    def _files_cost_more(self, one: Witness, typical: Event, reached: Reached) -> bool:
        """Say whether looking at each file first would cost a weightier call more."""
        each = self.prices.constants.each
        more = min(self._field(name) + each.get(name, 0.0) for name in _OF_EACH)
        heavier, names = set(self._heavier(typical)), spelled(one.event, "names")
        return not typical.names and any(
            min(reached.spare(call), reached.above(call) if call in heavier else math.inf) < more
            and of_number(call[1], call[0]).names
            and (self.needs.pool.first(call[1]), names) in self.needs.looks(one).get("files", ())
            for call in self.prices.histogram
        )

    def _failing(self, name: str, event: Event) -> float:
        """Return what a test of a field costs that fails for a call: with `=`, the cheapest."""
        known = name, event.arch, event.call
        event = of_number(event.call, event.arch)
        if known not in self._tests:
            values: tuple[int | str, ...] = (_NO_VALUE,)
            if name in {"dir", "exe"}:
                values = ("/~",)
            elif name in {"perm", "filetype"}:
                values = (1, 2, 4, 8)
            elif name in {"success", "loginuid_set"}:
                values = (0, 1)
            tests = [Test(name, Operator.EQUAL, value) for value in values]
            self._tests[known] = min(
                (
                    self.prices.of_test(test, event) + self._cheaper(name)
                    for test in tests
                    if not holds(test, event, None, self.files)
                ),
                default=math.inf,
            )
        return self._tests[known]
