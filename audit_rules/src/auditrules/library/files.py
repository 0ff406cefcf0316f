"""Files that a user names: read within bounds and written, with errors that name the remedy."""

from __future__ import annotations

from pathlib import Path

from auditrules.files import bounded, whole
from auditrules.model.errors import FULL_DISK, InputError, StoreError

LARGEST_TEXT = 16 << 20
"""Most bytes of a text file."""


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
        raise _store_error(path, error, what, hint) from error


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
    found = _store_error(path, error, what, hint)
    return InputError(str(found), hint=found.problems[0].hint)


def _store_error(
    path: Path, error: whole.UnwritableError, what: str, hint: str | None
) -> StoreError:
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno in FULL_DISK:
        hint = "free some space on its disk"
    named = f"{what} {path}".lstrip()
    return StoreError(f"{named} can't be written: {error}", hint=error.hint or hint)
