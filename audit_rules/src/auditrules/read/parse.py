"""Reading audit rules: files as `auditctl -R` reads them, folders as augenrules puts them together.

Each line becomes a `Reading` with its place, including control lines and comments; a `RuleSet` is
their result when loaded in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from auditrules.auditctl.translate import Target, translate
from auditrules.files import bounded
from auditrules.load import load
from auditrules.model.fault import Fault, RulesError
from auditrules.model.location import Location
from auditrules.model.rule import Reading, RuleKind, RuleSet
from auditrules.read import ignore_comments, line
from auditrules.read.folder import as_augenrules, version_key

LARGEST_FILE = 1 << 24
"""The largest file, in bytes, that is accepted as a file of rules; also of a folder's together."""

MOST_LINES = 250_000
"""The most lines of a file, or of a folder's files together: each takes memory and time."""

MOST_NULS = 100
"""The most NUL bytes in a damaged file of rules; auditctl cuts lines at them."""


def read(
    paths: Sequence[Path], shown: Callable[[Path], str] = str, *, may_be_empty: bool = False
) -> RuleSet:
    """Return the rules of files and folders together, in the order given.

    A folder holds *.rules files and is read as augenrules does. `shown` gives the file
    name used in places. All faults are raised at once, as a `RulesError`; so is a set without
    rules, unless it may be empty.
    """
    if not paths:
        remedy = "name a file or a folder"
        raise RulesError((Fault("no file of audit rules is given", Location(""), remedy),))
    named = ", ".join(shown(path) for path in paths)
    return _rule_set(read_each(paths, shown), named, may_be_empty=may_be_empty)


def read_text(data: bytes, name: str) -> RuleSet:
    """Return the rules of a text that is no file; faults are raised as `read` does."""
    return _rule_set([(read_bytes(data, name), [])], name)


def _rule_set(
    each: Iterable[tuple[tuple[Reading, ...], list[Fault]]],
    named: str,
    *,
    may_be_empty: bool = False,
) -> RuleSet:
    faults: list[Fault] = []
    parts: list[RuleSet] = []
    for readings, of_files in each:
        part, of_lines = load.combine(readings)
        faults.extend((*of_files, *of_lines, *_not_text(part)))
        parts.append(part)
    rule_set = join(parts)
    if not rule_set.rules and not faults and not may_be_empty:
        remedy = "a rule is a line that begins with -a, -A or -w"
        faults.append(Fault("there is no audit rule in it", Location(named), remedy))
    if faults:
        raise RulesError(tuple(faults))
    return rule_set


def _not_text(part: RuleSet) -> Iterable[Fault]:
    """Yield a fault for each rule that is no UTF-8: rules are handed on as text."""
    for rule in part.rules:
        try:
            rule.text.encode()
        except UnicodeEncodeError as error:
            yield Fault(
                f"character {error.start + 1} of the rule is not UTF-8",
                rule.place or Location(""),
                "auditctl accepts it, but hardcost passes rules to a guest in UTF-8",
            )


def read_each(
    paths: Sequence[Path], shown: Callable[[Path], str] = str
) -> Iterable[tuple[tuple[Reading, ...], list[Fault]]]:
    """Yield the readings of each path, and the faults that keep whole files from being read.

    Lines are in loading order; a faulty one has its fault.
    """
    for path in paths:
        faults: list[Fault] = []
        read_path = _read_folder if _is_folder(path) else _read_file
        yield read_path(path, shown, faults), faults


def read_lines(lines: Iterable[tuple[str, Location]]) -> RuleSet:
    """Return the rule set of lines that are not in a file of rules; it may be empty.

    Raises `RulesError` with all faults, as `read` does.
    """
    readings = tuple(read_line(text, place) for text, place in lines)
    rule_set, faults = load.combine(readings)
    if faults:
        raise RulesError(faults)
    return rule_set


def read_bytes(data: bytes, file: str) -> tuple[Reading, ...]:
    """Return the readings of a file's lines, in order."""
    lines = data.split(b"\n")
    if not lines[-1]:  # a line feed ends a line, and begins none
        lines.pop()
    return tuple(
        ignore_comments.attach_codes(
            line.read_raw(raw, Location(file, number)) for number, raw in enumerate(lines, 1)
        )
    )


def excess(size: int, lines: int) -> str | None:
    """Return why so many bytes, or lines, are too much for a file or a folder of rules."""
    if size > LARGEST_FILE:
        return f"larger than {bounded.size(LARGEST_FILE)}"
    return f"longer than {MOST_LINES:,} lines" if lines > MOST_LINES else None


