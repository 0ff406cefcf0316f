"""The audit rules that a profile of a SCAP datastream requires (see `datastream`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auditrules.model.location import Location
from auditrules.model.rule import RuleKind, RuleSet
from auditrules.read.folder import as_augenrules, version_key
from auditrules.read.parse import join, read_line, read_lines
from hardcost.errors import InputError
from hardcost.mechanisms.audit import Origin
from hardcost.profiles.importers.scap import fix_scripts
from hardcost.profiles.importers.scap.datastream import (
    SEVERITIES,
    BenchmarkRule,
    Selected,
    selection_of,
)


@dataclass(frozen=True)
class OriginLine:
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
class MissingRules:
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
    lines: tuple[OriginLine, ...]
    not_found: tuple[MissingRules, ...]
    elsewhere: tuple[MissingRules, ...]
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
    return rules_of_selected(selection_of(path, wanted))


def rules_of_selected(found: Selected) -> AuditRules:
    """Return the audit rules among what a profile selects.

    Raises:
        InputError: There are far too many.
    """
    gathered = _Gathered()
    for rule in found.rules:
        try:
            gathered.take(rule)
        except fix_scripts.TooManyError:
            message = (
                f"its profile {found.profile} has more than {fix_scripts.MOST_LINES} lines of audit"
                " rules"
            )
            raise InputError(message, place=Location(str(found.path))) from None
    lines = gathered.lines_in_order()
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
    origins: dict[tuple[Location, str], Origin] | None = None,
) -> RuleSet:
    """Return the audit rules that the profile `wanted` of datastreams requires.

    A rule's location is that of the SCAP rule that requires it. Lines not found become notes.
    `origins` is filled.

    Raises:
        InputError: As `audit_rules` does.
    """
    filled = {} if origins is None else origins
    return join([as_rule_set(audit_rules(file, wanted), shown(file), filled) for file in files])


def as_rule_set(
    found: AuditRules, name: str, origins: dict[tuple[Location, str], Origin]
) -> RuleSet:
    """Return the rules of a datastream called `name`, filling `origins`."""
    placed = [(line.text, Location(name, line.line)) for line in found.lines]
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
        self.folder = fix_scripts.RulesFolder()
        self.not_found: list[MissingRules] = []
        self.elsewhere: list[MissingRules] = []
        self.others = 0
        self.rules: dict[str, BenchmarkRule] = {}

    def take(self, rule: BenchmarkRule) -> None:
        """Follow a rule's script, or record why that is not possible."""
        self.rules[rule.name] = rule
        if not any(fix_scripts.mentions_rules(text) for text in (*rule.scripts, rule.prose)):
            self.others += 1
        elif rule.elsewhere:
            self.elsewhere.append(MissingRules(rule.name, rule.elsewhere))
        elif not rule.scripts:
            self.not_found.append(MissingRules(rule.name, "it has no shell script with its lines"))
        elif problem := fix_scripts.follow(rule.scripts[0], self.folder, rule.name):
            self.not_found.append(MissingRules(rule.name, problem))

    def lines_in_order(self) -> tuple[OriginLine, ...]:
        """Return the lines in augenrules' order; an unreadable one joins `not_found`."""
        lines: dict[Location, OriginLine] = {}
        # As `ls -v` lists them, which is the order of augenrules.
        for name in sorted(self.folder.files, key=version_key):
            for number, written in enumerate(self.folder.files[name], 1):
                lines[Location(name, number)] = self._line(written, name)
        taken: list[OriginLine] = []
        for one in as_augenrules([read_line(line.text, place) for place, line in lines.items()]):
            line = lines[one.place]
            if one.fault is not None:
                why = f"its line {line.text!r} can't be read: {one.fault.message}"
                self.not_found.append(MissingRules(line.asked_by[0], why))
            elif one.kind not in {RuleKind.COMMENT, RuleKind.REPLACED}:
                taken.append(line)
        return tuple(taken)

    def _line(self, written: fix_scripts.WrittenRules, file: str) -> OriginLine:
        asking = [self.rules[name] for name in written.asked_by]
        return OriginLine(
            text=written.text,
            file=file,
            asked_by=written.asked_by,
            line=asking[0].line,
            ids=tuple(dict.fromkeys(one for rule in asking for one in rule.ids)),
            severity=gravest(rule.severity for rule in asking),
        )
