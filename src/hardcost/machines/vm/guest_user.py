"""The user whom a guest's QEMU runs as: one of its own, which no other process on this host has.

Processes of one user may end each other, look into each other's memory, and open what the other has
open. So each guest gets a user and group id of its own, as long as it runs: root takes a free one,
others one of their subordinate ids (/etc/subuid), in a user namespace. A lock says that it is
taken, and goes with the hardcost that holds it; the users of running processes are not taken.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import grp
import os
import pwd
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hardcost.errors import MachineError
from hardcost.host import no_network
from hardcost.host.process import find_program, run

NOBODY = 65534
"""A user and group without rights of their own, on Debian and elsewhere."""

REMEDY = (
    "install the package uidmap, and give this user ids in /etc/subuid and /etc/subgid (usermod"
    " --add-subuids 100000-165535 --add-subgids 100000-165535 USER); root needs the right to change"
    " its user and to make /run/hardcost, which containers may lack"
)
"""The remedy where guests have no users of their own."""

# Behind what directories (sssd, FreeIPA, AD) and systemd give out; and for a container that has
# but 65536 ids, those between systemd's homes and its dynamic users.
_FREE = (range(2_100_000_000, 2_100_004_096), range(60_578, 61_184))
_USED_OF_SUBORDINATE = 1024  # the last ones: the first stand for users in images that are made
_RUN, _ETC = Path("/run"), Path("/etc")
# For users without a folder in /run; not what TMPDIR names, which may differ for each run.
_WITHOUT_RUN = Path("/var/tmp")  # noqa: S108  (what lies there is looked at)
# Of a host that has no place for locks; what others could bring about, a full disk too, ends a run.
_NO_PLACE = frozenset({errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS})
_NEEDED = (0, 6, 7, 8)  # CAP_CHOWN, CAP_SETGID, CAP_SETUID, CAP_SETPCAP
_CAPABILITIES = re.compile(r"^CapEff:\s*([0-9a-f]+)$", re.MULTILINE)
_USERS = re.compile(rb"^Uid:\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$", re.MULTILINE)

Way = Literal["own", "subordinate", "nobody", "same"]


@dataclass(frozen=True)
class Ways:
    """How QEMU's user is chosen here: among `pairs` of a user and a group id, if there are any.

    `own`: root takes a free one for each guest; `subordinate`: another user does, in a namespace;
    `nobody`: root has that one user for all; `same`: QEMU runs as who runs hardcost. `why` says
    why guests have no users of their own, "" where they have. `shared` is the group of files that
    several guests are given.
    """

    way: Way
    pairs: Sequence[tuple[int, int]] = ()
    why: str = ""
    shared: int = -1


@dataclass(frozen=True)
class User:
    """Whom a QEMU runs as; `shared` is that of `Ways`."""

    way: Way
    uid: int = -1
    gid: int = -1
    shared: int = -1


SAME = User("same")
"""The user who runs hardcost."""


class _NoLocksError(MachineError):
    """Nothing can be locked here, and no other user brought that about."""


@contextlib.contextmanager
def take_user() -> Iterator[User]:
    """Give a user that no other guest has until the block ends, as far as this host allows it.

    Raises:
        MachineError: No user is free, or none can be locked, or another user is in the way.
    """
    here = ways()
    if here.way == "same":
        yield SAME
        return
    if here.way == "nobody":
        yield User("nobody", NOBODY, NOBODY, NOBODY)
        return
    place = _place()
    for uid, gid in here.pairs:
        if here.way == "own" and _is_somebodys(uid):
            continue
        with _hold_lock(place / str(uid)) as is_ours:
            if is_ours and not _has_processes(uid):
                yield User(here.way, uid, gid, here.shared)
                return
    raise MachineError("no user id is free for a guest", hint=f"locks are in {place}")


@functools.cache
def ways() -> Ways:
    """Return how QEMU's user is chosen here.

    Raises:
        MachineError: Another user is in the way, who must not be able to make guests share a user.
    """
    try:
        _place()
    except _NoLocksError as error:
        why = str(error)
    else:
        why = ""
    if os.geteuid():
        return Ways("same", why=why) if why else _subordinate()
    if not _has_rights():
        return Ways("same", why="this root can't become another user")
    for ids in () if why else _FREE:
        shared = next((one for one in ids if _are_mapped(ids) and not _is_somebodys(one)), None)
        if shared is not None:
            return Ways("own", [(one, one) for one in ids if one > shared], shared=shared)
    if _are_mapped(range(NOBODY, NOBODY + 1)):
        return Ways("nobody", why=why or "this container has no free ids")
    return Ways("same", why="this container has no other users")


def _subordinate() -> Ways:
    """Return how a user who isn't root chooses."""
    if find_program("newuidmap") is None or find_program("newgidmap") is None:
        return Ways("same", why="newuidmap is missing (package uidmap)")
    name, number = _name(os.geteuid()), str(os.geteuid())
    users, groups = (
        next((ids for owner, ids in _subordinates(kind) if owner in {name, number}), range(0))
        for kind in ("uid", "gid")
    )
    most = min(len(users), len(groups), _USED_OF_SUBORDINATE)
    pairs = tuple(zip(users[len(users) - most :], groups[len(groups) - most :], strict=True))
    if not pairs:
        return Ways("same", why="this user has no ids in /etc/subuid and /etc/subgid")
    try:
        run([*no_network.words(pairs[0]), "true"])
    except MachineError as error:
        return Ways("same", why=str(error).splitlines()[-1])
    return Ways("subordinate", pairs)


