"""Audit rules: as the kernel has them, else as the files of rules.d have them.

The merged file that augenrules makes of these is read only where there is no other: its comments
are gone, and its lines are written by a program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from auditrules.model.fault import RulesError
from auditrules.model.location import Location
from auditrules.read import parse
from hardcost.errors import MachineError
from hardcost.host import process
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
    if process.find_program("auditctl") is None:
        return _of_files(written)
    if os.geteuid() != 0:
        return Survey(unseen=("the audit rules: only root may ask for them",))
    try:
        listed = process.output(["auditctl", "-l"], limit_seconds=10).decode(errors="replace")
        status = process.output(["auditctl", "-s"], limit_seconds=10).decode(errors="replace")
    except MachineError as error:
        return Survey(unseen=(f"the audit rules: {error}",))
    places = {one.form: one.place for one in written}
    notes: list[str] = []
    rules = [
        InForce(one.noun, one.name, one, places.get(one.form), note=_note(one, places))
        for one in _rules(((line, Location(_LOADED, None)) for line in listed.splitlines()), notes)
    ]
    return Survey(tuple(rules), notes=(*notes, *_state(status, len(rules))))


def _note(rule: AuditRule, places: dict[object, Location | None]) -> str:
    return "" if rule.form in places else "loaded, and in no file of rules.d"


def _of_files(written: Sequence[AuditRule]) -> Survey:
    """Return the rules of files; the kernel takes each once."""
    first: dict[object, AuditRule] = {}
    notes = (
        ["the audit rules were read from files; the kernel may have others loaded"]
        if written
        else []
    )
    for one in written:
        if one.form == one.name:  # there is no form of what auditctl refuses
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
