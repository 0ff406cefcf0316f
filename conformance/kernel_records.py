r"""The kernel's own records of a call, read as the `Event` that its filter saw.

A record's text is that of the kernel: `arch=c000003e syscall=257 success=yes exit=3 a0=… key="k"`.
Of names that the call visited there is one PATH record each, in the kernel's order.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from auditrules.kernel.event import Event, FileId, VisitedName, given_names
from auditrules.tables import lookup
from conformance.calls import Call, Worker
from hardcost.errors import TrialError

KernelRecord = tuple[int, str]
"""The kind of a record and its text."""

_SYSCALL, _PATH, _SOCKADDR, _CWD, _OPENAT2 = 1300, 1302, 1306, 1307, 1337
_WORD = re.compile(r'(\w+)=("[^"]*"|\S*)')
_ARCHES = {f"{number:x}": arch for arch, number in lookup.ARCH_NUMBERS.items()}
_IDS = ("uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid", "auid")


@dataclass(frozen=True)
class Ground:
    """What lies where: files by their paths, and the kinds of file systems by their devices."""

    files: Mapping[str, FileId]
    kinds: Mapping[tuple[int, int], int]

    def path_of(self, file: FileId, named: str | None) -> str | None:
        """Return the path of a file, by itself or by the name used; None if neither says it."""
        known = [path for path, found in self.files.items() if found == file]
        if named in known or not known:
            return named
        return known[0]


def key_of(written: str) -> str:
    """Return a record's key: quoted, or in hex where it has other than plain characters."""
    return _text(written) or ""


def event_of(
    records: Sequence[KernelRecord], call: Call, workers: Sequence[Worker], ground: Ground
) -> Event | None:
    """Return a call's event as its records show it, None where there are none.

    Raises:
        TrialError: The records do not show all that the filter saw.
    """
    by_kind: defaultdict[int, list[dict[str, str]]] = defaultdict(list)
    for kind, text in records:
        by_kind[kind].append(dict(_WORD.findall(text)))
    if not by_kind[_SYSCALL]:
        return None
    call_record = by_kind[_SYSCALL][0]
    paths = by_kind[_PATH]
    if len(paths) != int(call_record["items"]):
        raise TrialError(
            f"the kernel hides names of {call}: {call_record['items']}, of which {paths}"
        )
    family = [int.from_bytes(bytes.fromhex(it["saddr"])[:2], "little") for it in by_kind[_SOCKADDR]]
    working = _text(by_kind[_CWD][0]["cwd"]) if by_kind[_CWD] else None
    exe = _text(call_record["exe"])
    a0, a1, a2, a3 = (int(call_record[name], 16) for name in ("a0", "a1", "a2", "a3"))
    arch, number = _ARCHES[call_record["arch"]], int(call_record["syscall"])
    given = given_names(lookup.call_name(arch, number))
    ids = {name: int(call_record[name]) for name in _IDS}
    return Event(
        arch=arch,
        call=number,
        arguments=(a0, a1, a2, a3),
        exit=int(call_record["exit"]) if "exit" in call_record else None,
        pid=int(call_record["pid"]),
        ppid=int(call_record["ppid"]),
        groups=frozenset(workers[call.worker].groups),
        sessionid=int(call_record["ses"]),
        personality=int(call_record.get("per", "0"), 16),
        exe=ground.files.get(exe or ""),
        names=_names(paths, working or "/", ground, given),
        open_flags=int(by_kind[_OPENAT2][0]["oflag"], 8) if by_kind[_OPENAT2] else None,
        socket_family=family[0] if family else None,
        # What comes before the call's own record was written while the call ran.
        raised=records[0][0] != _SYSCALL,
        raised_by=records[0][0],
        uid=ids["uid"],
        euid=ids["euid"],
        suid=ids["suid"],
        fsuid=ids["fsuid"],
        gid=ids["gid"],
        egid=ids["egid"],
        sgid=ids["sgid"],
        fsgid=ids["fsgid"],
        auid=ids["auid"],
        subject=_subject(call_record),
    )


def unrecorded(call: Call, result: int, like: Event) -> Event:
    """Return the event of a call that no rule can record, by a worker of whom another is known."""
    numbers = [argument for argument in call.arguments if isinstance(argument, int)]
    if len(numbers) < len(like.arguments):
        raise TrialError(f"nothing was recorded of {call}")
    a0, a1, a2, a3, *_ = numbers
    return replace(
        like,
        arch=call.arch,
        call=call.number,
        arguments=(a0, a1, a2, a3),
        exit=result,
        names=(),
        open_flags=None,
        socket_family=None,
        raised=False,
    )


def _subject(call_record: Mapping[str, str]) -> dict[str, str]:
    """Return the label of who calls: AppArmor's is a role, and other kinds of rules never hold."""
    return {"subj_role": call_record["subj"]} if call_record.get("subj", "=") != "=" else {}


def _names(
    items: Sequence[Mapping[str, str]], working: str, ground: Ground, given: int
) -> tuple[VisitedName, ...]:
    """Return the names that a call visited; it gave the first of them, so many."""
    names: list[VisitedName] = []
    parent = 0  # the file system of the last directory in which something was looked up
    for at, item in enumerate(items):
        written = _text(item["name"])
        named = None if written is None else posixpath.normpath(posixpath.join(working, written))
        if "inode" not in item:
            names.append(VisitedName(filesystem=parent if at >= given else 0))
            continue
        major, minor = (int(part, 16) for part in item["dev"].split(":"))
        file = FileId(major, minor, int(item["inode"]))
        kind = ground.kinds.get((major, minor), 0)
        parent = kind if item["nametype"] == "PARENT" else parent
        special, number = (int(part, 16) for part in item["rdev"].split(":"))
        names.append(
            VisitedName(
                path=ground.path_of(file, named),
                file=file,
                special_device=(special, number),
                mode=int(item["mode"], 8),
                uid=int(item["ouid"]),
                gid=int(item["ogid"]),
                filesystem=kind,
                given=at < given,
            )
        )
    return tuple(names)


def _text(written: str) -> str | None:
    """Return a value as the kernel writes what others may have chosen."""
    if written == "(null)":
        return None
    if written.startswith('"'):
        return written.strip('"')
    return bytes.fromhex(written).decode(errors="surrogateescape")
