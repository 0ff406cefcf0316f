"""The input of all checks: every line as it was read, and the rules as they load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from auditrules.auditctl.translate import AS_WRITTEN, Target
from auditrules.cost.constants import Constants
from auditrules.load.load import Fate, LoadedLines, load_lines
from auditrules.load.root import Root
from auditrules.model.fault import Fault
from auditrules.model.kernel_lists import by_rank
from auditrules.model.kernel_rule import Action, FieldTest, FilterList, KernelRule, Operator
from auditrules.model.location import Location
from auditrules.model.rule import Reading, Rule
from auditrules.read import parse
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch


@dataclass(frozen=True)
class LintOptions:
    """The facts about the machine that the rules are for.

    `b32`: programs can enter the kernel by the 32-bit ABI. `root` is the machine's file system,
    None where it is not there to be looked at. `whole`: the lines are all that is loaded there.
    `constants` are what its kernel's steps cost; without them no diagnostic has a cost.
    """

    b32: bool = True
    root: Root | None = None
    whole: bool = False
    constants: Constants | None = None


@dataclass(frozen=True)
class Context:
    """Lines and rules.

    `readings` are all lines in loading order, `loaded` is the fate of each. `of_files` are faults
    that keep whole files from being read. `target` is the machine that the rules are for.
    """

    readings: tuple[Reading, ...]
    loaded: LoadedLines
    of_files: tuple[Fault, ...] = ()
    options: LintOptions = field(default_factory=LintOptions)
    target: Target = AS_WRITTEN

    @property
    def rules(self) -> tuple[KernelRule, ...]:
        """The rules that stay loaded, as the kernel holds them; each has its `source`."""
        return self.loaded.rules

    @property
    def faults(self) -> tuple[Fault, ...]:
        """All that keeps files, lines and rules from loading, except a lock and duplicates."""
        apart = {Fate.LOCKED, Fate.ELSEWHERE}
        lines = (one for one in self.loaded.lines if one.fate not in apart)
        return (*self.of_files, *(one.fault for one in lines if one.fault is not None))

    @cached_property
    def texts(self) -> dict[Location, str]:
        """Each line's text."""
        return {one.place: one.text for one in self.readings}

    def leaves_out(self, code: str, place: Location) -> bool:
        """Say whether a comment leaves out a diagnostic at a place."""
        return code in self._ignores.get(place.at(None), ())

    @cached_property
    def _ignores(self) -> dict[Location, frozenset[str]]:
        return {one.place: one.ignores for one in self.readings}

    @cached_property
    def failing_by_end(self) -> frozenset[Location]:
        """The lines that can't be loaded only because of the carriage return at their end."""
        return frozenset(
            one.reading.place
            for one in self.loaded.lines
            if one.fate in {Fate.UNREADABLE, Fate.REFUSED}
            and parse.fails_by_its_end(one.reading, self.target)
        )

    @cached_property
    def by_rank(self) -> tuple[KernelRule, ...]:
        """The rules in the order of their priority: the last that was prepended is the first."""
        return tuple(self.rules[index] for index in by_rank(self.rules))

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
    parts: Sequence[Sequence[Reading]],
    faults: Iterable[Fault] = (),
    options: LintOptions | None = None,
    target: Target = AS_WRITTEN,
) -> Context:
    """Return the context of lines that are loaded one by one, without the faulty ones.

    A separate auditctl loads each part. `faults` are those of whole files; those of lines are in
    the readings.
    """
    return Context(
        tuple(reading for part in parts for reading in part),
        load_lines(parts, target),
        tuple(faults),
        options or LintOptions(),
        target,
    )


def arch_of(rule: KernelRule) -> Arch | None:
    """Return the one ABI that a rule is for, None if it tests none or excludes one."""
    for test in rule.tests("arch"):
        if test.operator is Operator.EQUAL:
            return next(arch for arch, value in lookup.ARCH_NUMBERS.items() if value == test.value)
    return None


def fields_of(rule: KernelRule) -> frozenset[str]:
    """Return the names of the fields that a rule tests; those of -C are not among them."""
    return frozenset(test.field for test in rule.conditions if isinstance(test, FieldTest))


def column_of(rule: Rule | None, word: str) -> int | None:
    """Return the column, from 1, of the first word of a rule that begins with `word`."""
    if rule is None:
        return None
    words = rule.text.split(" ")
    for at, column in enumerate(rule.columns):
        if at < len(words) and words[at].startswith(word):
            return column
    return None
