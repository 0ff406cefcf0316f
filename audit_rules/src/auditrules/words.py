"""Amounts and names in words, and texts made harmless for a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Protocol


def count(amount: int, one: str, several: str | None = None) -> str:
    """Return an amount with its noun, such as `1 control` and `70 controls`."""
    return f"{amount:,} {one if amount == 1 else several or one + 's'}"


def join_in_prose(names: Iterable[str]) -> str:
    """Return names as a list in prose: `a`, `a and b`, `a, b and c`."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


class Identity(Protocol):
    """A value that has its own text, such as a role, a workload or a location: a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __str__(self) -> str:
        """Return the text."""


def visible(what: str | Identity) -> str:
    r"""Return a text with every invisible character written as an escape, such as `\x1b`.

    Besides control characters these are direction marks, zero-width and unassigned characters, and
    every space but the plain one: none can act on a terminal or hide in a page. A byte that is not
    UTF-8, read as a surrogate, is written as the byte.
    """
    return "".join(char if char.isprintable() else _escape(char) for char in str(what))


def _escape(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) & 0xFF:02x}"
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
