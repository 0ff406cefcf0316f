"""Diagnostics of lint, and repairs of single lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from auditrules.model.fault import Fault
from auditrules.model.location import Location
from auditrules.model.rule import Rule


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
class Diagnostic:
    """One problem at one place.

    `text` is the line concerned. `cost` is None if there is none or it is unknown. `related` are
    other lines that contribute.
    """

    code: str
    level: Level
    message: str
    spot: Location
    text: str = ""
    remedy: str = ""
    cost: Cost | None = None
    related: tuple[Location, ...] = ()


@dataclass(frozen=True)
class Repair:
    """One line's repair: the text that takes the place of the line's, None where it is removed.

    `code` is the diagnostic; `what` says what is done. `safe`: it is proved that all lines record
    the same afterwards.
    """

    place: Location
    code: str
    before: str
    after: str | None
    what: str
    safe: bool = False


def location_of(rule: Rule | None, column: int | None = None) -> Location:
    """Return where a rule stands."""
    if rule is None or rule.place is None:
        return Location("")
    return rule.place.at(column)


def of_fault(
    code: str,
    level: Level,
    fault: Fault,
    texts: Mapping[Location, str],
    remedy: str = "",
) -> Diagnostic:
    """Return the diagnostic of a line that can't load; `remedy` is for a fault that names none."""
    text = texts.get(fault.place.at(None), "")
    return Diagnostic(code, level, fault.message, fault.place, text, fault.remedy or remedy)
