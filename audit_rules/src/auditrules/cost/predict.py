"""The cost of a rule set for each system call, predicted from constants: nothing is run.

    constants = Constants.of_debian()
    loaded = semantics.load(rules)
    predict(constants, loaded, events.typical("openat")).total     # instructions
    price(histogram, Alike(constants, loaded).predict)             # of a whole workload

A prediction follows the kernel's own steps (`semantics.decide`) and prices each: entering the
filter, each rule that is passed over, each condition tested, the record. A file's
bucket depends on its inode number. If that is unknown (`events.SOME_INODE`), the price is the
expected value: one file in 32 meets each rule in a bucket. Rules on `task` and `exclude` are priced
unless `limits.py` says why not.

The unit is that of the constants: instructions, or nanoseconds of a machine for which they were
fitted (`calibration/nanoseconds/fit.py`). In time a long list costs more than its rules do
(`crowding`).

Source of the decomposition: kernel/auditsc.c of Linux 6.1.192 (audit_filter_syscall,
audit_filter_rules, audit_filter_inodes).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

from auditrules.cost.constants import Constants
from auditrules.cost.events import LOOKED_UP, MAKING_TASKS, SOME_INODE, of_number
from auditrules.cost.limits import unpredicted_reason
from auditrules.kernel import field_tests, semantics
from auditrules.kernel.event import Event, VisitedName
from auditrules.kernel.semantics import BUCKETS, FilterStep, Loaded, Verdict
from auditrules.kernel.signal_calls import notes_signals
from auditrules.model.kernel_rule import (
    Condition,
    FieldTest,
    FilterList,
    IdComparison,
    KernelRule,
    Operator,
)
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

Histogram = Mapping[tuple[Arch, int], float]
"""How often a workload makes each call: counts by architecture and number."""


@dataclass(frozen=True)
class Prediction:
    """The predicted cost of a rule set for one call, in instructions.

    `base` is what is paid once; `fixed`, the price of having any rule on the exit list, is part of
    it. `walking` is the walk by rule (index among those loaded), `recording` the record, for which
    the rule `decided_by` asks.
    `estimated` are the constants that replace unmeasured ones. `unknown` says why the cost is not
    predicted; then these numbers lack a part. It is empty where it is.
    """

    base: float
    walking: Mapping[int, float]
    recording: float = 0.0
    recorded: bool = False
    estimated: frozenset[str] = frozenset()
    unknown: str = ""
    fixed: float = 0.0
    decided_by: int | None = None

    @property
    def walk(self) -> float:
        """All of the walk."""
        return sum(self.walking.values())

    @property
    def total(self) -> float:
        """All that the rules add to the call."""
        return self.base + self.walk + self.recording


@dataclass(frozen=True)
class Walked:
    """A call's walk over the rules: its cost by rule, in instructions, and its outcome.

    It is the same for all calls that no rule distinguishes, whatever their names are.
    """

    walking: Mapping[int, float]
    recorded: bool = False
    key: str = ""
    estimated: frozenset[str] = frozenset()
    requested: bool = False
    decided_by: int | None = None

    @cached_property
    def cost(self) -> float:
        """All of the walk."""
        return sum(self.walking.values())


class RuleTest(NamedTuple):
    """The cost of testing a rule's conditions (instructions), and whether all of them hold.

    `asks_parent`: the number of the parent process is tested. A call looks it up once for all
    rules, which is no part of the cost.
    """

    cost: float
    asks_parent: bool
    holds: bool


@dataclass(frozen=True)
class Price:
    """The cost of a rule set for a workload, in instructions: the sum over its calls.

    `by_rule` is the walk by rule; `by_call` the total by call, `calls` the number of calls.
    `unknown` are the calls whose cost is not predicted, with the reason; the sums are without
    their records.
    """

    total: float
    base: float
    recording: float
    by_rule: Mapping[int, float]
    by_call: Mapping[tuple[Arch, int], float]
    calls: float
    estimated: frozenset[str] = field(default=frozenset())
    unknown: Mapping[tuple[Arch, int], str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def per_call(self) -> float:
        """The mean over the workload's calls."""
        return self.total / self.calls if self.calls else 0.0


