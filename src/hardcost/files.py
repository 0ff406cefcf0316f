"""Files that users name, and those in hardcost's own folders: read within bounds, and written.

A user may name a link. In its own folders hardcost follows none: whoever put one there may mean
harm.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import secrets
from importlib.resources import files
from pathlib import Path
from typing import Any

from auditrules.files import bounded, whole
from hardcost.errors import FULL_DISK, InputError, StoreError

LARGEST_TEXT = 16 << 20
"""Most bytes of a text file."""
_OWN = frozenset({".py", ".toml", ".rules"})


def content(path: Path, what: str, most: int = LARGEST_TEXT, hint: str | None = None) -> bytes:
    """Return the bytes of the regular file `path`, at most `most`; `what` is `the kernel` or so.

    Raises:
        InputError: It does not exist, is not a regular file (but a folder, pipe or device), is
            larger, or can't be read.
    """
    try:
        return bounded.content(path, most)
    except bounded.UnreadableError as error:
        raise InputError(f"{what} {path} can't be read: {error}", hint=hint) from None


def check(path: Path, what: str, most: int, hint: str | None = None) -> None:
    """Check that `content` could read a file, without reading it.

    Raises:
        InputError: As `content` does.
    """
    try:
        bounded.check(path, most)
    except bounded.UnreadableError as error:
        raise InputError(f"{what} {path} can't be read: {error}", hint=hint) from None


def put(
    path: Path,
    data: bytes,
    what: str = "",
    hint: str | None = None,
    *,
    before: bytes | None = None,
) -> None:
    """Write a file that a user names, whole or not at all; `what` is `the report` or so.

    Devices, pipes and open descriptors are written directly. `before` is what the file has to hold.

    Raises:
        ChangedError: It does not hold that any more.
        StoreError: It can't be written; what was there before is left as it is.
        BrokenPipeError: It is a pipe without a reader.
    """
    try:
        whole.write(path, data, before=before)
    except whole.UnwritableError as error:
        raise _unwritable(path, error, what, hint) from error


def check_put(path: Path, what: str = "", hint: str | None = None) -> None:
    """Check, before anything takes long, whether `put` could write a file.

    Raises:
        InputError: It could not.
    """
    try:
        whole.check(path)
    except whole.UnwritableError as error:
        raise _input_error(path, error, what, hint) from None


def check_new(path: Path, *, force: bool) -> None:
    """Check that a file that a user names would replace no other, unless the user says `--force`.

    Raises:
        InputError: It would, or it can't be written.
    """
    if str(path) == "-" or force:
        return
    try:
        is_there = whole.replaces(path)
    except whole.UnwritableError as error:
        raise _input_error(path, error, "", None) from None
    if is_there:
        raise InputError(f"{path} already exists", hint="--force overwrites it")


def _input_error(
    path: Path, error: whole.UnwritableError, what: str, hint: str | None
) -> InputError:
    found = _unwritable(path, error, what, hint)
    return InputError(str(found), hint=found.problems[0].hint)


def _unwritable(
    path: Path, error: whole.UnwritableError, what: str, hint: str | None
) -> StoreError:
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno in FULL_DISK:
        hint = "free some space on its disk"
    named = f"{what} {path}".lstrip()
    return StoreError(f"{named} can't be written: {error}", hint=error.hint or hint)


def own_content(path: Path, most: int = LARGEST_TEXT) -> bytes:
    """Return the bytes of a regular file in a folder of hardcost's own, at most `most`.

    Raises:
        OSError: It does not exist, is a link or otherwise not regular, is larger, or can't be read.
    """
    try:
        return bounded.content(path, most, follow=False)
    except bounded.UnreadableError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from None
        raise OSError(errno.EINVAL, str(error), str(path)) from None


def own_text(path: Path, most: int = LARGEST_TEXT) -> str:
    """Return the text of a file, as `own_content`.

    Raises:
        OSError: As `own_content`.
        ValueError: It is not UTF-8.
    """
    return own_content(path, most).decode()


def put_own(path: Path, data: bytes) -> None:
    """Write a file in a folder of hardcost's own, in one step: what was there is replaced.

    Raises:
        OSError: It can't be written, or its folder is a link.
    """
    if path.parent.is_symlink():
        raise OSError(errno.ELOOP, "its folder is a link, and is not followed", str(path.parent))
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    fresh = f".fresh-{secrets.token_hex(8)}"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(fresh, flags, 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.rename(fresh, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(fresh, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def remove_own(path: Path) -> int | None:
    """Remove a file in a folder of hardcost's own; return its bytes on disk, None if it is missing.

    Raises:
        OSError: It can't be removed, is a folder, or its folder is a link.
    """
    if path.parent.is_symlink():
        raise OSError(errno.ELOOP, "its folder is a link, and is not followed", str(path.parent))
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        blocks = os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_blocks
        os.unlink(path.name, dir_fd=folder)
    except FileNotFoundError:
        return None
    finally:
        os.close(folder)
    return blocks * 512


def own_file(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Return a descriptor of a file in a folder of hardcost's own, as for a lock; it is not cut.

    Raises:
        StoreError: It is a link, a pipe, a device or a folder.
        OSError: It can't be opened or created.
    """
    with contextlib.suppress(FileNotFoundError):
        check_own(path)  # first, since opening a device may already do something
    safe = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags | safe, 0o666)
    try:
        _check_own(path, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_own(path: Path) -> None:
    """Check that a file in a folder of hardcost's own is a regular one.

    Raises:
        StoreError: It is a link, a pipe, a device or a folder.
        OSError: It is not there.
    """
    _check_own(path, path.lstat())


def _check_own(path: Path, status: os.stat_result) -> None:
    why = bounded.irregular(status.st_mode)
    if why is not None:
        raise StoreError(
            f"{path} can't be used: {why}",
            hint="hardcost did not make it so: remove it, and it is made again",
        )


def json_value(text: str | bytes) -> Any:  # noqa: ANN401  (any JSON value)
    """Return the value of a JSON text.

    Raises:
        ValueError: It is not JSON, or is nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


@functools.cache
def own_code() -> str:
    """Return the SHA-256 of hardcost's own modules and tables, and the rules engine's, in hex.

    Two versions under work may have one number.
    """
    total = hashlib.sha256()
    for package in ("hardcost", "auditrules"):
        root = Path(str(files(package)))
        for path in sorted(one for one in root.rglob("*") if one.suffix in _OWN):
            total.update(f"{package}/{path.relative_to(root)}\n".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()
