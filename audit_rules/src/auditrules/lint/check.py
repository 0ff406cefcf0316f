"""A diagnostic's file, as a value, and the documentation in it.

Such a file, in `findings/`, has its code, its level, a docstring and `find`. The docstring's first
line is the title; its paragraphs begin with What, Why, Example and Remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level

SECTIONS = ("What", "Why", "Example", "Remedy")

_SECTION = re.compile(rf"^({'|'.join(SECTIONS)}): *", re.MULTILINE)


class LintCheck(Protocol):
    """A diagnostic's file, as a value: the module itself."""

    CODE: str
    LEVEL: Level
    __doc__: str | None

    def find(self, context: Context) -> Iterable[Diagnostic]:
        """Yield each occurrence."""


@dataclass(frozen=True)
class Documentation:
    """The documentation in a diagnostic's file."""

    code: str
    level: Level
    text: str

    @cached_property
    def title(self) -> str:
        """The first line."""
        return self.text.split("\n", 1)[0].rstrip(".")

    @cached_property
    def sections(self) -> Mapping[str, str]:
        """The text of each of the `SECTIONS`; an example keeps its lines."""
        parts = _SECTION.split(self.text)
        found = dict(zip(parts[1::2], parts[2::2], strict=True))
        return {name: _unwrap(name, text) for name, text in found.items()}


def documentation(check: LintCheck) -> Documentation:
    """Return the documentation in a diagnostic's file."""
    return Documentation(check.CODE, check.LEVEL, (check.__doc__ or check.CODE).strip())


def _unwrap(name: str, text: str) -> str:
    if name == "Example":
        return "\n".join(line.removeprefix("    ") for line in text.strip("\n").split("\n")).strip()
    return " ".join(text.split())
