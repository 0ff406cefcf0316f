"""Files of sysctls, such as those in /etc/sysctl.d, read as systemd-sysctl reads them.

The grammar is that of sysctl.d(5): `KEY = VALUE` on a line, comments after `#` or `;`, a `-` before
a key whose failure is ignored, dots or slashes between a key's parts. In a folder, the files
`*.conf` are read in the order of their names; if a key is set twice, the last line wins. A pattern
(`net.ipv4.conf.*.rp_filter`) sets the guest's own keys that it names, less those that another line
names, with a value or, after a `-`, without. What has no effect in a guest is left out with a note,
as most of a saved `sysctl -a` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auditrules.model.location import Location
from hardcost.controls.control import Profile
from hardcost.errors import InputError, Problem
from hardcost.mechanisms.sysctl import (
    Sysctl,
    expand_pattern,
    has_pattern,
    template_of,
    with_slashes,
)
from hardcost.profiles import toml_text
from hardcost.profiles.importers.sysctl_keys import without_effect

LARGEST_FILE = 1 << 20
"""Most bytes of a file of sysctls."""

_COMMENT = ("#", ";")
_SKIPS = "--leave-out-faulty skips such lines"
_ASSIGNMENT = re.compile(r"-?[\w@:+-]+[./][^=\s]*\s*=", re.ASCII)
_MASKED = Path("/dev/null")
"""The target of a link in a folder that masks a file of the same name elsewhere."""


@dataclass(frozen=True)
class EffectiveSysctls:
    """The effective settings of files of sysctls, in order, and notes on overridden ones."""

    sysctls: tuple[Sysctl, ...]
    notes: tuple[str, ...] = ()

    def toml(self, title: str, source: str) -> str:
        """Return the settings as the TOML file of a profile, which `catalogue.load` reads."""
        notes = tuple(map(_printable, self.notes))
        return toml_text.text(Profile(title, title, source, self.sysctls, notes))


@dataclass(frozen=True)
class _Line:
    """One assignment; `may_fail` if a `-` precedes its key.

    One that `excludes` has no value: it only keeps its key from patterns.
    """

    sysctl: Sysctl
    place: Location
    may_fail: bool
    excludes: bool = False


def is_folder_of_sysctls(path: Path) -> bool:
    """Say whether a folder holds files of sysctls, which end in .conf.

    Raises:
        InputError: It holds files of audit rules too, so the meaning is ambiguous.
        OSError: The folder can't be read.
    """
    names = [one.name for one in path.iterdir() if not one.name.startswith(".")]
    sysctls = [name for name in names if name.endswith(".conf")]
    rules = [name for name in names if name.endswith(".rules")]
    if sysctls and rules:
        raise InputError(
            f"'{path}' holds sysctls ({min(sysctls)}) and audit rules ({min(rules)})",
            hint="name the files to use, or write a profile in TOML",
        )
    return bool(sysctls)


def is_file_of_sysctls(path: Path) -> bool:
    """Say whether a file holds sysctls: by its first meaningful line, else by its name.

    Raises:
        OSError: The file can't be read.
    """
    with path.open("rb") as file:
        text = file.read(LARGEST_FILE).decode(errors="replace")
    return is_text_of_sysctls(text, path.suffix)


def is_text_of_sysctls(text: str, suffix: str = "") -> bool:
    """Say whether a file with this content and suffix holds sysctls."""
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith(_COMMENT):
            if suffix == ".conf":
                return re.match(r"-[a-zA-Z](\s|$)|--", line) is None  # else an option of auditctl
            return suffix != ".rules" and _ASSIGNMENT.match(line) is not None
    return suffix == ".conf"


def read_sysctls(paths: Sequence[Path], *, leave_out_faulty: bool = False) -> EffectiveSysctls:
    """Return the settings of files, and of folders of files, in order.

    With `leave_out_faulty`, lines at fault are left out with a note.

    Raises:
        InputError: A file can't be read, a line is not an assignment, or there is none at all; all
            mistakes are reported at once.
    """
    problems: list[Problem] = []
    faults: list[Problem] = []
    written = [
        line
        for path in paths
        for file in _files(path, problems)
        for line in _lines(file, problems, faults)
    ]
    named = ", ".join(str(path) for path in paths)
    return _settings(written, named, problems, faults, leave_out_faulty=leave_out_faulty)


def read_sysctls_text(text: str, name: str) -> EffectiveSysctls:
    """Return the settings of a text without a file.

    Raises:
        InputError: As `read_sysctls` does.
    """
    problems: list[Problem] = []
    faults: list[Problem] = []
    written = list(_of_text(text, name, problems, faults))
    return _settings(written, name, problems, faults)


def set_by_texts(texts: Iterable[tuple[str, str]]) -> EffectiveSysctls:
    """Return what texts of files set, each with its name, in order; faulty lines are in the notes.

    A pattern sets a guest's keys, less those that a line of any of the files names.
    """
    faults: list[Problem] = []
    written = [line for text, name in texts for line in _of_text(text, name, faults, faults)]
    last = {line.sysctl.path: line.sysctl for line in _settable(_expand_patterns(written, []), [])}
    notes = (f"{one.place}: left out: {one.message}" for one in faults)
    return EffectiveSysctls(tuple(last.values()), tuple(notes))


def _settings(
    written: Sequence[_Line],
    named: str,
    problems: list[Problem],
    faults: Sequence[Problem],
    *,
    leave_out_faulty: bool = False,
) -> EffectiveSysctls:
    """Return the settings of lines, with notes on those without effect."""
    said: list[str] = []
    if not leave_out_faulty:
        problems += faults
    said += (f"{one.place}: left out: {one.message}" for one in faults)
    lines = list(_settable(_expand_patterns(written, said), said))
    if not lines and not problems:
        problems.append(
            Problem("no sysctl is set in it", Location(named), "a line is KEY = VALUE, without a #")
        )
    if problems:
        raise InputError.of(tuple(problems))
    last = {line.sysctl.path: line for line in lines}
    notes = [
        f"{one.place}: {one.sysctl.name} is overridden: {held.place} sets {held.sysctl.value}"
        for one in lines
        if (held := last[one.sysctl.path]) is not one and held.sysctl.value != one.sysctl.value
    ]
    kept = [line for line in lines if last[line.sysctl.path] is line]
    notes += [
        f"{one.place}: if a kernel refuses -{one.sysctl.key}, systemd-sysctl continues; here the"
        " trial fails"
        for one in kept
        if one.may_fail
    ]
    return EffectiveSysctls(tuple(one.sysctl for one in kept), (*said, *notes))


def _expand_patterns(lines: Sequence[_Line], notes: list[str]) -> Iterable[_Line]:
    """Yield assignments, those of patterns for each key of a guest that no other line names."""
    named = {with_slashes(line.sysctl.key) for line in lines}
    for line in lines:
        key = line.sysctl.key
        if not has_pattern(key):
            if not line.excludes:
                yield line
            continue
        keys = expand_pattern(key)
        if keys is None:
            notes.append(f"{line.place}: left out: which keys {key} names in a guest is not known")
            continue
        own = [one for one in keys if with_slashes(one) not in named]
        notes.append(f"{line.place}: in a guest, {key} names {', '.join(own) or 'nothing'}")
        for one in own:
            yield replace(line, sysctl=replace(line.sysctl, key=one))


def _settable(lines: Iterable[_Line], notes: list[str]) -> Iterable[_Line]:
    """Yield assignments that may have an effect in a guest."""
    for line in lines:
        why = without_effect(line.sysctl.key, line.sysctl.value)
        if why is None:
            yield line
        else:
            notes.append(f"{line.place}: {line.sysctl.key} is left out: {why}")


def _files(path: Path, problems: list[Problem]) -> Iterable[Path]:
    """Return the files at a path; those of a folder are sorted by name."""
    try:
        if not path.is_dir():
            return [path]
        found = [one for one in path.iterdir() if one.name.endswith(".conf")]
    except (OSError, ValueError) as error:
        problems.append(_unreadable(path, error))
        return []
    seen = (one for one in found if not one.name.startswith("."))
    return sorted((one for one in seen if one.resolve() != _MASKED), key=lambda one: one.name)


def _lines(path: Path, problems: list[Problem], faults: list[Problem]) -> Iterable[_Line]:
    """Yield the assignments of a file; what can't be read joins `problems`, a line `faults`."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)  # one byte more shows that it is too large
        if len(content) > LARGEST_FILE:
            problems.append(
                Problem("it is far too large for a file of sysctls", Location(str(path)))
            )
            return
        text = content.decode()
    except UnicodeDecodeError as error:
        at = content.count(b"\n", 0, error.start) + 1
        problems.append(Problem("this is not UTF-8", Location(str(path), at)))
        return
    except (OSError, ValueError) as error:
        problems.append(_unreadable(path, error))
        return
    yield from _of_text(text, str(path), problems, faults)


