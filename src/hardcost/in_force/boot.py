"""Boot parameters: those of the command line that harden, and what every kernel has by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_GRUB_LINE = re.compile(r"GRUB_CMDLINE_LINUX(?:_DEFAULT)?=(.*)")


def read(files: MachineFiles) -> Survey:
    """Return the boot parameters in force, each with the line that has it."""
    places = dict(_written(files))
    words = command_line(files)
    found = [
        InForce(one.noun, one.name, one, places.get(one.setting))
        for one in map(BootParameter, words)
        if one.setting in _known()
    ]
    named = {_parameter(one) for one in words}
    for setting, one in _known().items():
        if default_of(one, ()) == "kernel" and _parameter(setting) not in named:
            found.append(InForce(one.noun, one.name, one, by_default=True))
    return Survey(tuple(found))


def command_line(files: MachineFiles) -> tuple[str, ...]:
    """Return the words of the kernel's command line: of the one that runs, else of files."""
    if files.live:
        return tuple(_WORDS.findall(files.text(_COMMAND_LINE) or ""))
    return tuple(dict.fromkeys(word for word, _ in _words_of_files(files)))


def is_overruled(equivalent: BootParameter, words: tuple[str, ...]) -> bool:
    """Say whether the command line sets a parameter to something else."""
    settings = {BootParameter(one).setting for one in words}
    named = {_parameter(one) for one in words}
    return _parameter(equivalent.text) in named and equivalent.setting not in settings


def _known() -> dict[str, BootParameter]:
    """Return the boot parameters of the price list by what they set."""
    known = (one.control for one in listed() if isinstance(one.control, BootParameter))
    return {one.setting: one for one in known}


def _parameter(word: str) -> str:
    return BootParameter(word).setting.partition("=")[0]


def _written(files: MachineFiles) -> Iterator[tuple[str, Location]]:
    """Yield what each word of a file sets, with its line."""
    for word, place in _words_of_files(files):
        yield BootParameter(word).setting, place


def _words_of_files(files: MachineFiles) -> Iterator[tuple[str, Location]]:
    """Yield the words of command lines that the boot loader's files have, each with its line."""
    parts = [f"{_GRUB_PARTS}/{one}" for one in files.names(_GRUB_PARTS) if one.endswith(".cfg")]
    for path in (_GRUB, *parts):
        for line, place in lines_of(files, path):
            found = _GRUB_LINE.match(line)
            if found is not None:
                yield from ((word, place) for word in _WORDS.findall(_unquoted(found[1])))
    for line, place in lines_of(files, _PLAIN):
        yield from ((word, place) for word in _WORDS.findall(line))
    for name in files.names(_ENTRIES):
        for line, place in lines_of(files, f"{_ENTRIES}/{name}"):
            if line.startswith("options "):
                yield from ((word, place) for word in _WORDS.findall(line[len("options ") :]))


def _unquoted(text: str) -> str:
    """Return the words of a shell's assignment; what a shell would expand stays as it is."""
    text = text.strip()
    whole = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if whole else text
