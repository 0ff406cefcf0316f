"""Reading a user's file completely, within bounds; only regular files are read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_KINDS = (
    (stat.S_ISLNK, "it is a link, and is not followed"),
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


def content(path: Path, most: int, *, follow: bool = True) -> bytes:
    """Return the bytes of a regular file, `most` of them at the most.

    Without `follow`, a link is no regular file.

    Raises:
        UnreadableError: It does not exist, is not a regular file, is too large, or can't be opened.
    """
    try:
        if not follow:
            _check(path.lstat(), most)
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
        descriptor = os.open(path, flags)
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


def irregular(mode: int) -> str | None:
    """Return why a file of that mode is not a regular one; None if it is."""
    return next((why for is_so, why in _KINDS if is_so(mode)), None)


def _check(status: os.stat_result, most: int) -> None:
    why = irregular(status.st_mode)
    if why is not None:
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