def predict(constants: Constants, loaded: Loaded, event: Event) -> Prediction:
    """Return the cost of the rules for a call, beside that of audit without rules."""
    return finish_prediction(constants, loaded, event, price_walk(constants, loaded, event))


def price_walk(constants: Constants, loaded: Loaded, event: Event) -> Walked:
    """Return a call's walk over the rules, without base and record."""
    return _Pricing(constants, loaded, event).price_walk()


def finish_prediction(
    constants: Constants, loaded: Loaded, event: Event, walk: Walked
) -> Prediction:
    """Return the prediction of a call for which the walk is known."""
    return _Pricing(constants, loaded, event).prediction(walk)


def recording(constants: Constants, loaded: Loaded, event: Event, walk: Walked) -> float:
    """Return the cost of a call's record, given its walk (instructions)."""
    return _Pricing(constants, loaded, event).recording(walk)


def price_test(  # noqa: PLR0913  (a rule, a call, and how the call is seen)
    constants: Constants,
    loaded: Loaded,
    conditions: Sequence[Condition],
    event: Event,
    met: Event,
    *,
    visited: VisitedName | None = None,
) -> RuleTest:
    """Return the cost of testing a rule's conditions for a call that the rule names.

    `met` is the call with the files about which the kernel decides, `visited` the one whose bucket
    is walked.
    """
    pricing = _Pricing(constants, loaded, event)
    tested = 0
    held = True
    while held and tested < len(conditions):
        held = field_tests.holds(conditions[tested], met, visited, loaded.files)
        tested += 1
    return pricing.test(conditions[:tested], visited, held=held)


def expected_test(
    constants: Constants, loaded: Loaded, conditions: Sequence[Condition], event: Event
) -> RuleTest:
    """Return the cost of testing a rule's conditions on each file of which no rule watches any."""
    pricing = _Pricing(constants, loaded, event)
    names = [name for name in event.names if name.file.inode == SOME_INODE]
    cost = pricing.test_in_a_bucket(conditions, names)
    return RuleTest(*pricing.without_parent(cost), holds=False)


def match_cost(constants: Constants, rule: KernelRule) -> float:
    """Return what a rule costs a call that it decides about, beyond the tests (instructions)."""
    walk = constants.walk
    cost = walk["matched"] + (0.0 if rule.conditions else walk["bare"])
    if rule.key:
        cost += walk["key"] + walk["key-byte"] * len(rule.key.encode(errors="surrogateescape"))
    return cost


def record_cost(constants: Constants, loaded: Loaded, event: Event, key: str) -> float:
    """Return the cost of a call's record with a key (instructions)."""
    return _Pricing(constants, loaded, event).record_cost(key)


def price(histogram: Histogram, predicted: Callable[[Event], Prediction]) -> Price:
    """Return the cost of the rules for a workload, assuming that its calls are typical.

    `predicted` is the prediction of one call.
    """
    by_rule: defaultdict[int, float] = defaultdict(float)
    by_call: dict[tuple[Arch, int], float] = {}
    unknown: dict[tuple[Arch, int], str] = {}
    base = recording = 0.0
    estimated: frozenset[str] = frozenset()
    for (arch, call), count in histogram.items():
        one = predicted(of_number(call, arch))
        for rule, cost in one.walking.items():
            by_rule[rule] += cost * count
        known = 0.0 if one.unknown else one.recording
        by_call[arch, call] = (one.base + one.walk + known) * count
        base += one.base * count
        recording += known * count
        estimated |= one.estimated
        if one.unknown:
            unknown[arch, call] = one.unknown
    return Price(
        total=sum(by_call.values()),
        base=base,
        recording=recording,
        by_rule=MappingProxyType(dict(by_rule)),
        by_call=MappingProxyType(by_call),
        calls=sum(histogram.values()),
        estimated=estimated,
        unknown=MappingProxyType(unknown),
    )


