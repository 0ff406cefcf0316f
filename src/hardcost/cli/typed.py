"""What the user typed, so that a report can say how to repeat it."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def words() -> tuple[str, ...]:
    """Return the words of the command line, the program by its plain name."""
    return ("hardcost", *sys.argv[1:])


def folder() -> str:
    """Return the folder in which it was typed, if a word is a relative path from there; else ""."""
    return os.getcwd() if any(map(_is_relative_path, sys.argv[1:])) else ""  # noqa: PTH109  (text)


def _is_relative_path(word: str) -> bool:
    """Say whether a word, or the value in `--option=value`, names what lies in this folder."""
    value = word.partition("=")[2] if word.startswith("--") and "=" in word else word
    try:
        return bool(value) and not value.startswith(("-", "/")) and Path(value).exists()
    except (OSError, ValueError):
        return False
