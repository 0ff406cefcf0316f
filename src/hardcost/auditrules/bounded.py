"""Reading a user's file completely, within bounds; only regular files are read."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_KINDS = (
    (stat.S_ISDIR, "it is a folder, not a file"),
    (stat.S_ISFIFO, "it is a pipe, not a regular file"),
    (stat.S_ISSOCK, "it is a socket, not a regular file"),
    (stat.S_ISCHR, "it is a device, not a regular file"),
    (stat.S_ISBLK, "it is a device, not a regular file"),
)
_AT_ONCE = 1 << 20


_NUL = "its name holds a null byte"


class UnreadableError(Exception):
    """A file can't be read; the message says why."""


def content(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file, `most` of them at the most.

    Raises:
        UnreadableError: It does not exist, is not a regular file, is too large, or can't be opened.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _check(os.fstat(descriptor), most)
            return _read(descriptor, most)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UnreadableError(_reason(error)) from error
    except ValueError as error:  # in words that depend on Python's version
        raise UnreadableError(_NUL) from error


def check(path: Path, most: int) -> None:
    """Check that `content` could read a file, without reading it.

    Raises:
        UnreadableError: As `content` does.
    """
    try:
        _check(path.stat(), most)
        if not os.access(path, os.R_OK):
            raise UnreadableError("permission denied")
    except OSError as error:
        raise UnreadableError(_reason(error)) from error
    except ValueError as error:
        raise UnreadableError(_NUL) from error


def size(most: int) -> str:
    """Return a number of bytes in words, such as `4 MiB`."""
    return f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"


def _check(status: os.stat_result, most: int) -> None:
    for is_so, why in _KINDS:
        if is_so(status.st_mode):
            raise UnreadableError(why)
    if status.st_size > most:
        raise _too_large(most)


def _read(descriptor: int, most: int) -> bytes:
    """Return all bytes, whatever size was reported: for files below /proc that is 0."""
    found = bytearray()
    while part := os.read(descriptor, _AT_ONCE):
        found += part
        if len(found) > most:
            raise _too_large(most)
    return bytes(found)


def _too_large(most: int) -> UnreadableError:
    return UnreadableError(f"it is larger than {size(most)}")


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (error.strerror or str(error)).lower()