class _Pricing:
    """One call's prediction in progress."""

    def __init__(self, constants: Constants, loaded: Loaded, event: Event) -> None:
        self.constants, self.loaded, self.event = constants, loaded, event
        self.walk = constants.walk
        self.name = lookup.call_name(event.arch, event.call)
        self.estimated: set[str] = set()
        self.asked_for_parent = False

    def price_walk(self) -> Walked:
        if not self._is_looked_at():
            return Walked(MappingProxyType({}))
        known = tuple(name for name in self.event.names if name.file.inode != SOME_INODE)
        outcome = semantics.decide(self.loaded, replace(self.event, names=self._unmet(known)))
        walking: defaultdict[int, float] = defaultdict(float)
        for step in outcome.walked:
            walking[step.rule] += self._step(step)
        self._crowd(walking, [step.rule for step in outcome.walked if step.name is None])
        if len(known) < len(self.event.names):
            for rule, cost in self._expected_costs(outcome.decided_by):
                walking[rule] += cost
        estimated = frozenset(self.estimated)
        return Walked(
            MappingProxyType(dict(walking)),
            outcome.recorded,
            outcome.key,
            estimated,
            outcome.requested,
            outcome.decided_by,
        )

    def prediction(self, walk: Walked) -> Prediction:
        if not has_counted_rules(self.loaded):
            return Prediction(0.0, walk.walking)
        if not self._is_looked_at():
            return Prediction(-self._of_call("idle"), walk.walking)
        base, recording = self._base(), self.recording(walk)
        walking = MappingProxyType({**walk.walking, **self._of_other_lists()})
        estimated = walk.estimated | self.estimated
        return Prediction(
            base,
            walking,
            recording,
            walk.recorded,
            estimated,
            unknown=unpredicted_reason(self.loaded, self.event, requested=walk.requested),
            fixed=self._fixed_cost(),
            decided_by=walk.decided_by,
        )

    def _of_other_lists(self) -> dict[int, float]:
        """Return the costs of rules on file systems and tasks for the call, by their indices.

        The kernel asks those on file systems each time that it notes a name (AS:2291, AS:2409).
        """
        lists, rules = self.loaded.lists, self.loaded.rules
        found: dict[int, float] = {}
        times = LOOKED_UP.get(self.name, len(self.event.names))
        for index in lists[FilterList.FILESYSTEM] if times else ():
            fields = len(rules[index].conditions) + bool(rules[index].key) - 1
            each = self.walk["filesystem"] + fields * self.walk["filesystem-field"]
            found[index] = each * times
        for index in lists[FilterList.TASK] if self.name in MAKING_TASKS else ():
            self.estimated.add("rules of the list task")
            found[index] = self.walk["enter"] + sum(
                self._condition(one, None) for one in rules[index].conditions[:1]
            )
        return found

    def recording(self, walk: Walked) -> float:
        return self.record_cost(walk.key) if walk.recorded else 0.0

    def _is_looked_at(self) -> bool:
        """Say whether there are rules to be walked, and tasks that none takes out of audit."""
        return (
            has_counted_rules(self.loaded)
            and semantics.exempted_by(self.loaded, self.event) is None
        )

    # Base and record ---------------------------------------------------------------------------

    def _fixed_cost(self) -> float:
        """Return the price of having any rule on the exit list; 0 without one."""
        if self.loaded.lists[FilterList.EXIT]:
            return self._of_call("base") + self.walk["list"]
        return self._of_call("base") if any(self.loaded.buckets) else 0.0

    def _base(self) -> float:
        cost = self._fixed_cost() or self._of_call("base")
        cost += self.walk["bucket"] * self._walked_buckets()
        if self.event.call in lookup.class_calls(self.event.arch, "signal"):
            cost += self.walk["signal"] * notes_signals(self.loaded.rules)
        if self.name in {"execve", "execveat"} and any(map(_watches, self.loaded.rules)):
            cost += self.walk["watched-execve"]
        return cost

    def _walked_buckets(self) -> float:
        """Return how many buckets with rules the call's files lie in; the mean where not known."""
        filled = [bool(rules) for rules in self.loaded.buckets]
        numbers = [name.file.inode for name in self.event.names]
        return sum(
            sum(filled) / BUCKETS if number == SOME_INODE else filled[number % BUCKETS]
            for number in numbers
        )

    def _of_call(self, what: Literal["base", "idle"]) -> float:
        """Return a call's own cost; an estimate where it was not measured and visits files."""
        table = self.constants.base if what == "base" else self.constants.idle
        if self.event.arch == "b64" and self.name in table:
            return table[self.name]
        call, name = ("call", "name") if what == "base" else ("idle", "idle-name")
        if self.event.names or self.event.arch == "b32":
            self.estimated.add(f"base of {self.name}")
        return self.walk[call] + self.walk[name] * len(self.event.names)

    def record_cost(self, key: str) -> float:
        walk = self.walk
        cost = self.constants.record.get(self.name) if self.event.arch == "b64" else None
        if cost is None:
            self.estimated.add(f"record of {self.name}")
            cost = walk["record"] + walk["record-name"] * len(self.event.names)
        if key:
            cost += walk["record-key"] + walk["record-key-byte"] * len(
                key.encode(errors="surrogateescape")
            )
        return cost

    # The walk ----------------------------------------------------------------------------------

    def _crowd(self, walking: defaultdict[int, float], rules: Sequence[int]) -> None:
        """Share the cost of their number among the rules of the exit list that were walked."""
        crowded = self.constants.crowding_cost(len(rules))
        for rule in rules if crowded else ():
            walking[rule] += crowded / len(rules)

    def _step(self, step: FilterStep) -> float:
        rule = self.loaded.rules[step.rule]
        if step.verdict is Verdict.NOT_NAMED:
            return self.walk["unnamed"]
        if step.verdict is Verdict.OUTRANKED:
            return self.walk["outranked"]
        visited = None if step.name is None else self.event.names[step.name]
        cost = self._tested(rule.conditions[: step.tested], visited)
        return cost + (match_cost(self.constants, rule) if step.verdict is Verdict.MATCHED else 0.0)

    def _tested(self, conditions: Sequence[Condition], visited: VisitedName | None) -> float:
        return self.walk["enter"] + sum(self._condition(one, visited) for one in conditions)

    def test(
        self, tested: Sequence[Condition], visited: VisitedName | None, *, held: bool
    ) -> RuleTest:
        return RuleTest(*self.without_parent(self._tested(tested, visited)), holds=held)

    def without_parent(self, cost: float) -> tuple[float, bool]:
        """Return a cost without that of looking up the parent, and whether that is done."""
        asked = self.asked_for_parent
        return cost - (self.walk["ppid"] if asked else 0.0), asked

    def _condition(self, condition: Condition, visited: VisitedName | None) -> float:
        """Return the cost of testing a condition; `visited` is the file whose bucket is walked."""
        if isinstance(condition, IdComparison):
            return self._comparison(condition)
        kind, operator = condition.field, condition.operator
        if kind == "inode" and visited is not None:
            return self.constants.field["own-inode"]
        cost = self._constant(kind)
        if kind in self.constants.each:
            cost += self.constants.each[kind] * self._compared_files(condition, visited)
        elif kind == "perm":
            cost += self._permission(condition)
        elif kind in _OWN_GROUPS and self._groups_searched(condition):
            cost += self.walk["groups" if operator is Operator.EQUAL else "groups !="]
        elif kind == "ppid" and not self.asked_for_parent:
            self.asked_for_parent = True
            cost += self.walk["ppid"]
        return cost + self._operator(_family(kind), operator)

    def _operator(self, family: str, operator: Operator) -> float:
        if operator is Operator.EQUAL:
            return 0.0
        return self.constants.operator.get(f"{family} {operator}", 0.0)

    def _compared_files(self, condition: Condition, visited: VisitedName | None) -> int:
        """Return how many files are compared: up to the first that holds, or the bucket's own."""
        if visited is not None:
            return 1
        for at, name in enumerate(self.event.names, 1):
            if field_tests.holds(condition, self.event, name, self.loaded.files):
                return at
        return len(self.event.names)

    def _groups_searched(self, test: FieldTest) -> bool:
        own = getattr(self.event, test.field)
        return test.operator in {Operator.EQUAL, Operator.NOT_EQUAL} and own != test.value

    def _comparison(self, condition: IdComparison) -> float:
        left, right = condition.left, condition.right
        cost = self._constant(f"{left}:{right}")
        apart = self._operator("user" if left in _USERS else "group", condition.operator)
        if not right.startswith("obj_"):
            return cost + apart
        each = self.constants.each["pair"] + apart
        for at, name in enumerate(self.event.names, 1):
            one = replace(self.event, names=(name,))
            if field_tests.holds(condition, one, None, self.loaded.files):
                return cost + each * at
        return cost + each * len(self.event.names)

    def _permission(self, test: FieldTest) -> float:
        """Return the cost of looking up the call's class (AS:148)."""
        table = self.constants.permission
        cost = table["ia32"] if self.event.arch == "b32" else 0.0
        if self.name in TOLD_APART:
            return cost + table[self.name]
        wanted = test.value if isinstance(test.value, int) else 0
        stands_for = field_tests.class_permissions(self.event.arch, self.event.call)
        for name, bit in (("write", 2), ("read", 4), ("attributes", 8)):  # the kernel's order
            if wanted & bit & stands_for:
                return cost + table[name]
            if wanted & bit:
                cost += table["class"]
        return cost

    def _constant(self, key: str) -> float:
        table = self.constants.field
        if key not in table:
            self.estimated.add(f"field {key}")
            key = "other"
        return table[key]

    # Files whose bucket is not known --------------------------------------------------------------

    def _unmet(self, known: tuple[VisitedName, ...]) -> tuple[VisitedName, ...]:
        """Return the visited files; those with unknown numbers lie in a bucket without rules."""
        free = [number for number, rules in enumerate(self.loaded.buckets) if not rules]
        if len(known) == len(self.event.names):
            return self.event.names
        if not free:
            return known
        return tuple(
            name if name in known else replace(name, file=name.file._replace(inode=free[0]))
            for name in self.event.names
        )

    def _expected_costs(self, decided_by: int | None) -> list[tuple[int, float]]:
        """Return the expected cost of each rule in a bucket for the files with unknown numbers."""
        priority = self.loaded.priority[decided_by] if decided_by is not None else 0
        names = [name for name in self.event.names if name.file.inode == SOME_INODE]
        return [
            (index, self._in_a_bucket(index, names, priority) / BUCKETS)
            for bucket in self.loaded.buckets
            for index in bucket
        ]

    def _in_a_bucket(self, index: int, names: Sequence[VisitedName], priority: int) -> float:
        """Return the cost of a rule for files that it does not watch, but that share its bucket."""
        rule = self.loaded.rules[index]
        if not rule.names(self.event.call):
            return self.walk["unnamed"] * len(names)
        if self.loaded.priority[index] <= priority:
            return self.walk["outranked"] * len(names)
        return self.test_in_a_bucket(rule.conditions, names)

    def test_in_a_bucket(
        self, conditions: Sequence[Condition], names: Sequence[VisitedName]
    ) -> float:
        """Return the cost of a rule's conditions for files in its bucket that it names."""
        cost = self.walk["enter"] * len(names)
        for name in names:
            for condition in conditions:
                cost += self._condition(condition, name)
                if not field_tests.holds(condition, self.event, name, self.loaded.files):
                    break
        return cost