def _has_rights() -> bool:
    """Say whether this root can become another user, which some containers forbid."""
    try:
        capabilities = _CAPABILITIES.search(Path("/proc/self/status").read_text())
    except OSError:
        return False
    has = int(capabilities[1], 16) if capabilities else 0
    return all(has >> number & 1 for number in _NEEDED)


def _are_mapped(ids: range) -> bool:
    """Say whether users and groups of these ids exist in this process's user namespace."""
    return all(_holds(Path(f"/proc/self/{kind}_map"), ids) for kind in ("uid", "gid"))


def _holds(place: Path, ids: range) -> bool:
    try:
        mapped = [line.split() for line in place.read_text().splitlines()]
    except OSError:
        return False
    return any(
        int(first) <= ids.start and ids.stop <= int(first) + int(count)
        for first, _, count in mapped
    )


@functools.cache
def _is_somebodys(number: int) -> bool:
    """Say whether a user or group has this id, or may give it to one of its processes."""
    with contextlib.suppress(KeyError):
        pwd.getpwuid(number)
        return True
    with contextlib.suppress(KeyError):
        grp.getgrgid(number)
        return True
    return any(number in ids for kind in ("uid", "gid") for _, ids in _subordinates(kind))


def _subordinates(kind: str) -> list[tuple[str, range]]:
    """Return who may give out which ids, out of /etc/subuid or /etc/subgid."""
    try:
        text = (_ETC / f"sub{kind}").read_text(errors="replace")
    except OSError:
        return []
    found_there = []
    for line in text.splitlines():
        owner, *numbers = line.strip().split(":")
        with contextlib.suppress(ValueError):
            first, count = map(int, numbers)
            found_there.append((owner, range(first, first + count)))
    return found_there


def _name(number: int) -> str | None:
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return None


def _has_processes(uid: int) -> bool:
    """Say whether a process has this user."""
    wanted = str(uid).encode()
    for place in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            users = _USERS.search(place.read_bytes())
            if users is not None and wanted in users.groups():
                return True
    return False


def _place() -> Path:
    """Return the folder of the locks, the same for all runs of a user and closed to others."""
    user = os.geteuid()
    own = _RUN if user == 0 else _RUN / "user" / str(user)
    is_shared = not own.is_dir()
    place = _WITHOUT_RUN / f"hardcost-{user}" if is_shared else own / "hardcost"
    try:
        with contextlib.suppress(FileExistsError):  # whatever it is: it is looked at next
            place.mkdir(mode=0o700)
        status = place.lstat()
    except OSError as error:
        kind = MachineError if is_shared and error.errno not in _NO_PLACE else _NoLocksError
        raise kind(
            f"there is no place for the locks of guests' users: {place}: {error.strerror}",
            hint="it has to be a folder of yours in which files can be made",
        ) from error
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == user
    if is_shared and not is_ours:
        raise MachineError(
            f"{place} is to hold the locks of guests' users, and is no folder of this user's but"
            f" was made by the user {status.st_uid}",
            hint="have it removed, by root if need be: without it, guests would share a user",
        )
    if not is_ours or status.st_mode & 0o077:
        raise _NoLocksError(
            f"{place} is no folder of this user alone, and is to hold the locks of guests' users",
            hint="remove it, unless something else needs it",
        )
    return place


@contextlib.contextmanager
def _hold_lock(place: Path) -> Iterator[bool]:
    """Lock a file, which stays, until the block ends; say whether no other process holds it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(place, flags, 0o600)
    except OSError as error:
        raise MachineError(f"{place} can't be locked: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)
