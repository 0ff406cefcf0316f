"""What the verbs of `hardcost rules` share: the target machine, and reading rules."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hardcost import files
from hardcost.auditrules import parse
from hardcost.auditrules.cost import histogram as histograms
from hardcost.auditrules.kernelrule import UNSET
from hardcost.auditrules.knownpaths import KnownPaths, read_list
from hardcost.auditrules.loadedrules import taken
from hardcost.auditrules.loading import Fate, load_lines
from hardcost.auditrules.root import Root
from hardcost.auditrules.rule import Fault, RulesError
from hardcost.auditrules.tables.lookup import OLDEST
from hardcost.auditrules.translate import Target
from hardcost.cli import arguments
from hardcost.cli.console import note
from hardcost.cli.monitors import work_progress
from hardcost.controls import watchedpaths
from hardcost.errors import InputError, Place, Problem
from hardcost.profiles.written import problems_of
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from hardcost.auditrules.cost.predict import Histogram
    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.loading import Line, LoadedLines
    from hardcost.auditrules.rule import Reading, Rule
    from hardcost.auditrules.tables.lookup import Auditctl, Release

_PASSWD_FIELDS = 3
_AUDIT_OFF = "`-e 0`"
_MOST_LISTED = 20

ARCHITECTURE = "for x86-64; other architectures not checked"
"""Which architecture every answer about rules is for."""

ARCHITECTURE_DATA = {"architecture": {"checked": ["x86-64"], "others": "not checked"}}
"""The same, for JSON."""

# The machine --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """What is known about the machine that rules are for."""

    users: Mapping[str, int]
    groups: Mapping[str, int]
    paths: KnownPaths
    release: Release = OLDEST
    auditctl: Auditctl = "3.0.9"

    @property
    def target(self) -> Target:
        """What auditctl would know there; the kind of an unknown path stays open."""
        return self._target(self.paths.is_directory)

    def _target(self, is_directory: Callable[[str], bool | None]) -> Target:
        return Target(self.users, self.groups, is_directory, self.release, self.auditctl)

    def likely(self, rules: Sequence[Rule]) -> Callable[[str], bool]:
        """Return what says whether a watched path is a directory, guessing by name if need be.

        A trailing slash, here or on the same path in another rule, counts as part of the name.
        """
        directories = frozenset(watchedpaths.paths(rules)[0])

        def likely(path: str) -> bool:
            known = self.paths.is_directory(path)
            if known is not None:
                return known
            bare = path.rstrip("/") or "/"
            return (
                path.endswith("/") or bare in directories or watchedpaths.reason(bare) is not None
            )

        return likely

    def likely_target(self, rules: Sequence[Rule]) -> Target:
        """Return the target, with the kind of each unknown watched path guessed."""
        return self._target(self.likely(rules))


NOWHERE = Machine({"root": 0}, {"root": 0}, KnownPaths())
"""A machine about which nothing is known."""


def for_machine(command: Callable[..., None]) -> Callable[..., None]:
    """Pass a verb one `machine` instead of the options that describe it."""

    @functools.wraps(command)
    def described(
        *,
        root: Path | None,
        paths_list: Path | None,
        passwd: Path | None,
        group: Path | None,
        **rest: Any,  # noqa: ANN401  (the verb's own options)
    ) -> None:
        machine = Machine(_ids(passwd, "user"), _ids(group, "group"), _known(root, paths_list))
        command(machine=machine, **rest)

    return described


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
                place=Place(str(file), number),
                hint=f"it should look like a line of /etc/{'passwd' if what == 'user' else what}",
            )
        found[parts[0]] = int(parts[2])
    return found


def _is_id(text: str) -> bool:
    """Say whether a text is a user's or group's number: 32 bits, the last of which means none."""
    return text.isascii() and text.isdecimal() and int(text[:11]) < UNSET


# Rules --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """Rules as they were written, and the fate of each line."""

    parts: tuple[tuple[Reading, ...], ...]
    found: LoadedLines
    machine: Machine

    def loaded_by(self, auditctl: Auditctl) -> Rules:
        """Return the same lines as another auditctl loads them."""
        machine = replace(self.machine, auditctl=auditctl)
        return Rules(self.parts, load_lines(self.parts, machine.target), machine)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """All lines, in the order in which they load."""
        return tuple(reading for part in self.parts for reading in part)

    @property
    def loaded(self) -> tuple[KernelRule, ...]:
        """The rules that stay loaded; a watch may be of unknown kind."""
        return self.found.rules

    @cached_property
    def likely(self) -> Callable[[str], bool]:
        """Says whether a watched path is a directory, guessing by name if need be."""
        return self.machine.likely([one.rule for one in self.readings if one.rule is not None])

    @cached_property
    def guessed(self) -> tuple[KernelRule, ...]:
        """The rules that stay loaded, with the kind of each unknown watch guessed from its name.

        A rule that is then the same as an earlier one is left out.
        """
        likely = [
            rule.settled(directory=rule.watch is not None and self.likely(rule.watch))
            for rule in self.loaded
        ]
        return tuple(likely[index] for index in taken(likely))

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """The watched paths that may or may not be directories, sorted."""
        return tuple(sorted({rule.watch for rule in self.loaded if rule.watch is not None}))

    @property
    def left_out(self) -> tuple[Line, ...]:
        """The lines that are left out because they can't be loaded, except repeated rules."""
        return tuple(one for one in self.found.failing if one.fault is not None)

    def left_out_said(self, of: str = "") -> list[str]:
        """Return the assumptions that left-out lines add to an answer; `of` names the set."""
        said: list[str] = []
        refused = [one for one in self.left_out if one.fate is not Fate.ELSEWHERE]
        for lines, why in (
            (refused, "since auditctl refuses them"),
            (self.found.of(Fate.TWICE), "since auditctl refuses them as repeated"),
            (self.found.of(Fate.ELSEWHERE), "since they are for another architecture"),
        ):
            if lines:
                places = [str(one.reading.place) for one in lines]
                said.append(f"{of}{_some(places)}: left out, {why}")
        stops = self.found.stops_at
        if stops is not None:
            said.append(f"{of}auditctl continues after {stops.reading.place}, where it stops today")
        return said

    def left_out_data(self) -> list[dict[str, object]]:
        """Return the lines that are left out, for JSON."""
        faults = [one.fault for one in self.left_out if one.fault is not None]
        return [{"file": one.file, "line": one.line, "message": one.message} for one in faults]


