"""Files that users name, read within bounds and written; JSON; the hash of hardcost's own files."""

from __future__ import annotations

import functools
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from hardcost.auditrules import bounded, wholefile
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
        BrokenPipeError: It is a pipe that nobody reads.
    """
    try:
        wholefile.write(path, data, before=before)
    except wholefile.UnwritableError as error:
        raise _unwritable(path, error, what, hint) from error


def check_put(path: Path, what: str = "", hint: str | None = None) -> None:
    """Check, before anything takes long, whether `put` could write a file.

    Raises:
        InputError: It could not.
    """
    try:
        wholefile.check(path)
    except wholefile.UnwritableError as error:
        found = _unwritable(path, error, what, hint)
        raise InputError(str(found), hint=found.problems[0].hint) from None


def check_new(path: Path, *, force: bool) -> None:
    """Check that a file that a user names would replace no other, unless the user says `--force`.

    Raises:
        InputError: It would.
    """
    if str(path) != "-" and not force and wholefile.replaces(path):
        raise InputError(f"{path} already exists", hint="--force overwrites it")


def _unwritable(
    path: Path, error: wholefile.UnwritableError, what: str, hint: str | None
) -> StoreError:
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno in FULL_DISK:
        hint = "free some space on its disk"
    named = f"{what} {path}".lstrip()
    return StoreError(f"{named} can't be written: {error}", hint=error.hint or hint)


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
    """Return the SHA-256 of hardcost's own modules and tables, in hex.

    Two versions under work may have one number.
    """
    root = Path(str(files("hardcost")))
    total = hashlib.sha256()
    for path in sorted(one for one in root.rglob("*") if one.suffix in _OWN):
        total.update(f"{path.relative_to(root)}\n".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()
