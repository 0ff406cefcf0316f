"""What rules cost under the cost model: each by itself, and a whole set, for every call.

What a rule costs a call that matches none is the same wherever it stands, so that a change to a few
rules can be judged by these alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from hardcost.auditrules.cost.events import events
from hardcost.auditrules.cost.predict import predict
from hardcost.auditrules.event import FileId
from hardcost.auditrules.kernelrule import Action, FilterList, KernelRule, Test
from hardcost.auditrules.optimize.witness import DEVICE
from hardcost.auditrules.semantics import Loaded, holds, load

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from hardcost.auditrules.cost.constants import Constants
    from hardcost.auditrules.cost.predict import Histogram
    from hardcost.auditrules.event import Event
    from hardcost.auditrules.tables.lookup import Arch

_ABSENT = -2
"""ENOENT: how a call on a file most often fails."""

_NOBODY = 4_000_000_000
"""Users and groups that nobody resolved have numbers from here on, for the model alone."""

TOLERANCE = 1e-6  # instructions; sums of the same constants in another order differ by less


def no_directory(_path: str) -> bool:
    """Say that no directory lies at a path."""
    return False


@dataclass(frozen=True)
class Case:
    """A call for which rules are priced, and how often the workload makes it."""

    event: Event
    weight: float


@dataclass
class Prices:
    """The cost model, with the calls that are priced and the weight of each.

    `typical` are the typical calls of all numbers that have a name; `failing` those of b64 where
    they fail because a file is not there. `likely_directory` says what a watch of unknown kind is
    priced as.
    """

    constants: Constants
    histogram: Histogram
    b32: bool = True
    likely_directory: Callable[[str], bool] = no_directory
    typical: tuple[Case, ...] = ()
    failing: tuple[Case, ...] = ()
    by_number: dict[int, list[Case]] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)
    _files: dict[str, FileId] = field(default_factory=dict)
    _alone: dict[KernelRule, Loaded] = field(default_factory=dict)
    _costs: dict[tuple[KernelRule, int], float] = field(default_factory=dict)
    _seen: dict[int, Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        arches: tuple[Arch, ...] = ("b64", "b32") if self.b32 else ("b64",)
        self.typical = tuple(
            Case(event, self.histogram.get((arch, event.call), 0.0))
            for arch in arches
            for event in events(arch).values()
        )
        self.failing = tuple(
            Case(replace(case.event, exit=_ABSENT), 0.0)
            for case in self.typical
            if case.event.exit is not None and case.event.arch == "b64"
        )
        for case in (*self.typical, *self.failing):
            self.by_number.setdefault(case.event.call, []).append(case)

    @cached_property
    def weight(self) -> float:
        """The weight of all typical calls together."""
        return sum(case.weight for case in self.typical)

    def loaded(self, rules: Iterable[KernelRule]) -> Loaded:
        """Return rules as the kernel arranges them, as the model wants them.

        Every path that a rule names exists, and every user and group that is not known has a number
        that is no one else's. A watch of unknown kind is of the likely one.
        """
        taken: dict[Hashable, KernelRule] = {}
        for rule in map(self.resolved, rules):
            while (
                rule.sameness in taken
            ):  # two ways to write one rule, if its kind is the likely one
                rule = replace(rule, key=f"{rule.key}+")  # noqa: PLW2901  (priced as another)
            taken[rule.sameness] = rule
        for rule in taken.values():
            for test in rule.conditions:
                if isinstance(test, Test) and test.field in {"path", "dir", "exe"}:
                    at = len(self._files)
                    self._files.setdefault(str(test.value), FileId(*DEVICE, 1_000_000 + at))
        return load(taken.values(), self._files)

    def resolved(self, rule: KernelRule) -> KernelRule:
        """Return a rule whose users and groups are numbers, and whose kind is settled."""
        if rule.watch is not None:
            rule = rule.settled(directory=self.likely_directory(rule.watch))
        conditions = tuple(
            replace(test, value=self._names.setdefault(test.value, _NOBODY + len(self._names)))
            if isinstance(test, Test) and isinstance(test.value, str) and _is_id(test.field)
            else test
            for test in rule.conditions
        )
        return rule if conditions == rule.conditions else replace(rule, conditions=conditions)

    def of_rule(self, rule: KernelRule, event: Event) -> float:
        """Return what one rule costs a call by itself (instructions)."""
        if rule.watch is not None:
            rule = self.resolved(rule)
        if not rule.names(event.call) and not rule.in_a_bucket:
            return self.constants.walk["unnamed"]
        known = (rule, id(event))
        if known not in self._costs:
            if rule not in self._alone:
                self._alone[rule] = self.loaded([replace(rule, prepend=False)])
            self._seen[id(event)] = event  # as long as it is there, the id is its own
            self._costs[known] = predict(self.constants, self._alone[rule], event).walk
        return self._costs[known]

    def of_test(self, test: Test, event: Event) -> float:
        """Return what a test costs a call for which it fails, beside entering its rule."""
        rule = KernelRule(FilterList.EXIT, Action.ALWAYS, 1 << event.call, (test,))
        return self.of_rule(rule, event) - self.constants.walk["enter"]

    def of_conditions(self, rule: KernelRule, event: Event) -> tuple[tuple[bool, float], ...]:
        """Return for each condition whether it holds for a call, and what testing it costs."""
        walk = self.constants.walk
        found = []
        for condition in self.resolved(rule).conditions:
            alone = replace(rule, conditions=(condition,), key="")
            cost = self.of_rule(alone, event) - walk["enter"]
            held = holds(condition, event, None, self._files)
            found.append((held, cost - walk["matched"] if held else cost))
        return tuple(found)

    def of_rules(self, rules: Sequence[KernelRule], event: Event) -> float:
        """Return what rules cost a call that none of them matches (instructions)."""
        return sum(self.of_rule(rule, event) for rule in rules)

    def of_set(self, rules: Sequence[KernelRule]) -> Mapping[tuple[Arch, int], float]:
        """Return what a whole set costs each typical call: walk and record (instructions)."""
        loaded = self.loaded(rules)
        costs = {}
        for case in self.typical:
            prediction = predict(self.constants, loaded, case.event)
            costs[case.event.arch, case.event.call] = prediction.walk + prediction.recording
        return costs


def _is_id(name: str) -> bool:
    return name.endswith(("uid", "gid"))
