"""What all findings are looked for in: every line as it was read, and the rules as they load."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import Action, FilterList, KernelRule, Operator, Test
from hardcost.auditrules.rule import RulesError, rule_keys
from hardcost.auditrules.tables import lookup
from hardcost.auditrules.translate import ANYWHERE, Target, translate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.auditrules.cost.constants import Constants
    from hardcost.auditrules.lint.root import Root
    from hardcost.auditrules.rule import Fault, Reading, Rule
    from hardcost.auditrules.tables.lookup import Arch


@dataclass(frozen=True)
class Options:
    """What is known of the machine that the rules are for.

    `b32`: programs can enter the kernel by the 32-bit ABI. `root` is the machine's file system,
    None where it is not there to be looked at. `whole`: the lines are all that is loaded there.
    `constants` are what its kernel's steps cost; without them no finding has a cost.
    """

    b32: bool = True
    root: Root | None = None
    whole: bool = False
    constants: Constants | None = None


@dataclass(frozen=True)
class Context:
    """Lines and rules.

    `readings` are all lines in the order in which they load. `rules` are those that stay loaded, as
    the kernel holds them; each has its `source`. `twice` are rules that are there already, with
    the earlier one. `faults` are all that keeps files, lines and rules from loading.
    """

    readings: tuple[Reading, ...]
    rules: tuple[KernelRule, ...]
    twice: tuple[tuple[KernelRule, KernelRule], ...] = ()
    faults: tuple[Fault, ...] = ()
    options: Options = field(default_factory=Options)

    @cached_property
    def texts(self) -> dict[tuple[str, int], str]:
        """Each line's text, by file and line."""
        return {(one.place.file, one.place.line): one.text for one in self.readings}

    @cached_property
    def by_rank(self) -> tuple[KernelRule, ...]:
        """The rules in the order of their priority: the last that was prepended is the first."""
        first = [rule for rule in reversed(self.rules) if rule.prepend]
        return (*first, *(rule for rule in self.rules if not rule.prepend))

    @cached_property
    def recording(self) -> tuple[KernelRule, ...]:
        """The rules that write records of system calls."""
        return tuple(
            rule
            for rule in self.rules
            if rule.list is FilterList.EXIT and rule.action is Action.ALWAYS
        )

    @cached_property
    def walked(self) -> tuple[KernelRule, ...]:
        """The rules of the list that every system call walks."""
        return tuple(
            rule for rule in self.rules if rule.list is FilterList.EXIT and not rule.in_a_bucket
        )


def gather(
    readings: Sequence[Reading],
    faults: Iterable[Fault] = (),
    options: Options | None = None,
    target: Target = ANYWHERE,
) -> Context:
    """Return what lines come to when they are loaded one by one, the faulty ones left out.

    `faults` are those of whole files; those of lines are in the readings.
    """
    loading = _Loading(target, list(faults))
    for reading in readings:
        loading.take(reading)
    return Context(
        tuple(readings),
        tuple(loading.loaded.values()),
        tuple(loading.twice),
        tuple(loading.faults),
        options or Options(),
    )


class _Loading:
    """The rules that are loaded while lines are taken one by one."""

    def __init__(self, target: Target, faults: list[Fault]) -> None:
        self.target, self.faults = target, faults
        self.loaded: dict[int, KernelRule] = {}
        self.twice: list[tuple[KernelRule, KernelRule]] = []
        self.known: dict[tuple[object, ...], int] = {}
        self.count = 0

    def take(self, reading: Reading) -> None:
        if reading.fault is not None:
            self.faults.append(reading.fault)
        if reading.deletes is not None:
            self._delete(reading.deletes)
        if reading.rule is None:
            return
        try:
            rule = translate(reading.rule, self.target)
        except RulesError as error:
            self.faults.extend(error.faults)
            return
        same = _sameness(rule)
        # A prepended rule is not compared with those that are there (AF:712).
        if same in self.known and not rule.prepend:
            self.twice.append((rule, self.loaded[self.known[same]]))
            return
        self.known[same] = self.count
        self.loaded[self.count] = rule
        self.count += 1

    def _delete(self, key: str) -> None:
        """Drop the rules that have a key, or all for ""."""
        for index, rule in list(self.loaded.items()):
            if not key or (rule.source is not None and key in rule_keys(rule.source)):
                del self.loaded[index]
                self.known.pop(_sameness(rule), None)


def _sameness(rule: KernelRule) -> tuple[object, ...]:
    """Return what the kernel compares of two rules (`audit_compare_rule`, AF:707)."""
    return (rule.list, rule.action, rule.mask, rule.conditions, rule.key)


def arch_of(rule: KernelRule) -> Arch | None:
    """Return the one ABI that a rule is for, None where it tests none or rules one out."""
    for test in rule.conditions:
        if isinstance(test, Test) and test.field == "arch" and test.operator is Operator.EQUAL:
            return next(arch for arch, value in lookup.ARCH_NUMBERS.items() if value == test.value)
    return None


def fields_of(rule: KernelRule) -> frozenset[str]:
    """Return the names of the fields that a rule tests; those of -C are not among them."""
    return frozenset(test.field for test in rule.conditions if isinstance(test, Test))


def column_of(rule: Rule | None, word: str) -> int | None:
    """Return where the first word of a rule that begins so stands, from 1."""
    if rule is None:
        return None
    words = rule.text.split(" ")
    for at, column in enumerate(rule.columns):
        if at < len(words) and words[at].startswith(word):
            return column
    return None
