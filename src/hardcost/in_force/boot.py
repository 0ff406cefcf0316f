"""Boot parameters: those of the command line that harden, and what every kernel has by itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache

from auditrules.model.location import Location
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey, lines_of
from hardcost.mechanisms.boot import BootParameter
from hardcost.prices.listed import listed
from hardcost.profiles.kernel.defaults import default_of

_COMMAND_LINE = "/proc/cmdline"
_GRUB = "/etc/default/grub"
_GRUB_PARTS = "/etc/default/grub.d"
_ENTRIES = "/boot/loader/entries"
_PLAIN = "/etc/kernel/cmdline"
_WORDS = re.compile(r'(?:[^\s"]|"[^"]*")+')
_GRUB_NAMES = ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT")
_GRUB_LINE = re.compile(r"(?:export\s+)?(GRUB_CMDLINE_LINUX(?:_DEFAULT)?)(\+?)=(.*)")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_OPTIONS = re.compile(r"options\s+(.*)")


def read(files: MachineFiles) -> Survey:
    """Return the boot parameters in force, each with the line that has it.

    Of a parameter that is there twice, the kernel takes the last.
    """
    words, notes = _words(files)
    last = {_parameter(word): (word, place) for word, place in words}
    found = [
        InForce(known.noun, known.name, known, place)
        for word, place in last.values()
        if (known := _known().get(BootParameter(word).setting)) is not None
    ]
    if files.live:
        found += [
            InForce(one.noun, one.name, one, by_default=True)
            for setting, one in _known().items()
            if default_of(one, ()) == "kernel" and _parameter(setting) not in last
        ]
    return Survey(tuple(found), notes=tuple(notes))


def command_line(files: MachineFiles) -> tuple[str, ...]:
    """Return the words of the kernel's command line: of the one that runs, else of files."""
    return tuple(word for word, _ in _words(files)[0])


def _words(files: MachineFiles) -> tuple[list[tuple[str, Location | None]], list[str]]:
    """Return the words of the command line with the lines that have them, and notes."""
    notes: list[str] = []
    written = [*_of_grub(files, notes), *_of_entries(files)]
    if not files.live:
        return [*written], notes
    places = dict(written)
    running = _WORDS.findall(files.text(_COMMAND_LINE) or "")
    return [(word, places.get(word)) for word in running], notes


def is_overruled(equivalent: BootParameter, words: tuple[str, ...]) -> bool:
    """Say whether the command line sets a parameter to something else."""
    settings = {BootParameter(one).setting for one in words}
    named = {_parameter(one) for one in words}
    return _parameter(equivalent.text) in named and equivalent.setting not in settings


@cache
def _known() -> dict[str, BootParameter]:
    """Return the boot parameters of the price list by what they set."""
    known = (one.control for one in listed() if isinstance(one.control, BootParameter))
    return {one.setting: one for one in known}


def _parameter(word: str) -> str:
    return BootParameter(word).setting.partition("=")[0]


_Words = list[tuple[str, Location]]


def _of_grub(files: MachineFiles, notes: list[str]) -> _Words:
    """Return the words that GRUB's files assign, which are read as a shell does."""
    names = [one for one in files.names(_GRUB_PARTS) if one.endswith(".cfg")]
    values: dict[str, _Words] = {}
    for path in (_GRUB, *(f"{_GRUB_PARTS}/{name}" for name in names)):
        for line, place in _joined(files, path):
            found = _GRUB_LINE.match(line)
            if found is None:
                continue
            try:
                words = _assigned(found[3], place, values)
            except ValueError as error:
                notes.append(f"{place}: left out: a shell can't read this line: {error}")
                continue
            values[found[1]] = [*(values.get(found[1], []) if found[2] else []), *words]
    return [word for name in _GRUB_NAMES for word in values.get(name, [])]


def _joined(files: MachineFiles, path: str) -> Iterator[tuple[str, Location]]:
    """Yield a file's lines, those joined that end in a backslash."""
    begun, at = "", None
    for line, place in lines_of(files, path):
        at = at or place
        if line.endswith("\\"):
            begun += line[:-1]
            continue
        yield begun + line, at
        begun, at = "", None
    if at is not None:
        yield begun, at


def _assigned(text: str, place: Location, values: Mapping[str, _Words]) -> _Words:
    """Return the words of an assignment's value, in which other variables may stand.

    Raises:
        ValueError: A quote is not closed.
    """
    reader = shlex.shlex(text, posix=True, punctuation_chars=";&|")
    reader.whitespace_split = True
    value = next(iter(reader), "")
    found: _Words = []
    for word in _WORDS.findall(value):
        variable = _VARIABLE.fullmatch(word)
        found += [(word, place)] if variable is None else values.get(variable[1], [])
    return found


def _of_entries(files: MachineFiles) -> _Words:
    """Return the words of the loader's entries, and of the file that kernels take them from."""
    found = [(line, place) for line, place in lines_of(files, _PLAIN)]
    for name in files.names(_ENTRIES):
        if name.endswith(".conf"):
            lines = (
                (_OPTIONS.match(line), place)
                for line, place in lines_of(files, f"{_ENTRIES}/{name}")
            )
            found += [(line[1], place) for line, place in lines if line is not None]
    return [(word, place) for line, place in found for word in _WORDS.findall(line)]
