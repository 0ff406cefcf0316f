"""Reading audit rules: files as `auditctl -R` reads them, folders as augenrules puts them together.

What is checked here is what decides how a line is read: its bytes, its words and its options.
Whether a field or a system call exists is for auditctl to say, on the kernel that is measured.

The facts are those of audit 3.0.9, tried on the program itself: words end at spaces alone (a tab
is part of a word, and quotes mean nothing), a backslash keeps a space or a backslash within a
word, a line longer than its buffer is read as two, and one with a NUL byte is cut there.
"""

from __future__ import annotations

import re
from dataclasses import replace
from getopt import GetoptError
from typing import TYPE_CHECKING

from hardcost.auditrules.folder import as_augenrules, version_key
from hardcost.auditrules.rule import (
    Fault,
    Kind,
    Place,
    Reading,
    Rule,
    RulesError,
    RuleSet,
    option_keys,
    rule_keys,
    split_options,
    split_words,
    word_columns,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

LONGEST_LINE = 6143
"""Bytes of a line, without its end, that auditctl takes in one piece."""

LARGEST_FILE = 1 << 24
"""Bytes of a file that is still taken for a file of rules."""

_ADD = frozenset({"-a", "-A", "-w"})
_DELETE = frozenset({"-d", "-W"})
_OF_A_RULE = frozenset({"-S", "-F", "-C", "-k", "-p"})
_LARGEST_NUMBER = 2**32 - 1

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
_PATH_FIELD = re.compile(r"(path|dir|exe)!?=(/.*)", re.DOTALL)


def read(paths: Sequence[Path], shown: Callable[[Path], str] = str) -> RuleSet:
    """Return what the files and folders say together, in the order given.

    A folder holds *.rules files and is read as augenrules does. `shown` gives the name by which
    places call a file. All that is wrong is raised at once, as a `RulesError`.
    """
    faults: list[Fault] = []
    parts: list[RuleSet] = []
    for readings, of_files in read_each(paths, shown):
        faults.extend(of_files)
        faults.extend(reading.fault for reading in readings if reading.fault)
        parts.append(_combine(readings))
    rule_set = join(parts)
    if not paths:
        faults.append(
            Fault("no file of audit rules is given", "", remedy="name a file or a folder")
        )
    elif not rule_set.rules and not faults:
        faults.append(
            Fault(
                "there is no audit rule in it",
                ", ".join(shown(path) for path in paths),
                remedy="a rule is a line that begins with -a, -A or -w",
            )
        )
    if faults:
        raise RulesError(tuple(faults))
    return rule_set


def read_each(
    paths: Sequence[Path], shown: Callable[[Path], str] = str
) -> Iterable[tuple[tuple[Reading, ...], list[Fault]]]:
    """Yield what each path's lines say, and what keeps whole files from being read.

    Lines stand in the order in which they would be loaded; one at fault holds its fault.
    """
    for path in paths:
        faults: list[Fault] = []
        read_path = _read_folder if _is_folder(path) else _read_file
        yield read_path(path, shown, faults), faults


def read_lines(lines: Iterable[tuple[str, Place]]) -> RuleSet:
    """Return what lines that stand elsewhere than in a file of rules say; they may hold no rule.

    Raises `RulesError` with all faults, as `read` does.
    """
    readings = tuple(read_line(text, place) for text, place in lines)
    faults = tuple(reading.fault for reading in readings if reading.fault)
    if faults:
        raise RulesError(faults)
    return _combine(readings)


def read_bytes(data: bytes, file: str) -> tuple[Reading, ...]:
    """Return what each line of a file's content says, in order."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return tuple(_read_raw(line, Place(file, number)) for number, line in enumerate(lines, 1))


def read_line(text: str, place: Place) -> Reading:
    """Return what one line says."""
    words = split_words(text)
    reading = Reading(Kind.BLANK, place, " ".join(words))
    if not words:
        return reading
    if words[0].startswith("#") and len(text) <= LONGEST_LINE:
        return replace(reading, kind=Kind.COMMENT)
    problem = _unreadable(text, words)
    if problem:
        return _faulty(reading, *problem)
    try:
        options, rest = split_options(words)
    except GetoptError as error:
        return _faulty(reading, f"auditctl has no such option: {error.msg}", "see auditctl(8)")
    if rest:
        return _faulty(
            reading,
            f"{rest[0]!r} belongs to no option",
            "write a space within a word as `\\ `; quotes don't keep words together here",
        )
    read = _read_options(reading, options)
    if read.rule is None:
        return read
    return replace(read, rule=replace(read.rule, columns=word_columns(text)))


def join(parts: Sequence[RuleSet]) -> RuleSet:
    """Return what several sets of rules say one after the other; the last backlog limit holds."""
    limits = [part.backlog_limit for part in parts if part.backlog_limit is not None]
    return RuleSet(
        rules=tuple(rule for part in parts for rule in part.rules),
        backlog_limit=limits[-1] if limits else None,
        options=tuple(dict.fromkeys(option for part in parts for option in part.options)),
        tolerant=any(part.tolerant for part in parts),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


# Files and folders ------------------------------------------------------------------------------


def _is_folder(path: Path) -> bool:
    """Say whether there is a folder; what keeps that from being known, reading it will tell."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _read_file(
    path: Path, shown: Callable[[Path], str], faults: list[Fault]
) -> tuple[Reading, ...]:
    """Return what the lines of a file say; what keeps it from being read joins `faults`."""
    name = shown(path)
    try:
        if not path.exists():
            faults.append(Fault("there is no such file", name, remedy="check the path"))
        elif not path.is_file():
            faults.append(Fault("it is not a regular file", name, remedy="auditctl reads no other"))
        elif path.stat().st_size > LARGEST_FILE:
            faults.append(Fault("it is far too large for a file of audit rules", name))
        else:
            data = path.read_bytes()
            if b"\0" not in data:
                return read_bytes(data, name)
            # One fault for a binary file: there would be one for each of its lines.
            line = data[: data.index(b"\0")].count(b"\n") + 1
            remedy = "is this a file of audit rules?"
            faults.append(Fault("the line holds a NUL byte, as no text does", name, line, remedy))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        faults.append(Fault(f"it can't be read: {reason}", name, remedy="check its permissions"))
    return ()


