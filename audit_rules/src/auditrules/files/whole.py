"""Writing a file whole or not at all: whoever reads it finds the old content or the new.

The content goes to a file beside, whose name ends in `.hardcost-tmp`, so that no tool reads it as
one of its own. It is flushed to the disk and renamed. Only a kill that can't be handled leaves that
file behind. The new file has the old one's mode, owner and extended attributes; other hard links
keep the old content. A symbolic link stays, and its target is replaced. What can't be replaced is
written directly: devices, pipes, and open descriptors such as `/dev/stdout`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from pathlib import Path
from typing import NamedTuple

SUFFIX = ".hardcost-tmp"
"""How the name of an incomplete file ends."""

_LONGEST = 160  # bytes of the target's name in the name beside; a name has at most 255
_MOST_LINKS = 40  # as many as the kernel follows
_DESCRIPTORS = re.compile(r"/proc/(\d+)/(?:task/\d+/)?fd")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_OF_CONTENT = frozenset({"security.capability", "security.evm", "security.ima"})
"""Extended attributes that are true of the old content only."""


class UnwritableError(Exception):
    """A file can't be written; the message says why, and `hint` names the remedy, if known."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


class ChangedError(Exception):
    """The file has changed since it was read."""


class _Target(NamedTuple):
    """The target of a name: a path without links, and its status, None if nothing is there."""

    path: Path
    status: os.stat_result | None
    replaceable: bool


def write(path: Path, data: bytes, *, before: bytes | None = None) -> None:
    """Write a file, which may exist; `before` is the content that it then must have.

    Raises:
        ChangedError: It does not hold `before` any more; it is left as it is.
        UnwritableError: It can't be written; a regular file is left as it is.
        BrokenPipeError: It is a pipe without a reader.
    """
    try:
        target = _target(path)
        if target.replaceable:
            _replace(target, data, before)
        else:
            _write_directly(target.path, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError(error.strerror or str(error)) from error


def check(path: Path) -> None:
    """Check whether a file could be written, as far as that can be known beforehand.

    Raises:
        UnwritableError: It can't.
    """
    try:
        target = _target(path)
        if target.replaceable:
            folder = target.path.parent
            if not folder.is_dir():
                raise UnwritableError(f"there is no folder {folder}", "create it first")
            if not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
                raise _closed_error(folder, os.strerror(errno.EACCES))
    except OSError as error:
        raise UnwritableError(error.strerror or str(error)) from error


def replaces(path: Path) -> bool:
    """Say whether writing would replace a file: no device, pipe or open descriptor is replaced.

    Raises:
        UnwritableError: It can't be written.
    """
    try:
        target = _target(path)
    except OSError as error:
        raise UnwritableError(error.strerror or str(error)) from error
    return target.replaceable and target.status is not None


def _target(path: Path) -> _Target:
    """Return the file to be written."""
    status = None
    with contextlib.suppress(FileNotFoundError):
        status = path.stat()  # the kernel's walk, so that its rules on links of others hold
    real = _without_links(path)
    if _DESCRIPTORS.fullmatch(str(real.parent)):
        if status is None or not _NUMBER.fullmatch(real.name):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return _Target(real, status, replaceable=False)
    if status is not None:
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.access(real, os.W_OK, effective_ids=True):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return _Target(real, status, replaceable=status is None or stat.S_ISREG(status.st_mode))


def _without_links(path: Path) -> Path:
    """Follow links up to a file or an open descriptor, which looks like a link to its file."""
    for _ in range(_MOST_LINKS):
        path = Path(os.path.realpath(path.parent), path.name)
        if _DESCRIPTORS.fullmatch(str(path.parent)) or not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _write_directly(path: Path, data: bytes) -> None:
    of = _DESCRIPTORS.fullmatch(str(path.parent))
    if of is None or int(of[1]) != os.getpid():
        path.write_bytes(data)
        return
    # Opened by its name, a file would be written from its beginning, and a socket not at all.
    if sys.stdout is not None:
        sys.stdout.flush()
    with os.fdopen(os.dup(int(path.name)), "wb") as file:
        file.write(data)


def _replace(target: _Target, data: bytes, before: bytes | None) -> None:
    path = target.path
    made = path.with_name(f".{_shorten(path.name)}.{secrets.token_hex(8)}{SUFFIX}")
    try:
        descriptor = _create(made, 0o666 if target.status is None else 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if target.status is not None:
                _take_on(descriptor, path, target.status)
            os.fsync(descriptor)
        if before is not None:
            _check_same(path, before)
        _rename(made, path)
    except BaseException:
        with contextlib.suppress(OSError):
            made.unlink()
        raise
    with contextlib.suppress(OSError):  # some file systems have no such thing
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _shorten(name: str) -> str:
    return os.fsencode(name)[:_LONGEST].decode(errors="ignore")


def _create(path: Path, mode: int) -> int:
    """Return the descriptor of a new file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, mode)
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise _closed_error(path.parent, os.strerror(error.errno)) from error
        raise


def _closed_error(folder: Path, why: str) -> UnwritableError:
    return UnwritableError(
        f"a new file has to be made in the folder {folder}, which can't be written: {why}",
        "name a file in a folder that you may write to",
    )


def _take_on(descriptor: int, path: Path, status: os.stat_result) -> None:
    """Give the new file the old one's owner, extended attributes and mode, as far as allowed."""
    mode = stat.S_IMODE(status.st_mode)
    try:
        os.fchown(descriptor, status.st_uid, status.st_gid)
    except OSError:  # only root may give files away
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
        try:
            os.fchown(descriptor, -1, status.st_gid)
        except OSError:  # another group may do what everybody may
            mode = mode & ~0o070 | (mode & 0o007) << 3
    with contextlib.suppress(OSError):  # some file systems have none
        for name in os.listxattr(path):
            if name not in _OF_CONTENT:
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(path, name))
    os.fchmod(descriptor, mode)


def _check_same(path: Path, content: bytes) -> None:
    if path.read_bytes() != content:
        raise ChangedError(str(path))


def _rename(made: Path, path: Path) -> None:
    try:
        made.replace(path)
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise UnwritableError(
                "it is a mount point, which no new file can replace",
                "mount its folder instead, or name a file elsewhere",
            ) from error
        if error.errno in {errno.EACCES, errno.EPERM}:
            raise UnwritableError(
                f"the folder {path.parent} lets only the file's owner replace it, or the file is"
                " immutable",
                "name another file",
            ) from error
        raise
