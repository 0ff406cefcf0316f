"""Audit rules that can't be loaded, found before anything is fetched or booted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.loading import Fate, load_rules
from hardcost.auditrules.rule import Fault, RulesError
from hardcost.cli.rules.common import NOWHERE
from hardcost.controls.control import AuditDaemon, AuditRule
from hardcost.errors import InputError
from hardcost.profiles.written import problems_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.loading import Line
    from hardcost.controls.control import Profile


def check(profile: Profile) -> None:
    """Check that auditctl would load every audit rule of a profile.

    Where the profile's files ask auditctl to go on (-i, -c), nothing is checked: the guest's own
    auditctl says then what it left out.

    Raises:
        InputError: It would refuse some; all are reported at once, as `hardcost rules lint` does.
    """
    if any(isinstance(one, AuditDaemon) and one.tolerant for one in profile.controls):
        return
    rules = [one.rule for one in profile.controls if isinstance(one, AuditRule)]
    found = load_rules(rules, NOWHERE.likely_target(rules), profile.name)
    faults = tuple(_faults(found.lines))
    if faults:
        raise InputError.of(problems_of(RulesError(faults)))


def _faults(lines: Iterable[Line]) -> Iterable[Fault]:
    """Yield why lines can't be loaded."""
    for line in lines:
        place = line.reading.place
        if line.fault is not None:
            yield Fault(
                f"{line.fault.message}: `{line.reading.text}`",
                line.fault.file,
                line.fault.line,
                line.fault.remedy,
                line.fault.column,
            )
        elif line.fate is Fate.TWICE:
            earlier = line.earlier.source if line.earlier else None
            first = f" by {earlier.place}" if earlier and earlier.place else ""
            yield Fault(
                f"the same rule is already loaded{first}: `{line.reading.text}`",
                place.file,
                place.line,
                "auditctl stops at a rule that is already loaded: remove this line",
            )
