"""Decisions written to a file and read back."""

from __future__ import annotations

from pathlib import Path

from hardcost.controls.control import Control, Profile
from hardcost.errors import InputError
from hardcost.mechanisms.audit import AuditRule
from hardcost.profiles import catalogue
from hardcost.profiles.decision import Decision, decision_text, read_decision


def comparable(controls: tuple[Control, ...]) -> list[object]:
    """Return controls with their ids, rules without their location.

    A file has them by their kinds; within a kind, rules above all, they keep their order.
    """
    kinds = sorted(controls, key=lambda one: type(one).__name__)
    return [(one.name if isinstance(one, AuditRule) else one, one.ids) for one in kinds]


def there_and_back(decision: Decision, folder: Path) -> Decision:
    """Write a decision to a file and return what is read from there."""
    path = folder / "decision.toml"
    path.write_text(decision_text(decision), encoding="utf-8")
    return read_decision(path)


def without_packages(name: str) -> Profile | None:
    """Return a profile of the catalogue; None if its rules come with a Debian package."""
    try:
        return catalogue.load(name)
    except InputError as error:
        if "the Debian package" in str(error):
            return None
        raise