def _read_folder(
    path: Path, shown: Callable[[Path], str], faults: list[Fault]
) -> tuple[Reading, ...]:
    """Return what the *.rules files of a folder say, in the order in which augenrules puts them."""
    try:
        found = [file for file in path.iterdir() if file.name.endswith(".rules")]
    except OSError as error:
        faults.append(Fault(f"it can't be read: {error.strerror}", shown(path)))
        return ()
    files = sorted(
        (f for f in found if not f.name.startswith(".")), key=lambda f: version_key(f.name)
    )
    if not files:
        faults.append(
            Fault(
                "no file in this folder ends in .rules", shown(path), remedy="name the file itself"
            )
        )
    readings: list[Reading] = []
    for file in files:
        if re.search(r"\s", file.name):
            remedy = "augenrules can't read it: rename it"
            faults.append(Fault("its name holds a space", shown(file), remedy=remedy))
        readings.extend(_strip_tabbed_comment(line) for line in _read_file(file, shown, faults))
    return as_augenrules(readings)


def _strip_tabbed_comment(reading: Reading) -> Reading:
    """Return a comment for a line that augenrules takes for one and auditctl does not."""
    if reading.fault and reading.text.lstrip("\t\v\f\r ").startswith("#"):
        if reading.text.startswith("#"):
            return reading
        return replace(reading, kind=Kind.COMMENT, fault=None)
    return reading


# Lines ------------------------------------------------------------------------------------------


def _faulty(reading: Reading, message: str, remedy: str | None) -> Reading:
    """Return the reading of a line that can't be read."""
    fault = Fault(message, reading.place.file, reading.place.line, remedy)
    return replace(reading, kind=Kind.FAULT, fault=fault)


def _read_raw(line: bytes, place: Place) -> Reading:
    """Return what a line of a file says, from its bytes."""
    reading = Reading(Kind.COMMENT, place, line.decode(errors="replace").strip(" "))
    if line.lstrip(b" ").startswith(b"#") and len(line) <= LONGEST_LINE:
        return reading
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} of the line is not UTF-8"
        return _faulty(reading, message, "is this a file of audit rules? If so, save it as UTF-8")
    return read_line(text, place)


