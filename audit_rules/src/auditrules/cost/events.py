"""The typical calls for which prices hold. The data are in `events.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from auditrules.kernel.event import NO_INODE, Event, FileId, VisitedName
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

SOME_INODE = NO_INODE - 1
"""The inode number of a file about which only one thing is known: no rule watches it."""

PLACE = "/nowhere"
"""The directory of the files that typical calls visit; it represents one that no rule watches."""

_MODES: Mapping[str, int] = MappingProxyType(
    {"file": 0o100644, "program": 0o100755, "folder": 0o040755}
)


LOOKED_UP: Mapping[str, int] = MappingProxyType({
    "rename": 5, "renameat": 5, "renameat2": 5, "link": 4, "linkat": 4, "creat": 3, "mkdir": 3,
    "mkdirat": 3, "mknod": 3, "mknodat": 3, "symlink": 3, "symlinkat": 3,
})  # fmt: skip
"""How often the kernel notes a name for a call, where that is not once for each of its files."""

MAKING_TASKS = frozenset({"clone", "clone3", "fork", "vfork"})
"""Calls that make a task, about which the list `task` decides."""


@dataclass(frozen=True)
class _Data:
    who: Mapping[str, int]
    call: Mapping[str, Mapping[str, Any]]
    operation: Mapping[str, tuple[str, ...]]


@cache
def _data() -> _Data:
    text = (resources.files("auditrules.cost") / "events.toml").read_text()
    data = tomllib.loads(text)
    operations = {name: tuple(calls) for name, calls in data["operation"].items()}
    return _Data(data["who"], data["call"], MappingProxyType(operations))


def operations() -> Mapping[str, tuple[str, ...]]:
    """Return the calls that each operation of the workload `syscalls` is made of."""
    return _data().operation


def typical(call: str, arch: Arch = "b64") -> Event:
    """Return the typical call of that name: an ordinary user's, logged in, and successful.

    A file that it visits has the inode number `SOME_INODE`: no rule watches it.

    Raises:
        KeyError: The architecture has no such call.
    """
    return of_number(lookup.calls(arch)[call], arch)


@cache
def of_number(number: int, arch: Arch = "b64") -> Event:
    """Return the typical call of that number, as `typical` does."""
    data = _data()
    facts = _facts(data, lookup.call_name(arch, number))
    returned = facts.get("exit", 0)
    arguments = (*facts.get("arguments", ()), 0, 0, 0, 0)[:4]
    uid, gid = data.who["uid"], data.who["gid"]
    return Event(
        arch=arch,
        call=number,
        arguments=arguments,
        exit=None if returned == "none" else returned,
        pid=data.who["pid"],
        ppid=data.who["ppid"],
        uid=uid, euid=uid, suid=uid, fsuid=uid,
        gid=gid, egid=gid, sgid=gid, fsgid=gid,
        auid=data.who["auid"],
        sessionid=data.who["sessionid"],
        names=tuple(_name(kind, uid, gid) for kind in facts.get("visits", ())),
        open_flags=0 if "openat2" in lookup.call_name(arch, number) else None,
        socket_family=facts.get("family"),
    )  # fmt: skip


def events(arch: Arch = "b64") -> dict[str, Event]:
    """Return the typical call of each kind that an architecture has, by name."""
    return {name: of_number(number, arch) for name, number in lookup.calls(arch).items()}


_OTHERWISE: Mapping[str, str] = MappingProxyType({"fstatat64": "newfstatat", "umount": "umount2"})
_SUFFIX = re.compile(r"(64|32|_time64)$")


def _facts(data: _Data, name: str) -> Mapping[str, Any]:
    """Return the facts about a call; one of i386 may have those of the older one (stat64)."""
    for known in (name, _OTHERWISE.get(name, ""), _SUFFIX.sub("", name)):
        if known in data.call:
            return data.call[known]
    return {}


def _name(kind: str, uid: int, gid: int) -> VisitedName:
    if kind == "absent":
        return VisitedName()
    return VisitedName(
        path=f"{PLACE}/{kind}",
        file=FileId(0, 0, SOME_INODE),
        mode=_MODES[kind.rstrip("2")],
        uid=uid,
        gid=gid,
    )
