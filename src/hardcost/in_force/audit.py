"""Audit rules: as the kernel has them, else as the files of rules.d have them.

The merged file that augenrules makes of these is read only where there is no other: its comments
are gone, and its lines are written by a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from auditrules.auditctl.write import listed_line
from auditrules.model.fault import RulesError
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.location import Location
from auditrules.read import parse
from hardcost.errors import MachineError
from hardcost.in_force.boot import command_line
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey, lines_of
from hardcost.mechanisms.audit import AuditRule
from hardcost.mechanisms.boot import AUDIT_OFF, AUDIT_ON, BootParameter
from hardcost.units import count, visible

_FOLDER = "/etc/audit/rules.d"
_MERGED = "/etc/audit/audit.rules"
_RULE = re.compile(r"-[aAw]\s")
_STATUS = re.compile(r"(enabled|lost|backlog_limit) (\d{1,18})", re.ASCII)
_BACKLOG = re.compile(r"-b\s*([0-9]{1,9})")
_DIGITS = re.compile(r"([0-9]+)")
_ENABLED = re.compile(r"-e\s*([0-9])")
_LOADED = "auditctl -l"
_AUDITD = "auditd"

STATE = "audit state"
"""The kind of what says that audit is on, which costs each call whatever the rules are."""

_ON = BootParameter(AUDIT_ON)


def read(files: MachineFiles) -> Survey:
    """Return the audit rules in force, each with the line that has it."""
    notes: list[str] = []
    written = list(_written(files, notes))
    if not files.live:
        return _of_files(files, written, notes)
    if not files.is_root:
        why = "the audit rules: only root may ask for them"
        state = _switched_on(files) if _AUDITD in files.processes() else ()
        return Survey(state, unseen=(why,), blind=(AuditRule,))
    try:
        listed, status = files.output("auditctl", "-l"), files.output("auditctl", "-s")
    except MachineError as error:
        return Survey(unseen=(f"the audit rules: {error}",), blind=(AuditRule,))
    if listed is None:
        found = _of_files(files, written, notes)
        why = "the audit rules that the kernel has: auditctl is not installed"
        return replace(found, unseen=(why,), blind=(AuditRule,))
    notes = []
    rules = tuple(_loaded(listed.splitlines(), written, notes))
    known = {name: int(value) for name, value in _STATUS.findall(status or "")}
    if known.get("enabled") == 0:
        return Survey(notes=(_off("enabled 0", len(rules)),))
    state = _switched_on(files) if rules or known.get("enabled") else ()
    backlog = known.get("backlog_limit")
    return Survey((*state, *rules), notes=(*notes, *_state(known)), backlog_limit=backlog)


def _off(why: str, rules: int) -> str:
    return f"audit is switched off ({why}), so {count(rules, 'rule')} have no effect"


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


def _of_files(files: MachineFiles, written: Sequence[AuditRule], notes: list[str]) -> Survey:
    """Return the rules of files; the kernel takes each once."""
    if written:
        notes.append("the audit rules were read from files; the kernel may have others loaded")
    first: dict[object, AuditRule] = {}
    for one in written:
        if not isinstance(one.form, KernelRule):  # there is none of what auditctl refuses
            notes.append(f"{one.place}: auditctl refuses it: {visible(one.name)}")
            continue
        known = first.setdefault(one.form, one)
        if known is not one:
            same = f"the kernel refuses it, since {known.place} is the same rule"
            notes.append(f"{one.place}: {same}")
    why = "audit=0" if AUDIT_OFF in command_line(files) else _switched_off(files)
    if first and why is not None:
        return Survey(notes=(*notes, _off(why, len(first))))
    found = [InForce(one.noun, one.name, one, one.place) for one in first.values()]
    state = _switched_on(files) if found else ()
    return Survey((*state, *found), notes=tuple(notes), backlog_limit=_written_backlog(files))


def _switched_on(files: MachineFiles) -> tuple[InForce, ...]:
    """Return that audit is on, unless a boot parameter says it already."""
    if any(BootParameter(word).setting == _ON.setting for word in command_line(files)):
        return ()
    return (InForce(STATE, "audit switched on", _ON, note="by auditd, for all processes"),)


def _written_backlog(files: MachineFiles) -> int | None:
    """Return how many records may wait by the last line that says it; None without one."""
    said = _last_said(files, _BACKLOG)
    return None if said is None else int(said[0])


def _switched_off(files: MachineFiles) -> str | None:
    """Return the line that switches audit off; None if the last that says anything does not."""
    said = _last_said(files, _ENABLED)
    return str(said[1]) if said is not None and said[0] == "0" else None


def _last_said(files: MachineFiles, setting: re.Pattern[str]) -> tuple[str, Location] | None:
    """Return the value of the last line that has a setting, with its place; None without one."""
    said = [
        (found[1], place)
        for path in _paths(files)
        for line, place in lines_of(files, path)
        if (found := setting.match(line))
    ]
    return said[-1] if said else None


def _paths(files: MachineFiles) -> list[str]:
    """Return the files of rules.d in the order in which they are loaded, else the merged one."""
    names = [one for one in files.names(_FOLDER) if one.endswith(".rules")]
    return [f"{_FOLDER}/{name}" for name in sorted(names, key=_natural)] or [_MERGED]


def _written(files: MachineFiles, notes: list[str]) -> Iterator[AuditRule]:
    """Yield the rules of files; what can't be read becomes a note."""
    for path in _paths(files):
        yield from _rules(lines_of(files, path), notes)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return the key by which augenrules sorts: numbers in names by their value."""
    parts = _DIGITS.split(name)  # every second one is a number
    return [(int(part) if nth % 2 else 0, part) for nth, part in enumerate(parts)]


def _rules(lines: Iterable[tuple[str, Location]], notes: list[str]) -> Iterator[AuditRule]:
    """Yield the rules of lines; what can't be read becomes a note."""
    for line, place in lines:
        if not _RULE.match(line):
            continue
        try:
            (found,) = parse.read_text(line.encode(errors="surrogateescape"), place.file).rules
        except (RulesError, ValueError):
            notes.append(f"{place}: this audit rule can't be read: {visible(line)}")
            continue
        yield AuditRule(replace(found, place=place if place.line is not None else None))


def _state(known: Mapping[str, int]) -> Iterator[str]:
    """Yield what auditctl says of the whole that a reader should know."""
    if known.get("enabled") == 2:  # noqa: PLR2004  (locked)
        yield "the audit rules are locked until the next boot (enabled 2)"
    if known.get("lost", 0):
        yield f"{count(known['lost'], 'audit record')} lost since the boot"