def _unreadable(text: str, words: list[str]) -> tuple[str, str] | None:
    """Return what is wrong with a line's characters and its remedy, or None."""
    length = len(text.encode(errors="replace"))
    control = _CONTROL.search(text)
    problems = (
        (
            length > LONGEST_LINE,
            f"the line has {length} bytes, and auditctl would cut it after {LONGEST_LINE}",
            "make two lines of it",
        ),
        (
            text.endswith("\r"),
            "the line ends in a carriage return, which would be part of its last word",
            "save the file with Unix line ends",
        ),
        (
            control is not None,
            f"the line holds the control character {control[0] if control else ''!r}",
            "is this a file of audit rules?",
        ),
        (
            "\t" in text,
            "the line holds a tab, which auditctl does not take for a space",
            "write spaces between the words",
        ),
        (
            text.startswith("\ufeff"),
            "the file begins with a byte order mark",
            "save it as UTF-8 without one",
        ),
        (
            words[0].endswith("auditctl"),
            f"{words[0]!r} is no option of auditctl",
            "leave out the word auditctl",
        ),
        (
            not words[0].startswith("-") or words[0] == "-",
            f"{words[0]!r} is no option of auditctl",
            "a line begins with -a, -A, -w or another option, a comment with #",
        ),
    )
    return _first(problems)


def _first(problems: Iterable[tuple[bool, str, str]]) -> tuple[str, str] | None:
    """Return message and remedy of the first problem that there is."""
    return next(((message, remedy) for wrong, message, remedy in problems if wrong), None)


def _read_options(reading: Reading, options: list[tuple[str, str]]) -> Reading:
    """Return what a line says, from its options with their values."""
    names = [option for option, _ in options]
    if names[:1] == ["-D"]:
        return _read_delete_all(reading, options)
    problem = _misplaced(names)
    if problem:
        return _faulty(reading, *problem)
    if _ADD.intersection(names):
        return _read_rule(reading, options)
    for option, value in options:
        reading = _read_setting(reading, option, value)
        if reading.fault:
            break
    return reading


def _misplaced(names: list[str]) -> tuple[str, str] | None:
    """Return what is wrong with options standing together on a line and its remedy, or None."""
    adds = [name for name in names if name in _ADD]
    others = [name for name in names if name not in _ADD | _OF_A_RULE]
    problems = (
        (not names, "the line holds no option", "see auditctl(8)"),
        (
            not _DELETE.isdisjoint(names),
            "the line deletes a rule",
            "leave out both this line and the rule that it deletes",
        ),
        (len(adds) > 1, f"{' and '.join(adds)} stand on one line", "make two rules of it"),
        (
            bool(adds and others),
            f"{', '.join(others)} can't stand in a rule",
            "give it its own line",
        ),
        (
            not adds and not _OF_A_RULE.isdisjoint(names),
            "the line says neither to which list it belongs nor what it watches",
            "begin it with -a always,exit or -w PATH",
        ),
        (
            not adds and len(names) > 1 and not _NUMBERS.keys() >= set(names),
            "auditctl takes these options one to a line",
            "make lines of them",
        ),
    )
    return _first(problems)


def _read_delete_all(reading: Reading, options: list[tuple[str, str]]) -> Reading:
    """Return what a line with -D says."""
    if len(options) == 1:
        return replace(reading, kind=Kind.MOOT, deletes="")
    if [option for option, _ in options] == ["-D", "-k"]:
        return replace(reading, kind=Kind.MOOT, deletes=options[1][1])
    return _faulty(reading, "-D takes no option but -k", "give the other options their own line")


def _read_rule(reading: Reading, options: list[tuple[str, str]]) -> Reading:
    """Return what a line that adds a rule says."""
    directories: list[str] = []
    files: list[str] = []
    for option, value in options:
        field = _PATH_FIELD.fullmatch(value) if option == "-F" else None
        path = field[2] if field else value
        if not (field or option == "-w") or not path.startswith("/"):
            continue
        directory = field[1] == "dir" if field else path.endswith("/")
        (directories if directory else files).append(path.rstrip("/") or "/")
    keys = option_keys(options)
    rule = Rule(
        text=reading.text,
        place=reading.place,
        key=keys[0] if keys else "",
        watched_directories=tuple(directories),
        watched_files=tuple(files),
    )
    return replace(reading, kind=Kind.RULE, rule=rule)


