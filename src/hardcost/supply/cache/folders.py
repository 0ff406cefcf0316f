"""Folders and files of the cache: locking, moving aside and removing; and full disks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.files import own_file

_LITTLE_SPACE = 64 << 20  # bytes; a failure with less left is attributed to the full disk


OURS = 0o700
"""Permissions of a folder in which no other user lists, reads or replaces anything."""

REMEDY = "free some, for example with `hardcost image remove`, or set HARDCOST_CACHE elsewhere"
"""The remedy for a full disk."""


def no_space(folder: Path) -> MachineError:
    """Return the error for a full disk at `folder`."""
    return MachineError(f"no space left on the disk of {folder}", hint=REMEDY)


def is_full(folder: Path) -> bool:
    """Say whether so little is left on the disk of `folder` that this may cause a failure."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free < _LITTLE_SPACE
    return False


def close(folder: Path) -> None:
    """Close one of hardcost's folders to others, if an older version left it open."""
    status = folder.stat()
    if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) != OURS:
        with contextlib.suppress(OSError):  # a read-only disk
            folder.chmod(OURS)


def data_ranges(descriptor: int, grain: int) -> Iterator[tuple[int, int]]:
    """Yield where a sparse file has data, in whole pieces of `grain` bytes, each piece once."""
    size, place = os.fstat(descriptor).st_size, 0
    while place < size:
        try:
            start = os.lseek(descriptor, place, os.SEEK_DATA)
        except OSError:
            return
        hole = os.lseek(descriptor, start, os.SEEK_HOLE)
        start = max(place, start // grain * grain)
        place = min(size, -(-hole // grain) * grain)
        yield start, place


def remove_entry(place: Path) -> None:
    """Remove an entry in one step, as seen by others."""
    gone = put_aside(place)
    if gone is not None:
        delete(gone)


def put_aside(place: Path) -> Path | None:
    """Move an entry out of its place, and return its new path; None if there is none.

    It moves beside its place, under the name of something half made, so that `leftovers.py`
    completes an interrupted removal. Even a full disk has room for that.
    """
    aside = place.with_name(f".{place.name}-{os.getpid()}.{time.monotonic_ns()}")
    try:
        place.rename(aside)
    except FileNotFoundError:
        return None
    return aside


def delete(path: Path) -> None:
    """Remove a file, or a folder with its content, as far as possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def node(place: Path) -> int | None:
    """Return the identity of a file or folder, unlike that of a replacement; None if missing.

    A link is neither, whatever it names.
    """
    with contextlib.suppress(OSError):
        status = place.lstat()
        return None if stat.S_ISLNK(status.st_mode) else status.st_ino
    return None


def is_folder(place: Path) -> bool:
    """Say whether it is a folder, and no link to one."""
    return place.is_dir() and not place.is_symlink()


def try_lock(file: int) -> bool:
    """Lock an open file unless another process has; say whether we have it now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def size(place: Path) -> int:
    """Return the size of a folder's content in bytes, as allocated on disk."""
    blocks = 0
    for path in place.rglob("*"):
        with contextlib.suppress(OSError):
            status = path.lstat()
            # Files that other entries link to as well are divided between them.
            shares = 1 if stat.S_ISDIR(status.st_mode) else status.st_nlink
            blocks += status.st_blocks // shares
    return blocks * 512


def sweep(lock: Path, folder: Path) -> bool:
    """Remove a folder unless its lock is held; say whether it is gone."""
    with contextlib.suppress(OSError), open_lock(lock, os.O_RDWR) as file:
        if try_lock(file):
            delete(folder)
            return True
    return False


@contextlib.contextmanager
def open_lock(lock: Path, flags: int = os.O_RDWR | os.O_CREAT) -> Iterator[int]:
    """Open a lock, and close it, which releases it.

    Raises:
        StoreError: It is no regular file.
    """
    descriptor = own_file(lock, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def check(root: Path) -> str | None:
    """Check what lies in the cache's folder; return what its user has to know of its owner.

    Raises:
        MachineError: Something in it is neither a folder nor a regular file.
    """
    try:
        with os.scandir(root) as entries:
            kinds = {one.path: one.stat(follow_symlinks=False).st_mode for one in entries}
        status = root.stat()
    except OSError:
        return None  # there is none yet, or what needs it says why it can't be read
    for path, mode in kinds.items():
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise MachineError(
                f"{path} in the cache is a link, a pipe or a device, and is not used",
                hint="remove it; HARDCOST_CACHE keeps the whole cache elsewhere",
            )
    if status.st_uid != os.geteuid():
        return f"the cache {root} belongs to the user {status.st_uid}, who decides what runs here"
    if status.st_mode & stat.S_IWOTH:
        return f"the cache {root} can be written to by every user, who then decides what runs here"
    return None