def read(
    texts: Sequence[str], machine: Machine = NOWHERE, *, leave_out_faulty: bool = False
) -> Rules:
    """Return the rules that arguments name, and note the lines that are left out.

    A faulty line is left out if a line above it tells auditctl to continue (-i, -c), or if
    `leave_out_faulty`. A repeated rule is always left out, since that changes no record.

    Raises:
        InputError: A file can't be read, or lines can't be loaded; all are reported at once.
    """
    with work_progress() as tell:
        tell("reading the rules")
        each = arguments.parts(texts)
        parts = tuple(readings for readings, _ in each)
        unreadable = [fault for _, faults in each for fault in faults]
        tell("loading the rules")
        found = load_lines(parts, machine.target)
    rules = Rules(parts, found, machine)
    fatal = () if leave_out_faulty else tuple(one for one in rules.left_out if not one.tolerated)
    problems = [*problems_of(RulesError(tuple(unreadable)))] if unreadable else []
    if fatal:
        problems += _problems(fatal, machine)
    if problems:
        raise InputError.of(tuple(problems))
    _note_settings(rules.readings)
    _note_left_out(rules)
    return rules


def _problems(lines: Sequence[Line], machine: Machine) -> list[Problem]:
    """Return the problems of lines; those caused only by line ends are one problem."""
    by_end: dict[str, list[Line]] = {}
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
                Place(first.file, first.line),
                "save the file with Unix line ends",
            )
        )
    stops = next((one.reading.place for one in lines if one.fate is not Fate.ELSEWHERE), None)
    if stops is None:
        message, itself = "the other lines can be used without these", ""
    else:
        message = f"auditctl stops at {stops} and loads no line below it"
        itself = "; auditctl itself does so after -i"
    found.append(Problem(message, hint=f"--leave-out-faulty skips such lines{itself}"))
    return found


def _note_settings(readings: Sequence[Reading]) -> None:
    """Note a line that turns audit off, which no analysis of rules takes into account."""
    for reading in readings:
        for remark in reading.notes:
            if _AUDIT_OFF in remark:
                note(f"{reading.place}: it turns audit off; the results hold while audit is on")
        if reading.cut_at is not None:
            note(f"{reading.place}: auditctl ignores the rest of this line after the NUL byte")


def _note_left_out(rules: Rules) -> None:
    """Note in one list which lines are left out."""
    left_out = rules.left_out
    if left_out:
        own = all(one.tolerated for one in left_out)
        why = ", and continues after them" if own else ""
        if any(one.fate is Fate.ELSEWHERE for one in left_out):
            why = f"{why}, or that are for another architecture"
        note(f"left out: {count(len(left_out), 'line')} that auditctl refuses{why}:")
        for one in left_out[:_MOST_LISTED]:
            note(f"  {one.fault}")
        if len(left_out) > _MOST_LISTED:
            note(
                f"  … and {len(left_out) - _MOST_LISTED} more; `hardcost rules lint` lists them all"
            )
    twice = rules.found.of(Fate.TWICE)
    if twice:
        places = _some([str(one.reading.place) for one in twice])
        repeat = "repeats" if len(twice) == 1 else "repeat"
        note(f"left out: {count(len(twice), 'rule')} that {repeat} an earlier one: {places}")
    if twice and rules.found.stops_at in twice:
        note(f"auditctl stops at {twice[0].reading.place} today, and loads no line below it")


def _some(names: Sequence[str]) -> str:
    """Return names, shortened if there are many."""
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def note_guesses(rules: Rules) -> None:
    """Note what kind each unknown watched path is assumed to have."""
    trees = [path for path in rules.unknown if rules.likely(path)]
    others = [path for path in rules.unknown if not rules.likely(path)]
    for paths, what in ((trees, "directories"), (others, "files")):
        if paths:
            note(f"assumed to be {what}, judging by name: {_some(paths)}")
    if rules.unknown:
        note("auditctl asks the file system what -w watches; use --root or --paths to provide it")


# Workloads ----------------------------------------------------------------------------------------


def histogram(file: Path | None) -> Histogram:
    """Return how often each call is made, according to a file or an assumption.

    Raises:
        InputError: The file contains no such counts.
    """
    if file is None:
        return histograms.general()
    try:
        return histograms.read(files.content(file, "the histogram"), str(file))
    except RulesError as error:
        raise InputError.of(problems_of(error)) from error
