"""The audit rules that a profile of a SCAP datastream requires (see `scapstream`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hardcost.auditrules.folder import as_augenrules, version_key
from hardcost.auditrules.parse import join, read_line, read_lines
from hardcost.auditrules.rule import Kind, RuleSet
from hardcost.auditrules.rule import Place as RulePlace
from hardcost.errors import InputError, Place
from hardcost.profiles.importers import scapfix
from hardcost.profiles.importers.scapstream import SEVERITIES, selected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from hardcost.profiles.importers.scapstream import Rule, Selected


@dataclass(frozen=True)
class Line:
    """A line of audit rules, its file in /etc/audit/rules.d, and its origin.

    `asked_by` are the ids of the SCAP rules that require it, without the content's prefix; `line`
    is where the first of them begins in the datastream; `ids` are other names of these rules,
    `severity` is the gravest of theirs.
    """

    text: str
    file: str
    asked_by: tuple[str, ...]
    line: int
    ids: tuple[str, ...] = ()
    severity: str = "unknown"


@dataclass(frozen=True)
class Origin:
    """What benchmarks call a line of audit rules, and the gravest severity that they give it."""

    ids: tuple[str, ...]
    severity: str


Origins = dict[tuple[RulePlace, str], Origin]
"""The origin of a rule, by its location and text; several rules may have one location."""


@dataclass(frozen=True)
class Missing:
    """A selected SCAP rule about audit rules whose lines could not be found, and why."""

    rule: str
    why: str


@dataclass(frozen=True)
class AuditRules:
    """The audit rules of a profile, on an x86_64 machine without other rules.

    `lines` are in augenrules' order, without comments. `not_found` are rules about audit whose
    lines could not be found, or not all of them; `elsewhere` are those for other architectures.
    `not_taken` counts the profile's other rules.
    """

    profile: str
    title: str
    lines: tuple[Line, ...]
    not_found: tuple[Missing, ...]
    elsewhere: tuple[Missing, ...]
    not_taken: int

    def text(self) -> str:
        """Return the lines as a file of audit rules, each group with the rules that required it."""
        blocks: list[str] = [f"# {self.title}"]
        asked_by: tuple[str, ...] = ()
        for line in self.lines:
            if line.asked_by != asked_by:
                asked_by = line.asked_by
                blocks.append("")
                blocks.extend(f"# {rule}" for rule in asked_by)
            blocks.append(line.text)
        return "\n".join(blocks) + "\n"


def audit_rules(path: Path, wanted: str) -> AuditRules:
    """Return the audit rules of the profile `wanted`: its id or the end of it, such as `stig`.

    Raises:
        InputError: The file is not a datastream, can't be read, or has no such profile.
    """
    return of_selected(selected(path, wanted))


def of_selected(found: Selected) -> AuditRules:
    """Return the audit rules among what a profile selects.

    Raises:
        InputError: There are far too many.
    """
    gathered = _Gathered()
    for rule in found.rules:
        try:
            gathered.take(rule)
        except scapfix.TooManyError:
            message = (
                f"its profile {found.profile} has more than {scapfix.MOST_LINES} lines of audit"
                " rules"
            )
            raise InputError(message, place=Place(str(found.path))) from None
    lines = gathered.ordered()
    return AuditRules(
        profile=found.profile,
        title=found.title,
        lines=lines,
        not_found=tuple(gathered.not_found),
        elsewhere=tuple(gathered.elsewhere),
        not_taken=gathered.others,
    )


def rule_set(
    files: Sequence[Path],
    wanted: str,
    shown: Callable[[Path], str] = str,
    origins: Origins | None = None,
) -> RuleSet:
    """Return the audit rules that the profile `wanted` of datastreams requires.

    A rule's location is that of the SCAP rule that requires it. Lines not found become notes.
    `origins` is filled.

    Raises:
        InputError: As `audit_rules` does.
    """
    filled = {} if origins is None else origins
    return join([as_rule_set(audit_rules(file, wanted), shown(file), filled) for file in files])


def as_rule_set(found: AuditRules, name: str, origins: Origins) -> RuleSet:
    """Return the rules of a datastream called `name`, filling `origins`."""
    placed = [(line.text, RulePlace(name, line.line)) for line in found.lines]
    read = read_lines(placed)
    for line, (text, place) in zip(found.lines, placed, strict=True):
        ids = tuple(dict.fromkeys((*line.asked_by, *line.ids)))
        origins[place, read_line(text, place).text] = Origin(ids, line.severity)
    notes = (*read.notes, *(f"{one.rule}: {one.why}" for one in found.not_found))
    return replace(read, notes=notes)


def gravest(severities: Iterable[str]) -> str:
    """Return the gravest of some severities, "" of none."""
    return min(severities, key=SEVERITIES.index, default="")


class _Gathered:
    """The result of the selected rules, processed one by one."""

    def __init__(self) -> None:
        self.folder = scapfix.RulesFolder()
        self.not_found: list[Missing] = []
        self.elsewhere: list[Missing] = []
        self.others = 0
        self.rules: dict[str, Rule] = {}

    def take(self, rule: Rule) -> None:
        """Follow a rule's script, or record why that is not possible."""
        self.rules[rule.name] = rule
        if not any(scapfix.mentions_rules(text) for text in (*rule.scripts, rule.prose)):
            self.others += 1
        elif rule.elsewhere:
            self.elsewhere.append(Missing(rule.name, rule.elsewhere))
        elif not rule.scripts:
            self.not_found.append(Missing(rule.name, "it has no shell script with its lines"))
        elif problem := scapfix.follow(rule.scripts[0], self.folder, rule.name):
            self.not_found.append(Missing(rule.name, problem))

    def ordered(self) -> tuple[Line, ...]:
        """Return the lines in augenrules' order; an unreadable one joins `not_found`."""
        lines: dict[RulePlace, Line] = {}
        for name in sorted(self.folder.files, key=version_key):
            for number, written in enumerate(self.folder.files[name], 1):
                lines[RulePlace(name, number)] = self._line(written, name)
        taken: list[Line] = []
        for one in as_augenrules([read_line(line.text, place) for place, line in lines.items()]):
            line = lines[one.place]
            if one.fault is not None:
                why = f"its line {line.text!r} can't be read: {one.fault.message}"
                self.not_found.append(Missing(line.asked_by[0], why))
            elif one.kind not in {Kind.COMMENT, Kind.REPLACED}:
                taken.append(line)
        return tuple(taken)

    def _line(self, written: scapfix.Written, file: str) -> Line:
        asking = [self.rules[name] for name in written.asked_by]
        return Line(
            text=written.text,
            file=file,
            asked_by=written.asked_by,
            line=asking[0].line,
            ids=tuple(dict.fromkeys(one for rule in asking for one in rule.ids)),
            severity=gravest(rule.severity for rule in asking),
        )