def _of_text(
    text: str, name: str, problems: list[Problem], faults: list[Problem]
) -> Iterable[_Line]:
    """Yield the assignments of a text; a template joins `problems`, a faulty line `faults`."""
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if not line or line.startswith(_COMMENT):
            continue
        place = Location(name, number)
        template = template_of(line)
        if template is not None:
            article = "an" if template == "ERB" else "a"
            said = f"this is {article} {template} template, not a file of sysctls"
            problems.append(Problem(said, place, "render it first"))
            return
        try:
            yield _line(line, place)
        except InputError as error:
            faults.extend(replace(one, hint=_hint(one.hint)) for one in error.problems)


def _hint(hint: str | None) -> str:
    return f"{hint}; {_SKIPS}" if hint else _SKIPS


def _line(text: str, place: Location) -> _Line:
    """Return a line that is no comment."""
    bare, may_fail = text.removeprefix("-"), text.startswith("-")
    key, sign, value = (part.strip() for part in bare.partition("="))
    if may_fail and not sign:
        return _Line(Sysctl(key, "", place=place), place, may_fail, excludes=True)
    if has_pattern(key) or (sign and not value):
        return _Line(Sysctl(key, value, place=place), place, may_fail)
    return _Line(Sysctl.of(bare, place), place, may_fail)


def _unreadable(path: Path, error: OSError | ValueError) -> Problem:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return Problem(f"it can't be read: {reason}", Location(str(path)))


def _printable(text: str) -> str:
    """Return text without anything that could act on a terminal."""
    return text if text.isprintable() else ascii(text)
