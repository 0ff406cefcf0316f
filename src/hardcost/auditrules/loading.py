"""What the lines of files come to when they are loaded one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import KEY_SEPARATOR
from hardcost.auditrules.rule import LOCK, Fault, Kind, Rule, RulesError, RuleSet, rule_keys
from hardcost.auditrules.translate import translate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.rule import Reading

MOST_DELETIONS_BY_KEY = 1000
"""Lines `-D -k` in a set of rules: each looks at all rules before it."""


def combine(readings: Sequence[Reading]) -> tuple[RuleSet, tuple[Fault, ...]]:
    """Return what lines say together, in their order, and the faults that show only then.

    These are of lines that delete what is not there, and of lines below the one that locks the
    rules. Lines at fault say nothing; their own faults are not repeated.
    """
    loaded = _Loaded()
    notes: list[str] = []
    for reading in readings:
        notes.extend(reading.notes)
        if loaded.refused(reading):
            continue
        if reading.deletes is not None:
            notes.extend(loaded.delete_by_key(reading, reading.deletes))
        if reading.deletion is not None:
            notes.extend(loaded.delete(reading.deletion))
        if reading.rule is not None:
            loaded.add(reading.rule)
    if readings and all(reading.kind in {Kind.BLANK, Kind.COMMENT} for reading in readings):
        notes.append(f"{readings[0].place.file}: it holds no rule, only comments")
    limits = [reading.backlog_limit for reading in readings if reading.backlog_limit is not None]
    rule_set = RuleSet(
        rules=tuple(loaded.rules.values()),
        backlog_limit=limits[-1] if limits else None,
        options=tuple(option for reading in readings for option in reading.options),
        tolerant=any(reading.tolerant for reading in readings),
        notes=tuple(notes),
    )
    return rule_set, tuple(loaded.faults)


class _Loaded:
    """The rules that are there while lines are taken one by one."""

    def __init__(self) -> None:
        self.rules: dict[int, Rule] = {}
        self.faults: list[Fault] = []
        self.count = 0
        self.by_key = 0
        self.translated = 0
        self.alike: dict[KernelRule, list[int]] = {}
        self.lock: Reading | None = None

    def refused(self, reading: Reading) -> bool:
        """Say whether the kernel refuses a line because an earlier one has locked the rules."""
        changes = (reading.rule, reading.deletion, reading.deletes)
        if self.lock is not None and any(change is not None for change in changes):
            self._fault(
                reading,
                f"{self.lock.place} has locked the rules (-e 2): the kernel takes none after it",
                "let -e 2 be the last line",
            )
            return True
        if self.lock is None and LOCK in reading.settings:
            self.lock = reading
        return False

    def add(self, rule: Rule) -> None:
        self.rules[self.count] = rule
        self.count += 1

    def delete_by_key(self, reading: Reading, key: str) -> list[str]:
        """Delete the rules whose keys hold a text, as auditctl seeks it; return notes of them."""
        if not key:
            gone = list(self.rules.items())
        else:
            self.by_key += 1
            if self.by_key > MOST_DELETIONS_BY_KEY:
                self._fault(
                    reading,
                    f"more than {MOST_DELETIONS_BY_KEY} lines delete rules by key",
                    "leave out both these lines and the rules that they delete",
                )
                return []
            gone = [
                (at, rule)
                for at, rule in self.rules.items()
                if rule.key and key in KEY_SEPARATOR.join(rule_keys(rule))
            ]
        for at, _ in gone:
            del self.rules[at]
        return [f"{rule.place}: deleted again by {reading.place}" for _, rule in gone]

    def delete(self, deletion: Rule) -> list[str]:
        """Delete the rule that is the same for the kernel; return a note of it."""
        try:
            wanted = _bare(translate(deletion))
        except RulesError as error:
            self.faults.extend(error.faults)
            return []
        self._translate_new()
        while self.alike.get(wanted):
            at = self.alike[wanted].pop(0)
            if at in self.rules:
                return [f"{self.rules.pop(at).place}: deleted again by {deletion.place}"]
        self._fault(
            deletion,
            "there is no such rule to delete",
            "leave the line out; a rule is the same in all its fields and their order, and its key",
        )
        return []

    def _translate_new(self) -> None:
        """Note what the kernel would make of the rules that have come since the last time."""
        for at in range(self.translated, self.count):
            if at in self.rules:
                try:
                    self.alike.setdefault(_bare(translate(self.rules[at])), []).append(at)
                except RulesError:
                    continue  # it does not load, so that there is nothing to delete
        self.translated = self.count

    def _fault(self, at: Reading | Rule, message: str, remedy: str) -> None:
        place = at.place
        file, line = (place.file, place.line) if place else ("", None)
        self.faults.append(Fault(message, file, line, remedy))


def _bare(rule: KernelRule) -> KernelRule:
    """Return a rule as it is compared: whether it was prepended is forgotten."""
    return replace(rule, prepend=False, source=None)
