"""Faults of rules, with their locations."""

from __future__ import annotations

from dataclasses import dataclass

from auditrules.model.errors import InputError, Problem
from auditrules.model.location import Location


@dataclass(frozen=True)
class Fault:
    """One fault in rules.

    `remedy` is what to do about it. `elsewhere`: the rule is for another architecture, and is not
    checked.
    """

    message: str
    place: Location
    remedy: str | None = None
    elsewhere: bool = False

    def __str__(self) -> str:
        """Return `file:line:column: message`, as compilers write it."""
        return f"{self.place}: {self.message}"


class RulesError(InputError):
    """Rules can't be read; `faults` are all their faults, at least one."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self._hold(tuple(Problem(one.message, one.place, one.remedy) for one in faults))
        self.faults = faults
