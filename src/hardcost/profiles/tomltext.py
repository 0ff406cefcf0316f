"""Texts and arrays as TOML writes them, for profiles that hardcost makes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def array(key: str, texts: Iterable[str]) -> list[str]:
    """Return the lines of a TOML array with an element on each, or none for an empty one."""
    lines = [f"    {quoted(text)}," for text in texts]
    return [f"{key} = [", *lines, "]"] if lines else []


def quoted(text: str) -> str:
    """Return text as a TOML string; JSON's are the same, but for one more control character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
