"""Files that users name: read within bounds, with an error that says what the file was to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules import bounded
from hardcost.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_TEXT = 16 << 20
"""Bytes of a file that a person or a program wrote as text."""


def content(path: Path, what: str, most: int = LARGEST_TEXT, hint: str | None = None) -> bytes:
    """Return the bytes of the regular file `path`, at most `most`; `what` is such as `the kernel`.

    Raises:
        InputError: It is not there, no regular file (a folder, pipe or device), larger, or can't be
            read.
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
