"""Numbers and names of system calls, errors and records, as the target's programs know them.

The tables are data with their source in their first lines, beside this file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal

Arch = Literal["b64", "b32"]
"""An ABI of x86_64: its own, or that of i386."""

ARCHES: tuple[Arch, ...] = ("b64", "b32")
ARCH_NUMBERS: Mapping[Arch, int] = MappingProxyType({"b64": 0xC000003E, "b32": 0x40000003})
"""AUDIT_ARCH_X86_64 and AUDIT_ARCH_I386 (linux/audit.h)."""

_MACHINES: Mapping[Arch, str] = MappingProxyType({"b64": "x86_64", "b32": "i386"})

Class = Literal["read", "write", "dir_write", "attributes", "signal"]

FILE_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "socket": 0o140000,
        "link": 0o120000,
        "file": 0o100000,
        "block": 0o060000,
        "dir": 0o040000,
        "character": 0o020000,
        "fifo": 0o010000,
    }
)
"""Values of `filetype` (sys/stat.h)."""

FILE_SYSTEMS: Mapping[str, int] = MappingProxyType({"tracefs": 0x74726163, "debugfs": 0x64626720})
"""Values of `fstype` that auditctl knows by name (audit 3.0.9, lib/fstypetab.h)."""


@cache
def calls(arch: Arch) -> Mapping[str, int]:
    """Return the numbers of all system calls by name."""
    return _table(f"syscalls-{_MACHINES[arch]}.tsv")


@cache
def newer_calls() -> Mapping[str, int]:
    """Return the numbers, the same in both ABIs, of calls that auditctl 3.0.9 knows no name of."""
    return _table("syscalls-newer.tsv")


@cache
def call_names(arch: Arch) -> Mapping[int, str]:
    """Return the names of all system calls by number."""
    return MappingProxyType({number: name for name, number in calls(arch).items()})


def call_name(arch: Arch, number: int) -> str:
    """Return a call's name, or its number as text where it has none."""
    return call_names(arch).get(number, str(number))


@cache
def errors() -> Mapping[str, int]:
    """Return the error numbers by name, such as 13 for EACCES."""
    return _table("errors.tsv")


@cache
def records() -> Mapping[str, int]:
    """Return the types of records by name, such as 1300 for SYSCALL."""
    return _table("records.tsv")


Release = Literal["6.1", "6.12", "7.2", "7.3"]
"""A release of Linux of which it is known which calls it counts to the classes."""

RELEASES: tuple[Release, ...] = ("6.1", "6.12", "7.2", "7.3")
"""All of them, each of which counts to a class what those before it do, and more."""

OLDEST: Release = RELEASES[0]
"""The release that everything else is about: rules, records and costs."""

NEWEST: Release = RELEASES[-1]


RAISED_WITHOUT_RULES: frozenset[Release] = frozenset({"7.2", "7.3"})
"""The releases that record a call if they deny it a path, also where no rule is loaded.

Between 6.12 and 7.2 `audit_log_path_denied` stopped asking whether there are rules. It reports a
symbolic link not followed, a hard link refused, a file in a sticky directory
(`fs.protected_symlinks` and its like).
"""


@cache
def class_calls(arch: Arch, name: Class, release: Release = OLDEST) -> frozenset[int]:
    """Return the numbers of the calls that a release of the kernel counts to a class."""
    names = list(_classes()[name])
    if name == "write":
        names += _classes()["dir_write"]
    later = RELEASES[1 : RELEASES.index(release) + 1]
    names += [call for one in later for call in _classes()["later"][one].get(name, [])]
    known = {**newer_calls(), **calls(arch)}
    return frozenset(known[call] for call in names if call in known)


@cache
def classified_calls(arch: Arch, release: Release) -> frozenset[int]:
    """Return the numbers of the calls that a release counts to any class."""
    names: tuple[Class, ...] = ("read", "write", "attributes")
    return frozenset(call for name in names for call in class_calls(arch, name, release))


Auditctl = Literal["3.0.9", "4.0.2"]
"""A release of auditctl, which makes the kernel's rule of a line: Debian 12's or Debian 13's."""


def auditctl_of(version: str) -> Auditctl:
    """Return the release of auditctl that a version of Debian's package auditd has or is near."""
    return "4.0.2" if version.startswith("1:4.") else "3.0.9"


@cache
def permission_calls(arch: Arch, permissions: int) -> frozenset[int]:
    """Return the numbers of the calls that auditctl 4 adds to a rule with these permissions."""
    known, added = calls(arch), _classes()["added"]
    letters = [letter for bit, letter in enumerate("xwra") if permissions >> bit & 1]
    return frozenset(known[call] for one in letters for call in added[one] if call in known)


@cache
def _classes() -> Mapping[str, Any]:
    text = (resources.files("auditrules.tables") / "permissions.toml").read_text()
    return MappingProxyType(tomllib.loads(text))


def _table(file: str) -> Mapping[str, int]:
    text = (resources.files("auditrules.tables") / file).read_text()
    rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return MappingProxyType({name: int(number) for number, name in rows})
