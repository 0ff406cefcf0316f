"""Putting new content into a user's file at once: whoever reads it finds the old or the new."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path


class ChangedError(Exception):
    """The file is not what it was when it was read."""


def replace_content(path: Path, before: bytes, after: bytes) -> None:
    """Replace a file's content, keeping its permissions, owner and extended attributes.

    A symbolic link stays one, and its target is replaced.

    Raises:
        ChangedError: The file does not hold `before` any more; it is left as it is.
        OSError: It can't be written; it is left as it is.
    """
    target = Path(os.path.realpath(path))
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    made = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        shutil.copystat(target, made)
        status = target.stat()
        with contextlib.suppress(PermissionError):  # only root may give files away
            os.chown(made, status.st_uid, status.st_gid)
        os.utime(made)
        _check_same(target, before)
        made.replace(target)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # some file systems have no such thing
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _check_same(path: Path, content: bytes) -> None:
    if path.read_bytes() != content:
        raise ChangedError(str(path))
