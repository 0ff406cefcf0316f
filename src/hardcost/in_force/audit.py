"""Audit rules: as the kernel has them, else as the files of rules.d have them.

The merged file that augenrules makes of these is read only where there is no other: its comments
are gone, and its lines are written by a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from auditrules.auditctl.write import listed_line
from auditrules.model.fault import RulesError
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.location import Location
from auditrules.read import parse
from hardcost.errors import MachineError
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey
from hardcost.mechanisms.audit import AuditRule
from hardcost.units import count, visible

_FOLDER = "/etc/audit/rules.d"
_MERGED = "/etc/audit/audit.rules"
_RULE = re.compile(r"-[aAw]\s")
_STATUS = re.compile(r"(enabled|lost|backlog|backlog_limit) (\d+)")
_DIGITS = re.compile(r"(\d+)")
_LOADED = "auditctl -l"


def read(files: MachineFiles) -> Survey:
    """Return the audit rules in force, each with the line that has it."""
    written = list(_written(files))
    if not files.live:
        return _of_files(written)
    if not files.is_root:
        return Survey(unseen=("the audit rules: only root may ask for them",))
    try:
        listed, status = files.output("auditctl", "-l"), files.output("auditctl", "-s")
    except MachineError as error:
        return Survey(unseen=(f"the audit rules: {error}",))
    if listed is None:
        return _of_files(written)
    notes: list[str] = []
    rules = tuple(_loaded(listed.splitlines(), written, notes))
    return Survey(rules, notes=(*notes, *_state(status or "", len(rules))))


def _loaded(
    lines: Sequence[str], written: Sequence[AuditRule], notes: list[str]
) -> Iterator[InForce]:
    """Yield the rules that `auditctl -l` lists, as a file has them where one has.

    A listed line need not be one that auditctl reads: keys may have blanks.
    """
    by_form = {one.form: one for one in written}
    by_line = {
        listed_line(form): one for form, one in by_form.items() if isinstance(form, KernelRule)
    }
    for line in lines:
        own = by_line.get(line)
        if own is None:
            for one in _rules([(line, Location(_LOADED, None))], notes):
                own = by_form.get(one.form, one)
        if own is not None:
            note = "" if own.place is not None else "loaded, and in no file of rules.d"
            yield InForce(own.noun, own.name, own, own.place, note=note)


def _of_files(written: Sequence[AuditRule]) -> Survey:
    """Return the rules of files; the kernel takes each once."""
    first: dict[object, AuditRule] = {}
    notes = (
        ["the audit rules were read from files; the kernel may have others loaded"]
        if written
        else []
    )
    for one in written:
        if not isinstance(one.form, KernelRule):  # there is none of what auditctl refuses
            notes.append(f"{one.place}: auditctl refuses it: {visible(one.name)}")
            continue
        known = first.setdefault(one.form, one)
        if known is not one:
            notes.append(
                f"{one.place}: the kernel refuses it, since {known.place} is the same rule"
            )
    found = (InForce(one.noun, one.name, one, one.place) for one in first.values())
    return Survey(tuple(found), notes=tuple(notes))


def _written(files: MachineFiles) -> Iterator[AuditRule]:
    """Yield the rules of the files of rules.d, else those of the merged file."""
    names = [one for one in files.names(_FOLDER) if one.endswith(".rules")]
    names.sort(key=_natural)
    paths = [f"{_FOLDER}/{name}" for name in names] or [_MERGED]
    for path in paths:
        text = files.text(path) or ""
        lines = enumerate(text.split("\n"), 1)
        yield from _rules(((line, Location(path, number)) for number, line in lines), [])


def _natural(name: str) -> list[str | int]:
    """Return the key by which augenrules sorts: numbers in names by their value."""
    return [int(part) if part.isdigit() else part for part in _DIGITS.split(name)]


def _rules(lines: Iterable[tuple[str, Location]], notes: list[str]) -> Iterator[AuditRule]:
    """Yield the rules of lines; what can't be read becomes a note."""
    for line, place in lines:
        if not _RULE.match(line):
            continue
        try:
            (found,) = parse.read_text(line.encode(errors="surrogateescape"), place.file).rules
        except (RulesError, ValueError):
            notes.append(f"an audit rule that can't be read: {visible(line)}")
            continue
        yield AuditRule(replace(found, place=place if place.line is not None else None))


def _state(status: str, rules: int) -> Iterator[str]:
    """Yield what auditctl says of the whole that a reader should know."""
    known = {name: int(value) for name, value in _STATUS.findall(status)}
    if known.get("enabled") == 0:
        yield f"audit is switched off (enabled 0): none of its {count(rules, 'rule')} is applied"
    if known.get("enabled") == 2:  # noqa: PLR2004  (locked)
        yield "the audit rules are locked until the next boot (enabled 2)"
    if known.get("lost", 0):
        yield f"{count(known['lost'], 'audit record')} lost since the boot"
