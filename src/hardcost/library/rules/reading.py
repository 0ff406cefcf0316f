"""Audit rules as a call names them: read and loaded, and the machine that they are for."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from auditrules.load.known_paths import KnownPaths, read_list
from auditrules.load.load import AddedLine, Fate, load_lines
from auditrules.load.loaded_set import LoadedSet, shorten_list
from auditrules.load.root import Root
from auditrules.load.target import NOWHERE, RuleTarget
from auditrules.model.fault import Fault, RulesError
from auditrules.model.kernel_rule import UNSET
from auditrules.model.location import Location
from auditrules.model.rule import Reading
from auditrules.read import parse
from hardcost import files
from hardcost.controls.control import Control, Profile, of_kind
from hardcost.errors import InputError, Problem, RequestProblem
from hardcost.library.profiles import (
    COMMAND_LINE,
    INPUT,
    STANDARD_INPUT,
    check_once,
    standard_input,
)
from hardcost.library.rule_text import is_rule
from hardcost.measure.monitor import Monitor
from hardcost.mechanisms.audit import AUDIT, AuditDaemon, audit_rules, is_tolerant, problems_of
from hardcost.profiles import catalogue
from hardcost.supply.packages.debian import package_root
from hardcost.units import count, join_in_prose

Part = tuple[tuple[Reading, ...], list[Fault]]
"""The lines of an argument, and what keeps whole files from being read."""

_PASSWD_FIELDS = 3  # that have to be there: name, password and number
_AUDIT_OFF = "`-e 0`"
_MOST_LISTED = 20


@dataclass(frozen=True)
class RulesRequest:
    """Rules by what names them, and the machine that they are for.

    Faulty lines are left out if a line above them has auditctl continue (-i, -c), or if
    `leave_out_faulty`.
    """

    texts: tuple[str, ...]
    _: KW_ONLY
    target: RuleTarget = NOWHERE
    leave_out_faulty: bool = False


def read(request: RulesRequest, monitor: Monitor) -> LoadedSet:
    """Return the rules that a request names; the monitor hears which lines are left out.

    A repeated rule is always left out, since that changes no record.

    Raises:
        InputError: A file can't be read, or lines can't be loaded; all are reported at once.
    """
    with monitor.work() as tell:
        tell("reading the rules")
        each = parts(request.texts, monitor)
        lines = tuple(readings for readings, _ in each)
        unreadable = [fault for _, faults in each for fault in faults]
        tell("loading the rules")
        found = load_lines(lines, request.target.target)
    rules = LoadedSet(lines, found, request.target)
    fatal = (
        ()
        if request.leave_out_faulty
        else tuple(one for one in rules.left_out if not one.tolerated)
    )
    problems = [*problems_of(RulesError(tuple(unreadable)))] if unreadable else []
    if fatal:
        problems += _problems(fatal, request.target)
    if problems:
        raise InputError.of(tuple(problems))
    _note_settings(rules.readings, monitor)
    _note_left_out(rules, monitor)
    return rules


def _problems(lines: Sequence[AddedLine], machine: RuleTarget) -> list[Problem]:
    """Return the problems of lines; those caused only by line ends are one problem."""
    by_end: dict[str, list[AddedLine]] = {}
    others: list[Fault] = []
    for one in lines:
        if parse.fails_by_its_end(one.reading, machine.target):
            by_end.setdefault(one.reading.place.file, []).append(one)
        elif one.fault is not None:
            others.append(one.fault)
    found = [*problems_of(RulesError(tuple(others)))] if others else []
    for file, ended in by_end.items():
        first = ended[0].reading.place
        found.append(
            Problem(
                f"{count(len(ended), 'line')} of {file} can't be loaded because of the"
                " carriage return at the end, which auditctl reads as part of the last word",
                first.at(None),
                "save the file with Unix line ends",
            )
        )
    stops = next((one.reading.place for one in lines if one.fate is not Fate.ELSEWHERE), None)
    if stops is None:
        message, itself = "the other lines can be used without these", ""
    else:
        message = f"auditctl stops at {stops} and loads no line below it"
        itself = "; auditctl itself does so after -i"
    found.append(RequestProblem(message, hint=f"`leave_out_faulty` skips such lines{itself}"))
    return found


def _note_settings(readings: Sequence[Reading], monitor: Monitor) -> None:
    """Note a line that turns audit off, which no analysis of rules takes into account."""
    for reading in readings:
        for remark in reading.notes:
            if _AUDIT_OFF in remark:
                monitor.note(
                    f"{reading.place}: it turns audit off; the results hold while audit is on"
                )
        if reading.cut_at is not None:
            monitor.note(
                f"{reading.place}: auditctl ignores the rest of this line after the NUL byte"
            )


def _note_left_out(rules: LoadedSet, monitor: Monitor) -> None:
    """Note in one list which lines are left out."""
    left_out = rules.left_out
    if left_out:
        own = all(one.tolerated for one in left_out)
        why = ", and continues after them" if own else ""
        if any(one.fate is Fate.ELSEWHERE for one in left_out):
            why = f"{why}, or that are for another architecture"
        monitor.note(f"left out: {count(len(left_out), 'line')} that auditctl refuses{why}:")
        for one in left_out[:_MOST_LISTED]:
            monitor.note(f"  {one.fault}")
        if len(left_out) > _MOST_LISTED:
            monitor.note(
                f"  … and {len(left_out) - _MOST_LISTED} more; `hardcost rules lint` lists them all"
            )
    twice = rules.found.of(Fate.TWICE)
    if twice:
        places = shorten_list([str(one.reading.place) for one in twice])
        repeat = "repeats" if len(twice) == 1 else "repeat"
        monitor.note(
            f"left out: {count(len(twice), 'rule')} that {repeat} an earlier one: {places}"
        )
    if twice and rules.found.stops_at in twice:
        monitor.note(
            f"auditctl stops at {twice[0].reading.place} today, and loads no line below it"
        )


# The machine --------------------------------------------------------------------------------------


def rule_target(
    *,
    root: Path | None = None,
    paths: Path | None = None,
    passwd: Path | None = None,
    group: Path | None = None,
) -> RuleTarget:
    """Return the machine that files describe.

    `root` is a folder with its file system, and `paths` a list of its paths. `passwd` and `group`
    are files like those in /etc.

    Raises:
        InputError: A file can't be read, or is not what it should be.
    """
    users, groups = _ids(passwd, "user"), _ids(group, "group")
    return RuleTarget(users, groups, _known(root, paths))


def _known(root: Path | None, paths_list: Path | None) -> KnownPaths:
    listed: dict[str, bool] = {}
    if paths_list is not None:
        try:
            listed = read_list(files.content(paths_list, "the list"), str(paths_list))
        except RulesError as error:
            raise InputError.of(problems_of(error)) from error
    return KnownPaths(listed, None if root is None else Root(root))


def _ids(file: Path | None, what: str) -> dict[str, int]:
    """Return the numbers of the names in a file such as /etc/passwd."""
    found = {"root": 0}
    if file is None:
        return found
    text = files.content(file, "the list").decode(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split(":")
        if not line.strip() or line.startswith("#"):
            continue
        if len(parts) < _PASSWD_FIELDS or not _is_id(parts[2]):
            raise InputError(
                f"the line does not name a {what} with its number",
                place=Location(str(file), number),
                hint=f"it should look like a line of /etc/{'passwd' if what == 'user' else what}",
            )
        found[parts[0]] = int(parts[2])
    return found


def _is_id(text: str) -> bool:
    """Say whether a text is a user's or group's number: 32 bits, the last of which means none."""
    return text.isascii() and text.isdecimal() and int(text[:11]) < UNSET


# Arguments ----------------------------------------------------------------------------------------


def files_of(texts: Sequence[str]) -> list[Path]:
    """Return the files and folders of audit rules among arguments."""
    return [Path(text) for text in texts if _is_rules_file(text)]


def parts(texts: Sequence[str], monitor: Monitor) -> list[Part]:
    """Return the lines of audit rules that each argument stands for, also faulty ones.

    Raises:
        InputError: One names nothing, or nothing with audit rules.
    """
    check_once(texts)
    found: list[Part] = []
    typed = 0
    for text in texts:
        if text == INPUT:
            found.append((parse.read_bytes(standard_input(), STANDARD_INPUT), []))
        elif is_rule(text):
            raw = text.strip().encode(errors="surrogateescape")
            lines = parse.read_bytes(raw, COMMAND_LINE)
            found.append((tuple(_moved(one, typed) for one in lines), []))
            typed += len(lines)
        elif _is_rules_file(text):
            found.extend(parse.read_each([Path(text)]))
        else:
            found.append((_rules_of(catalogue.load(text, package_root), monitor), []))
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
    place = one.place.below(by)
    fault = one.fault and replace(one.fault, place=one.fault.place.below(by))
    return replace(one, place=place, fault=fault, rule=one.rule and replace(one.rule, place=place))


def _rules_of(found: Profile, monitor: Monitor) -> tuple[Reading, ...]:
    """Return the lines of a profile's audit rules; a note says what else it has.

    Raises:
        InputError: It has none.
    """
    rules = audit_rules(found.controls)
    others = [one for one in found.controls if one.mechanism != AUDIT.name]
    if not rules:
        raise InputError(
            f"{found.name} has no audit rules, and this verb is about them",
            hint=f"`hardcost bill {shlex.quote(found.name)}` measures its {_what(others)}",
        )
    if others:
        monitor.note(
            f"only the {count(len(rules), 'audit rule')} of {found.name}; its {_what(others)}"
            f" {'is' if len(others) == 1 else 'are'} for `hardcost bill`"
        )
    nowhere = Location(found.name, 1)
    control = [line for one in of_kind(found.controls, AuditDaemon) for line in one.options]
    if is_tolerant(found.controls):
        control.append("-i")
    return (
        *(parse.read_line(text, nowhere) for text in control),
        *(parse.read_line(rule.text, rule.place or nowhere) for rule in rules),
    )


def _what(others: Sequence[Control]) -> str:
    """Return how many controls of other kinds there are; what has no noun of its own comes last."""
    known = Counter(one.noun for one in sorted(others, key=lambda one: one.noun == Control.noun))
    return join_in_prose(count(number, noun) for noun, number in known.items()) or "audit daemon"
