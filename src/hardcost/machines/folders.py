"""Folders and files of the cache: locked, put aside and removed; and whether their disk is full."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import time
from typing import IO, TYPE_CHECKING

from hardcost.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LITTLE_SPACE = 64 << 20  # bytes; what failed with less left has failed for that


REMEDY = "free some, with `hardcost image remove` for one, or set HARDCOST_CACHE elsewhere"
"""What to do about a disk that is full."""


def no_space(folder: Path) -> MachineError:
    """Return the error of a disk that is full where `folder` lies."""
    return MachineError(f"no space left on the disk of {folder}", hint=REMEDY)


def is_full(folder: Path) -> bool:
    """Say whether so little is left on the disk of `folder` that what fails may fail for that."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free < _LITTLE_SPACE
    return False


def written(descriptor: int, grain: int) -> Iterator[tuple[int, int]]:
    """Yield where a sparse file has data, in whole pieces of `grain` bytes, each of them once."""
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


def removed(place: Path) -> None:
    """Remove an entry in one step, as far as anybody can see."""
    gone = put_aside(place)
    if gone is not None:
        delete(gone)


def put_aside(place: Path) -> Path | None:
    """Take an entry out of its place, and return where it lies now; None where there is none.

    It lies beside, under a name of what is half made, so that `sweep` ends what is cut short. A
    full disk has room for that.
    """
    aside = place.with_name(f".{place.name}-{os.getpid()}.{time.monotonic_ns()}")
    try:
        place.rename(aside)
    except FileNotFoundError:
        return None
    return aside


def delete(path: Path) -> None:
    """Remove a file or a folder with all that is in it, as far as that can be done."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def node(place: Path) -> int | None:
    """Return what tells a file or folder from one that takes its place; None without one."""
    with contextlib.suppress(OSError):
        return place.stat().st_ino
    return None


def locked(file: IO[str]) -> bool:
    """Lock a file unless somebody else has; say whether it is ours now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def size(place: Path) -> int:
    """Return what lies below a folder in bytes, as it lies on disk."""
    blocks = 0
    for path in place.rglob("*"):
        with contextlib.suppress(OSError):
            status = path.lstat()
            # What other entries link to as well is shared between them.
            shares = 1 if stat.S_ISDIR(status.st_mode) else status.st_nlink
            blocks += status.st_blocks // shares
    return blocks * 512


def swept(lock: Path, folder: Path) -> bool:
    """Remove a folder unless somebody holds its lock; say whether it is gone."""
    with contextlib.suppress(OSError), lock.open() as file:
        if locked(file):
            delete(folder)
            return True
    return False
