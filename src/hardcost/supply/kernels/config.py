"""Kernel configurations as text and as values, and the bases that come with hardcost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path

from auditrules.library import files
from auditrules.model.location import Location
from hardcost import decompress
from hardcost.errors import InputError, Problem

NOT_SET = "n"
_SET = re.compile(r"CONFIG_([A-Za-z0-9_]+)=(.*)")
_NOT_SET = re.compile(r"# CONFIG_([A-Za-z0-9_]+) is not set")
_VALUE = re.compile(r'[ymn]?|-?[0-9]+|0[xX][0-9A-Fa-f]+|"(?:[^"\\$`]|\\[^$`])*"')
_ESCAPED = re.compile(r"\\(.)")
_SHOWN = 60  # characters of an invalid line that a message repeats
_MOST_PROBLEMS = 20  # a file that is not a configuration has one in every line
_HINT = (
    "a configuration has lines such as CONFIG_X=y and # CONFIG_X is not set; take the kernel's"
    " /boot/config-*, or /proc/config.gz"
)
_FIT = re.compile(r"[\w .,:/@%+=()-]*", re.ASCII)
_OF_KCONFIG = ("CC_VERSION_TEXT",)  # which Kconfig always computes itself
_SUFFIX = ".config"
_LARGEST = 4 << 20  # bytes; a distribution's configuration has about 300 kB
_BARE = re.compile(r"[ymn]|-?\d+|0x[0-9a-fA-F]+")


def bases() -> tuple[str, ...]:
    """Return the names of the base configurations that come with hardcost."""
    found = resources.files("hardcost.supply.kernels").iterdir()
    return tuple(
        sorted(file.name.removesuffix(_SUFFIX) for file in found if file.name.endswith(_SUFFIX))
    )


def base_text(base: str) -> str:
    """Return the text of a base configuration: a name, or the path of a file.

    Raises:
        InputError: There is none of that name, or the file is not a kernel configuration.
    """
    if base in bases():
        own = resources.files("hardcost.supply.kernels") / f"{base}{_SUFFIX}"
        return own.read_text(encoding="utf-8")
    return file_text(Path(base))


def file_text(path: Path) -> str:
    """Return the text of a kernel configuration of the user's, gzipped or not.

    Raises:
        InputError: It can't be read, or is not one.
    """
    hint = f"name a file such as /boot/config-*, or one of: {', '.join(bases())}"
    content = files.content(path, "the kernel configuration", _LARGEST, hint)
    try:
        text = decompress.unpack_whole(content, _LARGEST).decode("utf-8")
    except (decompress.DamagedError, UnicodeError) as error:
        raise InputError(f"the kernel configuration {path} can't be read: {error}") from None
    read(text, str(path))
    return text


def check_fit(options: Mapping[str, str]) -> None:
    """Check that the shells of a build would not interpret any option's value.

    make gets strings without their quotes, and puts some of them into commands unchanged.

    Raises:
        InputError: One would; all of them are reported.
    """
    problems = tuple(
        Problem(
            f"{name} can't be set to {value!r}: a kernel build passes it to a shell",
            hint="only letters, digits, spaces and _.,:/@%+=()- are allowed",
        )
        for name, value in options.items()
        if not _FIT.fullmatch(value) and name not in _OF_KCONFIG
    )
    if problems:
        raise InputError.of(problems)


def read(text: str, name: str) -> dict[str, str]:
    """Return the options of a kernel's `.config` by name, without `CONFIG_`, and their values.

    Strings lose their quotes; an option that is "not set" is `n`. Of two lines on an option the
    last wins, as in the kernel's own tools. `name` is the file as the user called it.

    Raises:
        InputError: A line is neither an option nor a comment, or there is no option at all.
    """
    found: dict[str, str] = {}
    problems: list[Problem] = []
    # Not splitlines, which also splits at characters that never end a configuration's line.
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip(" \t\r")
        option = _option(stripped)
        if option is not None:
            found[option[0]] = option[1]
        elif stripped and not stripped.startswith("#") and len(problems) < _MOST_PROBLEMS:
            message = f"this is no line of a kernel's configuration: {stripped[:_SHOWN]!r}"
            problems.append(Problem(message, Location(name, number), _HINT))
    if problems:
        raise InputError.of(tuple(problems))
    if not found:
        raise InputError("no option of a kernel is set here", place=Location(name), hint=_HINT)
    return found


def _option(line: str) -> tuple[str, str] | None:
    """Return the option and value of a line, or None if it sets none."""
    unset = _NOT_SET.fullmatch(line)
    if unset is not None:
        return unset[1], NOT_SET
    pair = _SET.fullmatch(line)
    if pair is None or not _VALUE.fullmatch(pair[2]) or not line.isprintable():
        return None
    value = pair[2]
    return pair[1], _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value


def lines(options: Iterable[tuple[str, str]]) -> str:
    """Return options as lines of a configuration."""
    return "".join(f"{_line(name, value)}\n" for name, value in options)


def value(config: Mapping[str, str], name: str) -> str:
    """Return an option's value in a configuration; a missing one is not set."""
    return config.get(name, NOT_SET)


def _line(name: str, value: str) -> str:
    if value == NOT_SET:
        return f"# CONFIG_{name} is not set"
    return f"CONFIG_{name}={value if _BARE.fullmatch(value) else _quote(value)}"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
