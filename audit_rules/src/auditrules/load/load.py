"""The fate of each line when files are loaded one after the other, and why one is not loaded.

A refused line ends the loading, unless a line above it has auditctl continue (`-i`, `-c`), which
takes effect from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from auditrules.auditctl.translate import ANYWHERE, AS_WRITTEN, Target, translate
from auditrules.model.fault import Fault, RulesError
from auditrules.model.kernel_lists import Present
from auditrules.model.kernel_rule import KEY_SEPARATOR, KernelRule
from auditrules.model.location import Location
from auditrules.model.rule import LOCK, Reading, Rule, RuleKind, RuleSet, rule_keys

MOST_DELETIONS_BY_KEY = 1000
"""Lines `-D -k` in a set of rules: each looks at all keys of the rules before it."""


class Fate(Enum):
    """The fate of a line that adds a rule, or that is faulty."""

    LOADED = "it is loaded and stays"
    DELETED = "it is loaded, and a later line deletes it"
    TWICE = "the kernel refuses it: an earlier rule is the same"
    REFUSED = "auditctl or the kernel refuses the rule"
    ELSEWHERE = "it is for another architecture, and is not checked"
    UNREADABLE = "auditctl can't read it"
    LOCKED = "an earlier line has locked the rules"
    FUTILE = "there is nothing that it could delete"


@dataclass(frozen=True)
class AddedLine:
    """A line that adds a rule, or that is faulty.

    `rule` is the kernel's form of the rule, None if there is none. `deleted_by` is the line that
    deletes the rule, or would; `earlier` is the same rule, loaded earlier. `fault` says what is
    wrong. `tolerated`: a line above it has auditctl continue.
    """

    reading: Reading
    fate: Fate
    rule: KernelRule | None = None
    fault: Fault | None = None
    deleted_by: Location | None = None
    earlier: KernelRule | None = None
    tolerated: bool = False

    @property
    def fails(self) -> bool:
        """Whether there is no rule here: auditctl stops, unless a line above has it continue.

        What it does with a rule for another architecture is not known.
        """
        return self.fate not in {Fate.LOADED, Fate.DELETED}


@dataclass(frozen=True)
class LoadedLines:
    """The fate of all lines that add a rule or are faulty, in loading order."""

    lines: tuple[AddedLine, ...]

    @cached_property
    def rules(self) -> tuple[KernelRule, ...]:
        """The rules that stay loaded if loading continues after each faulty line."""
        return tuple(
            one.rule for one in self.lines if one.fate is Fate.LOADED and one.rule is not None
        )

    @cached_property
    def failing(self) -> tuple[AddedLine, ...]:
        """The lines that auditctl or the kernel refuses, or that are not checked."""
        return tuple(one for one in self.lines if one.fails)

    @cached_property
    def stops_at(self) -> AddedLine | None:
        """The line at which auditctl stops: the first that fails and is not tolerated."""
        refused = (one for one in self.failing if one.fate is not Fate.ELSEWHERE)
        return next((one for one in refused if not one.tolerated), None)

    @cached_property
    def twice(self) -> tuple[tuple[KernelRule, KernelRule], ...]:
        """The repeated rules, each with the earlier one."""
        return tuple(
            (one.rule, one.earlier)
            for one in self.lines
            if one.rule is not None and one.earlier is not None
        )

    def of(self, fate: Fate) -> tuple[AddedLine, ...]:
        """Return the lines with one fate."""
        return tuple(one for one in self.lines if one.fate is fate)


def load_lines(
    parts: Iterable[Sequence[Reading]],
    target: Target = ANYWHERE,
    refuses: Callable[[KernelRule], str | None] = lambda _rule: None,
) -> LoadedLines:
    """Return the fate of each line; a separate auditctl loads each part.

    `refuses` says why the target's kernel refuses a rule that could be loaded elsewhere, None if it
    accepts it. The time is linear in the number of lines.
    """
    loading = _Loading(target, refuses)
    for readings in parts:
        loading.tolerant = False  # -i and -c are options of one auditctl
        for reading in readings:
            loading.take(reading)
    return LoadedLines(tuple(loading.lines))


def load_rules(rules: Sequence[Rule], target: Target = ANYWHERE, name: str = "") -> LoadedLines:
    """Return the fate of rules that do not come straight from files, loaded in this order.

    `name` is the file's name in the location of a rule without one.
    """
    return load_lines([readings_of(rules, name)], target)


def readings_of(rules: Sequence[Rule], name: str = "") -> tuple[Reading, ...]:
    """Return rules as lines; `name` is as in `load_rules`."""
    return tuple(
        Reading(
            RuleKind.RULE,
            rule.place or Location(name, number),
            rule.text,
            rule=rule,
            ignores=rule.ignores,
        )
        for number, rule in enumerate(rules, 1)
    )


def combine(readings: Sequence[Reading]) -> tuple[RuleSet, tuple[Fault, ...]]:
    """Return the rule set of one part's lines, and the faults of those that are faulty.

    The set has every rule that can be read, whether or not auditctl accepts it. A fault after a
    line that has auditctl continue is only a note, and its line is left out. Only paths with a
    trailing slash are taken as directories.
    """
    notes = [note for reading in readings for note in reading.notes]
    rules: list[Rule] = []
    faults: list[Fault] = []
    for line in load_lines([readings], AS_WRITTEN).lines:
        written = line.reading.rule
        if line.deleted_by is not None:
            notes.append(f"{line.reading.place}: deleted again by {line.deleted_by}")
        elif written is not None and line.fate is not Fate.LOCKED:
            rules.append(written)
        elif line.fault is not None and line.tolerated:
            notes.append(f"{line.fault}; left out, since auditctl continues after it (-i, -c)")
        elif line.fault is not None:
            faults.append(line.fault)
    if readings and all(reading.kind in {RuleKind.BLANK, RuleKind.COMMENT} for reading in readings):
        notes.append(f"{readings[0].place.file}: it contains no rule, only comments")
    limits = [reading.backlog_limit for reading in readings if reading.backlog_limit is not None]
    rule_set = RuleSet(
        rules=tuple(rules),
        backlog_limit=limits[-1] if limits else None,
        options=tuple(option for reading in readings for option in reading.options),
        tolerant=any(reading.tolerant for reading in readings),
        notes=tuple(notes),
    )
    return rule_set, tuple(faults)


class _Loading:
    """The state of loading, line by line."""

    def __init__(self, target: Target, refuses: Callable[[KernelRule], str | None]) -> None:
        self.target = target
        self.refuses = refuses
        self.tolerant = False
        self.lines: list[AddedLine] = []
        self.present = Present()
        """The rules that are loaded, by the index of their line."""
        self.by_keys: dict[str, dict[int, None]] = {}
        """The lines whose rules -D would delete, by their keys, including refused ones."""
        self.deletions_by_key = 0
        self.lock: Reading | None = None

    def take(self, reading: Reading) -> None:
        """Take the next line."""
        self.tolerant = self.tolerant or reading.tolerant
        changes = (reading.rule, reading.deletion, reading.deletes)
        if reading.fault is not None:
            if reading.deletes is not None and self.lock is None:
                # auditctl deletes, then fails.
                self._delete_by_key(reading, reading.deletes)
            self._append(AddedLine(reading, Fate.UNREADABLE, fault=reading.fault))
        elif self.lock is not None and any(change is not None for change in changes):
            self._fails(
                reading,
                Fate.LOCKED,
                f"{self.lock.place} has locked the rules (-e 2): the kernel accepts none after it",
                "make -e 2 the last line",
            )
        elif reading.deletes is not None:
            self._delete_by_key(reading, reading.deletes)
        elif reading.deletion is not None:
            self._delete(reading, reading.deletion)
        elif reading.rule is not None:
            self._add(reading, reading.rule)
        if self.lock is None and LOCK in reading.settings:
            self.lock = reading

    def _add(self, reading: Reading, written: Rule) -> None:
        at = len(self.lines)
        self.by_keys.setdefault(_keys(written), {})[at] = None
        try:
            rule = translate(written, self.target)
        except RulesError as error:
            (fault,) = error.faults
            fate = Fate.ELSEWHERE if fault.elsewhere else Fate.REFUSED
            self._append(AddedLine(reading, fate, fault=fault))
            return
        why = self.refuses(rule)
        if why is not None:
            self._fails(reading, Fate.REFUSED, why, "leave the line out")
            return
        earlier = self.present.add(rule, at)
        if earlier is None:
            self._append(AddedLine(reading, Fate.LOADED, rule))
        else:
            self._append(AddedLine(reading, Fate.TWICE, rule, earlier=self.lines[earlier].rule))

    def _delete_by_key(self, reading: Reading, key: str) -> None:
        """Delete the rules whose keys contain a text, as auditctl does, or all for ""."""
        self.deletions_by_key += bool(key)
        if self.deletions_by_key > MOST_DELETIONS_BY_KEY:
            self._fails(
                reading,
                Fate.FUTILE,
                f"more than {MOST_DELETIONS_BY_KEY} lines delete rules by key",
                "remove these lines and the rules that they delete",
            )
            return
        for keys in [keys for keys in self.by_keys if key in keys]:
            for at in self.by_keys.pop(keys):
                self._drop(at, reading.place)

    def _delete(self, reading: Reading, deletion: Rule) -> None:
        """Delete the rule that the kernel considers the same."""
        try:
            wanted = translate(deletion, self.target)
        except RulesError as error:
            (fault,) = error.faults
            fate = Fate.ELSEWHERE if fault.elsewhere else Fate.REFUSED
            self._append(AddedLine(reading, fate, fault=fault))
            return
        found = self.present.find(wanted)
        if found is not None:
            written = self.lines[found].reading.rule
            if written is not None:
                alike = self.by_keys[_keys(written)]
                del alike[found]
                if not alike:
                    del self.by_keys[_keys(written)]
            self._drop(found, reading.place)
            return
        maybe = self.present.maybe(wanted)
        if maybe is not None:
            place = self.lines[maybe].reading.place
            self._fails(
                reading,
                Fate.FUTILE,
                f"whether this is the rule of {place} depends on what lies at the watched path",
                "give --root or --paths, or write both rules the same way",
            )
            return
        self._fails(
            reading,
            Fate.FUTILE,
            "there is no such rule to delete",
            "remove the line; a deletion has to have the same fields, order and key",
        )

    def _drop(self, at: int, by: Location) -> None:
        """Mark a line's rule as deleted."""
        line = self.lines[at]
        loaded = line.fate is Fate.LOADED
        fate = Fate.DELETED if loaded else line.fate
        self.lines[at] = replace(line, fate=fate, deleted_by=by)
        if loaded and line.rule is not None:
            self.present.remove(line.rule, at)

    def _fails(self, reading: Reading, fate: Fate, message: str, remedy: str) -> None:
        self._append(AddedLine(reading, fate, fault=Fault(message, reading.place, remedy)))

    def _append(self, line: AddedLine) -> None:
        self.lines.append(replace(line, tolerated=self.tolerant) if line.fails else line)


def _keys(rule: Rule) -> str:
    return KEY_SEPARATOR.join(rule_keys(rule))
