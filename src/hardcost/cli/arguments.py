"""What an argument of a verb may name, in one place for all verbs: profiles, and rules in them.

A name of the catalogue, a file, a folder, `-` for standard input, a rule in quotes, `KEY=VALUE`,
what a benchmark calls a control, and a profile inside a datastream (`FILE.xml:PROFILE`). What is
measured is a `Profile`; the verbs of `hardcost rules` take the lines of its audit rules.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.auditrules import parse
from hardcost.auditrules.rule import Place
from hardcost.cli import options
from hardcost.cli.commands.shared import is_rule
from hardcost.cli.console import note
from hardcost.controls.control import AuditDaemon, AuditRule
from hardcost.errors import InputError
from hardcost.profiles import catalogue
from hardcost.report.text import listed
from hardcost.study import read
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.rule import Fault, Reading
    from hardcost.controls.control import Profile

    Part = tuple[tuple[Reading, ...], list[Fault]]
    """The lines of an argument, and what keeps whole files from being read."""

INPUT = "-"
_STANDARD_INPUT = "standard input"
_COMMAND_LINE = "the command line"
_KINDS = {"Sysctl": "sysctl", "BootParameter": "boot parameter", "KernelOption": "kernel option"}


def check_once(texts: Sequence[str]) -> None:
    """Check that standard input is named once at most.

    Raises:
        InputError: It is named more often.
    """
    if sum(text == INPUT for text in texts) > 1:
        raise InputError("standard input can be read only once", hint="name a file for the other")


def profile(text: str, *, leave_out_faulty: bool = False) -> Profile:
    """Return the profile that an argument names.

    With `leave_out_faulty`, faulty lines of sysctl files are left out with a note.

    Raises:
        InputError: It names none, or what it names is invalid.
    """
    if text in read.names() and not catalogue.is_there(text):
        raise InputError(f"{text} is a study, not a profile", hint=f"`hardcost run {text}` runs it")
    if text == INPUT:
        return catalogue.of_text(_standard_input(), _STANDARD_INPUT, options.package_root)
    if is_rule(text):
        rule = text.strip()
        found = catalogue.of_text(rule.encode(errors="surrogateescape"), _COMMAND_LINE)
        return replace(found, name=rule, title=rule)
    return catalogue.load(text, options.package_root, leave_out_faulty=leave_out_faulty)


def names_profile(text: str) -> bool:
    """Say whether an argument names a profile, and not a run of the store."""
    return text == INPUT or is_rule(text) or catalogue.is_there(text)


def files_of(texts: Sequence[str]) -> list[Path]:
    """Return the files and folders of audit rules among arguments."""
    return [Path(text) for text in texts if _is_rules_file(text)]


def parts(texts: Sequence[str]) -> list[Part]:
    """Return the lines of audit rules that each argument stands for, also faulty ones.

    Raises:
        InputError: One names nothing, or nothing with audit rules.
    """
    check_once(texts)
    found: list[Part] = []
    typed = 0
    for text in texts:
        if text == INPUT:
            found.append((parse.read_bytes(_standard_input(), _STANDARD_INPUT), []))
        elif is_rule(text):
            raw = text.strip().encode(errors="surrogateescape")
            lines = parse.read_bytes(raw, _COMMAND_LINE)
            found.append((tuple(_moved(one, typed) for one in lines), []))
            typed += len(lines)
        elif _is_rules_file(text):
            found.extend(parse.read_each([Path(text)]))
        else:
            found.append((_rules_of(catalogue.load(text, options.package_root)), []))
    return found


def _is_rules_file(text: str) -> bool:
    """Say whether a text names a file or folder that is read as auditctl and augenrules do."""
    if text == INPUT or is_rule(text) or text in catalogue.names():
        return False
    try:
        return Path(text).exists() and not catalogue.holds_no_rules(Path(text))
    except (OSError, ValueError):
        return False


def _moved(one: Reading, by: int) -> Reading:
    """Return a line of a quoted rule, counted among those of all quoted rules."""
    place = Place(one.place.file, one.place.line + by)
    fault = one.fault and replace(one.fault, line=place.line)
    return replace(one, place=place, fault=fault, rule=one.rule and replace(one.rule, place=place))


def _rules_of(found: Profile) -> tuple[Reading, ...]:
    """Return the lines of a profile's audit rules; a note says what else it has.

    Raises:
        InputError: It has none.
    """
    rules = [one.rule for one in found.controls if isinstance(one, AuditRule)]
    others = [one for one in found.controls if not isinstance(one, AuditRule | AuditDaemon)]
    if not rules:
        raise InputError(
            f"{found.name} has no audit rules, and this verb is about them",
            hint=f"`hardcost bill {shlex.quote(found.name)}` measures its {_what(others)}",
        )
    if others:
        note(
            f"only the {count(len(rules), 'audit rule')} of {found.name}; its {_what(others)}"
            f" {'is' if len(others) == 1 else 'are'} for `hardcost bill`"
        )
    daemon = next((one for one in found.controls if isinstance(one, AuditDaemon)), None)
    nowhere = Place(found.name, 1)
    control = [] if daemon is None else [*daemon.options, *(["-i"] if daemon.tolerant else [])]
    return (
        *(parse.read_line(text, nowhere) for text in control),
        *(parse.read_line(rule.text, rule.place or nowhere) for rule in rules),
    )


def _what(others: Sequence[object]) -> str:
    """Return how many controls of other kinds there are."""
    known = [_KINDS.get(type(one).__name__, "other control") for one in others]
    kinds = sorted(set(known), key=[*_KINDS.values(), "other control"].index)
    return listed(count(known.count(kind), kind) for kind in kinds) if kinds else "audit daemon"


def _standard_input() -> bytes:
    data = sys.stdin.buffer.read(parse.LARGEST_FILE + 1)
    too_much = parse.excess(len(data), data.count(b"\n"))
    if too_much:
        raise InputError(
            f"{_STANDARD_INPUT} is {too_much}, too much for audit rules",
            hint="is that what was meant?",
        )
    return data
