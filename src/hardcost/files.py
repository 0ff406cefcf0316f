"""Files that users name, read within bounds, with errors that name their purpose; and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hardcost.auditrules import bounded
from hardcost.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

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


def json_value(text: str | bytes) -> Any:  # noqa: ANN401  (any JSON value)
    """Return the value of a JSON text.

    Raises:
        ValueError: It is not JSON, or is nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
