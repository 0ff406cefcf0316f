"""What all findings are looked for in: every line as it was read, and the rules as they load."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import Action, FilterList, KernelRule, Operator, Test
from hardcost.auditrules.lint.finding import spot_of
from hardcost.auditrules.loading import MOST_DELETIONS_BY_KEY
from hardcost.auditrules.rule import Fault, RulesError
from hardcost.auditrules.tables import lookup
from hardcost.auditrules.translate import ANYWHERE, Target, translate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.auditrules.cost.constants import Constants
    from hardcost.auditrules.lint.root import Root
    from hardcost.auditrules.rule import Place, Reading, Rule
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
        self.known: dict[tuple[object, ...], list[int]] = {}
        self.count = 0
        self.deletions_by_key = 0

    def take(self, reading: Reading) -> None:
        if reading.fault is not None:
            self.faults.append(reading.fault)
        if reading.deletes is not None:
            self._delete_by_key(reading.place, reading.deletes)
        if reading.deletion is not None:
            self._delete(reading.deletion)
        if reading.rule is not None:
            self._add(reading.rule)

    def _add(self, written: Rule) -> None:
        rule = self._translated(written)
        if rule is None:
            return
        there = self._there(rule)
        # A prepended rule is not compared with those that are there (AF:712).
        if there and not rule.prepend:
            self.twice.append((rule, self.loaded[there[0]]))
            return
        there.append(self.count)
        self.loaded[self.count] = rule
        self.count += 1

    def _delete_by_key(self, place: Place, key: str) -> None:
        """Drop the rules whose keys hold a text, as auditctl seeks it, or all for ""."""
        self.deletions_by_key += bool(key)
        if self.deletions_by_key > MOST_DELETIONS_BY_KEY:
            message = f"more than {MOST_DELETIONS_BY_KEY} lines delete rules by key"
            remedy = "leave out both these lines and the rules that they delete"
            self.faults.append(Fault(message, place.file, place.line, remedy))
            return
        for index, rule in list(self.loaded.items()):
            if not key or (rule.key and key in rule.key):
                del self.loaded[index]
                self._there(rule)

    def _delete(self, written: Rule) -> None:
        """Drop the rule that is the same for the kernel."""
        rule = self._translated(written)
        if rule is None:
            return
        there = self._there(rule)
        if there:
            del self.loaded[there[0]]
            return
        spot = spot_of(written)
        message = "there is no such rule to delete"
        remedy = "leave the line out; a rule is the same in all its fields, their order and its key"
        self.faults.append(Fault(message, spot.file, spot.line, remedy))

    def _translated(self, written: Rule) -> KernelRule | None:
        try:
            return translate(written, self.target)
        except RulesError as error:
            self.faults.extend(error.faults)
            return None

    def _there(self, rule: KernelRule) -> list[int]:
        """Return which of the loaded rules are the same as a rule."""
        there = self.known.setdefault(_sameness(rule), [])
        there[:] = [index for index in there if index in self.loaded]
        return there


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