# Settings ---------------------------------------------------------------------------------------

_NUMBERS = {
    "-b": _LARGEST_NUMBER,
    "-r": _LARGEST_NUMBER,
    "--backlog_wait_time": _LARGEST_NUMBER,
    "-e": 2,
    "-f": 2,
}
"""The settings that take a number, each with the largest it takes."""

_NOT_TAKEN = {
    "-e 0": "audit stays on while it is measured",
    "-e 2": "it would lock the rules, and costs a workload nothing",
    "-f 0": "it says what happens when records are lost, and costs a workload nothing",
    "-f 2": "it would stop the machine when records are lost, and costs a workload nothing",
    "-s": "it asks for a report",
    "-l": "it asks for a report",
    "-v": "it asks for a report",
    "-h": "it asks for a report",
    "-t": "there is nothing to trim in a fresh machine",
    "-m": "it sends a message, and sets nothing",
    "-q": "it speaks of mounts that a fresh machine has not",
    "--signal": "it sends a signal, and sets nothing",
}
_GO_ON = frozenset({"-i", "-c"})
_MOOT = frozenset({"-e 1", "-f 1", "--reset-lost", "--reset_backlog_wait_time_actual"})


def _read_setting(reading: Reading, option: str, value: str) -> Reading:
    """Return the reading with one setting of its line added."""
    if option == "-R":
        return _faulty(reading, "a file of rules can't read another", "name both files")
    if option in _NUMBERS:
        number = _number(value)
        if number is None or number > _NUMBERS[option]:
            message = f"{option} takes a number from 0 to {_NUMBERS[option]}, not {value!r}"
            return _faulty(reading, message, None)
        value = str(number)
    setting = f"{option} {value}".rstrip()
    if setting in _MOOT:
        return reading if reading.kind is not Kind.BLANK else replace(reading, kind=Kind.MOOT)
    reason = _NOT_TAKEN.get(setting) or _NOT_TAKEN.get(option)
    if reason is not None:
        note = f"{reading.place}: `{setting}` is not taken over: {reason}"
        kind = reading.kind if reading.kind is Kind.SETTING else Kind.LEFT_OUT
        return replace(reading, kind=kind, notes=(*reading.notes, note))
    return replace(
        reading,
        kind=Kind.SETTING,
        backlog_limit=int(value) if option == "-b" else reading.backlog_limit,
        tolerant=reading.tolerant or option in _GO_ON,
        options=reading.options if option in {"-b", *_GO_ON} else (*reading.options, setting),
    )


def _number(text: str) -> int | None:
    """Return the number that C's strtoul reads: hexadecimal after 0x, octal after 0."""
    if not _NUMBER.fullmatch(text):
        return None
    return int(text, 8 if re.fullmatch(r"0[0-7]+", text) else 0)


def _combine(readings: Sequence[Reading]) -> RuleSet:
    """Return what lines say together, in their order; lines at fault say nothing."""
    rules: list[Rule] = []
    notes: list[str] = []
    for reading in readings:
        notes.extend(reading.notes)
        if reading.deletes is not None:
            gone = [rule for rule in rules if reading.deletes in ("", *rule_keys(rule))]
            rules = [rule for rule in rules if rule not in gone]
            notes.extend(f"{rule.place}: deleted again by {reading.place}" for rule in gone)
        if reading.rule is not None:
            rules.append(reading.rule)
    if readings and all(reading.kind in {Kind.BLANK, Kind.COMMENT} for reading in readings):
        notes.append(f"{readings[0].place.file}: it holds no rule, only comments")
    limits = [reading.backlog_limit for reading in readings if reading.backlog_limit is not None]
    return RuleSet(
        rules=tuple(rules),
        backlog_limit=limits[-1] if limits else None,
        options=tuple(option for reading in readings for option in reading.options),
        tolerant=any(reading.tolerant for reading in readings),
        notes=tuple(notes),
    )
