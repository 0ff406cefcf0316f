"""A call's properties in groups, such that each condition tests one group.

If each group of a call comes from one of two calls, it meets every condition that both meet, as
long as the condition tests a single group. `perm` tests several and is left to the caller; a
comparison of an id with a file's owner tests two, which always stay together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hardcost.auditrules.event import FileId, Name
from hardcost.auditrules.kernelrule import UNSET
from hardcost.auditrules.optimize.decidedcalls import FRESH_INODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.event import Event

GROUPS: Mapping[str, tuple[str, ...]] = {
    "arch": ("arch",),
    "call": ("call",),
    "names": ("names",),
    "exe": ("exe",),
    "exit": ("exit",),
    "users": ("uid", "euid", "suid", "fsuid", "auid"),
    "groups": ("gid", "egid", "sgid", "fsgid", "groups"),
    "arguments": ("arguments", "open_flags"),
    "rest": ("pid", "ppid", "sessionid", "personality", "socket_family", "subject"),
}
"""The groups: a condition other than `perm` and some of -C tests one of them."""

COMPARED = frozenset({"names", "users", "groups"})
"""The groups that -C compares: users or groups with files' owners."""

TELL: Mapping[str, tuple[str, ...]] = {
    "arch": ("arch", "perm"),
    "names": ("dir", "filetype", "devmajor", "devminor", "obj_uid", "obj_gid"),
    "exe": ("exe",),
    "exit": ("exit", "success"),
    "users": ("uid", "euid", "suid", "fsuid", "auid", "loginuid_set"),
    "groups": ("gid", "egid", "sgid", "fsgid"),
    "arguments": ("a0", "a1", "a2", "a3", "perm"),
    "rest": ("pid", "ppid", "sessionid", "pers", "saddr_fam"),
}
"""The fields by which a rule can distinguish calls that differ in a group."""

SERVICE: Mapping[str, Any] = {
    **dict.fromkeys(("uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid"), 0),
    "auid": UNSET,
    "sessionid": UNSET,
}
"""The ids of a service."""

ODD: Mapping[str, Any] = {
    "arguments": (1 << 20, 1 << 20, 1 << 20, 1 << 20),
    "open_flags": 1 << 20,
    "exit": -133,
    "names": (),
    "pid": 31001, "ppid": 31002, "sessionid": 31003,
    "uid": 31010, "euid": 31011, "suid": 31012, "fsuid": 31013, "auid": 31014,
    "gid": 31020, "egid": 31021, "sgid": 31022, "fsgid": 31023,
}  # fmt: skip
"""Values that no rule has a reason to test: a rule that matches them does not test the group."""


def part(event: Event, group: str) -> tuple[Any, ...]:
    """Return one group of a call's properties."""
    return tuple(getattr(event, name) for name in GROUPS[group])


def spelled(event: Event, group: str) -> tuple[Any, ...]:
    """Return one group of a call's properties as a key for look-ups."""
    return tuple(_hashable(value) for value in part(event, group))


def _hashable(value: object) -> object:
    if isinstance(value, Mapping):
        return tuple(sorted(value.items()))
    if isinstance(value, tuple):
        return tuple(
            (*one.file, one.path, one.mode, one.uid, one.gid) if isinstance(one, Name) else one
            for one in value
        )
    return value


def others(event: Event, group: str) -> list[Event]:
    """Return calls that differ from one in a group."""
    if group == "arch":
        return [replace(event, arch="b32" if event.arch == "b64" else "b64")]
    known = {name: value for name, value in ODD.items() if name in GROUPS[group]}
    return [replace(event, **known)] if known else []


def beside(a: Sequence[Name], b: Sequence[Name]) -> tuple[str, FileId] | None:
    """Return the path of a new file that is in every directory that holds the files of both."""
    if len(a) != 1 or len(b) != 1 or a == b:
        return None
    one, other = a[0], b[0]
    alike = (one.mode, one.uid, one.gid, one.file[:2], one.label, one.special_device)
    if one.path is None or other.path is None or alike != (
        other.mode, other.uid, other.gid, other.file[:2], other.label, other.special_device
    ):  # fmt: skip
        return None
    shared: list[str] = []
    for part, same in zip(one.path.split("/"), other.path.split("/"), strict=False):
        if part != same:
            break
        shared.append(part)
    return "/".join([*shared, "~beside"]), FileId(*one.file[:2], FRESH_INODE)