def has_counted_rules(loaded: Loaded) -> bool:
    """Say whether a rule makes the kernel collect facts about calls (`audit_n_rules`)."""
    counted = (FilterList.EXIT, FilterList.TASK, FilterList.IO_URING)
    return any(loaded.lists[name] for name in counted) or any(loaded.buckets)


def _watches(rule: KernelRule) -> bool:
    """Say whether a rule has files of a file system watched (fsnotify)."""
    return bool(rule.tests("path", "dir", "exe"))


_USERS = frozenset({"uid", "euid", "suid", "fsuid", "auid", "obj_uid"})
_OWN_GROUPS = frozenset({"gid", "egid"})
_GROUPS = frozenset({"sgid", "fsgid", "obj_gid"})
TOLD_APART = frozenset({"open", "openat", "openat2", "execve", "execveat", "socketcall"})
"""Calls whose number alone does not determine the permission."""


def _family(kind: str) -> str:
    """Return the kind of fields that the kernel compares as it compares this one."""
    if kind in _USERS:
        return "user"
    if kind in _OWN_GROUPS:
        return "own group"
    if kind in _GROUPS:
        return "group"
    if kind in {"path", "dir", "exe", "perm", "filetype"} or kind.startswith(("subj_", "obj_")):
        return kind
    return "number"