def read_line(text: str, place: Location) -> Reading:
    """Return the reading of one line, with its fault if it has one."""
    return line.read_text(text, place)


def fails_by_its_end(reading: Reading, target: Target) -> bool:
    """Say whether a line at fault would load without the carriage return at its end."""
    if not reading.text.endswith("\r"):
        return False
    again = line.read_text(reading.text.rstrip("\r"), reading.place)
    written = again.rule or again.deletion
    if written is None:
        return again.fault is None
    try:
        translate(written, target)
    except RulesError:
        return False
    return True


def join(parts: Sequence[RuleSet]) -> RuleSet:
    """Return several sets of rules as one; the last backlog limit holds."""
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
    """Say whether there is a folder; reading it reports any error."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _read_file(
    path: Path, shown: Callable[[Path], str], faults: list[Fault]
) -> tuple[Reading, ...]:
    """Return the readings of a file's lines; faults that prevent reading join `faults`."""
    return read_bytes(_content(path, shown(path), faults), shown(path))


def _content(path: Path, name: str, faults: list[Fault]) -> bytes:
    """Return a file's content; a fault that prevents reading joins `faults`."""
    try:
        data = bounded.content(path, LARGEST_FILE)
    except bounded.UnreadableError as error:
        remedy = "name a file of audit rules or a folder"
        faults.append(Fault(str(error), Location(name), remedy))
        return b""
    remedy = "name a file of audit rules"
    too_much = excess(len(data), data.count(b"\n"))
    if too_much:
        faults.append(Fault(f"it is {too_much}", Location(name), remedy))
        return b""
    if not _is_binary(data):
        return data
    faults.append(Fault("it contains many NUL bytes, so it is not text", Location(name), remedy))
    return b""


def _is_binary(data: bytes) -> bool:
    """Say whether a file is not text; one with one or two damaged places still is."""
    nuls = data.count(b"\0")
    return nuls > MOST_NULS or (nuls > 2 and nuls * 10 > data.count(b"\n"))  # noqa: PLR2004


def _read_folder(
    path: Path, shown: Callable[[Path], str], faults: list[Fault]
) -> tuple[Reading, ...]:
    """Return the readings of a folder's *.rules files, in the order of augenrules."""
    try:
        found = [file for file in path.iterdir() if file.name.endswith(".rules")]
    except OSError as error:
        faults.append(Fault(f"it can't be read: {error.strerror}", Location(shown(path))))
        return ()
    files = sorted(
        (f for f in found if not f.name.startswith(".")), key=lambda f: version_key(f.name)
    )
    if not files:
        faults.append(
            Fault(
                "no file in this folder ends in .rules",
                Location(shown(path)),
                "name the file itself",
            )
        )
    readings: list[Reading] = []
    contents: list[tuple[str, bytes]] = []
    size = lines = 0
    for file in files:
        if re.search(r"\s", file.name):
            remedy = "augenrules can't read it: rename it"
            faults.append(Fault("its name contains a space", Location(shown(file)), remedy))
        data = _content(file, shown(file), faults)
        size, lines = size + len(data), lines + data.count(b"\n")
        too_much = excess(size, lines)
        if too_much:
            remedy = "name a folder of audit rules"
            message = f"its files are {too_much} together"
            faults.append(Fault(message, Location(shown(path)), remedy))
            return ()
        contents.append((shown(file), data))
        readings.extend(map(_strip_tabbed_comment, read_bytes(data, shown(file))))
    faults.extend(_glued_lines([(name, data) for name, data in contents if data]))
    return as_augenrules(readings)


def _glued_lines(contents: Sequence[tuple[str, bytes]]) -> Iterable[Fault]:
    """Yield a fault for each file whose last line augenrules joins to the first of the next."""
    for (name, data), (follower, more) in pairwise(contents):
        if not data.endswith(b"\n") and not more.startswith(b"\n"):
            yield Fault(
                f"the last line has no newline, so augenrules joins the first of {follower} to it",
                Location(name, data.count(b"\n") + 1),
                "end the file with a newline",
            )


def _strip_tabbed_comment(reading: Reading) -> Reading:
    """Return a comment for a line that only augenrules treats as one."""
    if reading.fault and reading.text.lstrip("\t\v\f\r ").startswith("#"):
        if reading.text.startswith("#"):
            return reading
        return replace(reading, kind=RuleKind.COMMENT, fault=None)
    return reading
