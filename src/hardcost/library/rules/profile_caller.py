"""The rules of profiles, for calls of the rules engine."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from auditrules.library.caller import Caller, Tell
from auditrules.model.location import Location
from auditrules.model.rule import Reading
from auditrules.read import parse
from hardcost.controls.control import Control, Profile, of_kind
from hardcost.errors import InputError
from hardcost.measure.monitor import Monitor
from hardcost.mechanisms.audit import AUDIT, AuditDaemon, audit_rules, is_tolerant
from hardcost.profiles import catalogue
from hardcost.profiles.control_tables import PackageRoot
from hardcost.supply.packages.debian import package_root
from hardcost.units import count, join_in_prose


class ProfileCaller(Caller):
    """Passes events to a monitor, and knows profiles by name."""

    program = "hardcost"
    verbs = "hardcost rules"

    def __init__(self, monitor: Monitor, packages: PackageRoot = package_root) -> None:
        """Have a monitor hear of events; `packages` finds the Debian packages of profiles."""
        self.monitor = monitor
        self._packages = packages

    def note(self, text: str) -> None:
        """Hear a line for the user."""
        self.monitor.note(text)

    def work(self) -> AbstractContextManager[Tell]:
        """Give a function that reports the progress of long work."""
        return self.monitor.work()

    def knows(self, text: str) -> bool:
        """Say whether a text names a profile, or a file of something else than lines of rules."""
        return text in catalogue.names() or catalogue.holds_no_rules(Path(text))

    def rules_named(self, text: str) -> tuple[Reading, ...]:
        """Return the lines of a profile's audit rules; a note lists its other controls.

        Raises:
            InputError: There is no such profile, or it has none.
        """
        found = catalogue.load(text, self._packages)
        rules = audit_rules(found.controls)
        others = [one for one in found.controls if one.mechanism != AUDIT.name]
        if not rules:
            raise InputError(
                f"{found.name} has no audit rules, and this verb is about them",
                hint=f"`hardcost bill {shlex.quote(found.name)}` measures its {_kinds(others)}",
            )
        if others:
            self.note(
                f"only the {count(len(rules), 'audit rule')} of {found.name}; its {_kinds(others)}"
                f" {'is' if len(others) == 1 else 'are'} for `hardcost bill`"
            )
        nowhere = Location(found.name, 1)
        return (
            *(parse.read_line(text, nowhere) for text in _daemon_lines(found)),
            *(parse.read_line(rule.text, rule.place or nowhere) for rule in rules),
        )


def _daemon_lines(profile: Profile) -> list[str]:
    """Return the lines of a profile that set up the audit daemon."""
    lines = [line for one in of_kind(profile.controls, AuditDaemon) for line in one.options]
    return [*lines, "-i"] if is_tolerant(profile.controls) else lines


def _kinds(others: Sequence[Control]) -> str:
    """Return the numbers of controls of other kinds; those without a noun come last."""
    known = Counter(one.noun for one in sorted(others, key=lambda one: one.noun == Control.noun))
    return join_in_prose(count(number, noun) for noun, number in known.items()) or "audit daemon"
