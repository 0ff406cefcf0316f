"""What lint finds: diagnostics, and the documentation in each finding's file.

A finding's file, in `findings/`, has its code, its level, a docstring and `find`. The docstring's
first line is the title; its paragraphs begin with What, Why, Example and Remedy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hardcost.auditrules.lint.context import Context
    from hardcost.auditrules.rule import Fault, Place, Rule

SECTIONS = ("What", "Why", "Example", "Remedy")

_SECTION = re.compile(rf"^({'|'.join(SECTIONS)}): *", re.MULTILINE)


class Level(StrEnum):
    """How bad it is, worst first: an error makes lint's answer "no"."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Cost:
    """Predicted instructions of the kernel for one system call, and which calls pay them."""

    instructions: float
    paid: str

    def __str__(self) -> str:
        """Return such as `19 instructions on each call that it does not name`."""
        return f"{self.instructions:,.0f} instructions {self.paid}"


@dataclass(frozen=True)
class Spot:
    """A place: lines and columns count from 1; None means the whole file or line."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """Return `file:line:column`, as compilers write it, as far as it is known."""
        known = (self.file, self.line, self.column)
        return ":".join(str(part) for part in known if part is not None)


@dataclass(frozen=True)
class Diagnostic:
    """One problem at one place.

    `text` is the line concerned. `cost` is None if there is none or it is unknown. `related` are
    other lines that contribute.
    """

    code: str
    level: Level
    message: str
    spot: Spot
    text: str = ""
    remedy: str = ""
    cost: Cost | None = None
    related: tuple[Spot, ...] = ()


@dataclass(frozen=True)
class Repair:
    """One line's repair: the text that takes the place of the line's, None where it is removed.

    `code` is the finding; `what` says what is done. `safe`: it is proved that all lines record
    the same afterwards.
    """

    place: Place
    code: str
    before: str
    after: str | None
    what: str
    safe: bool = False


class Check(Protocol):
    """A finding's file, as a value: the module itself."""

    CODE: str
    LEVEL: Level
    __doc__: str | None

    def find(self, context: Context) -> Iterable[Diagnostic]:
        """Yield each place where it occurs."""


@dataclass(frozen=True)
class Documentation:
    """The documentation in a finding's file."""

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
        return {name: _unwrapped(name, text) for name, text in found.items()}


def documentation(check: Check) -> Documentation:
    """Return the documentation in a finding's file."""
    return Documentation(check.CODE, check.LEVEL, (check.__doc__ or check.CODE).strip())


def spot_of(rule: Rule | None, column: int | None = None) -> Spot:
    """Return where a rule stands."""
    if rule is None or rule.place is None:
        return Spot("")
    return Spot(rule.place.file, rule.place.line, column)


def spot_of_fault(fault: Fault) -> Spot:
    """Return where a fault is."""
    return Spot(fault.file, fault.line, fault.column)


def of_fault(
    code: str, level: Level, fault: Fault, texts: Mapping[tuple[str, int], str], remedy: str = ""
) -> Diagnostic:
    """Return what keeps a line from loading; `remedy` is for a fault that names none."""
    text = texts.get((fault.file, fault.line or 0), "")
    return Diagnostic(
        code, level, fault.message, spot_of_fault(fault), text, fault.remedy or remedy
    )


def _unwrapped(name: str, text: str) -> str:
    if name == "Example":
        return "\n".join(line.removeprefix("    ") for line in text.strip("\n").split("\n")).strip()
    return " ".join(text.split())
