"""All that a profile of a SCAP datastream requires, as controls, with each rule accounted for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.controls import watchedpaths
from hardcost.controls.control import Profile
from hardcost.errors import InputError, Place
from hardcost.profiles.bykind import Controls, together
from hardcost.profiles.importers import scap, scapaccount, scapsettings
from hardcost.profiles.importers.scapstream import selected
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from hardcost.controls.accounted import Accounted, Outcome
    from hardcost.profiles.importers.scap import Origins
    from hardcost.profiles.importers.scapsettings import Settings
    from hardcost.profiles.importers.scapstream import Selected

_WORDS: dict[Outcome, str] = {"no-run-time-cost": "no run-time cost", "not-priced": "not priced"}


def load(path: Path, wanted: str, tailoring: Path | None = None) -> Profile:
    """Return all that a profile of a SCAP datastream requires, as a profile.

    Raises:
        InputError: A file is not what it should be, or the profile asks for nothing that hardcost
            has a control for.
    """
    chosen, found = controls(path, wanted, tailoring)
    listed = found.listed()
    if not listed:
        rules = count(len(chosen.rules), "rule")
        raise InputError(
            f"hardcost has a control for none of the {rules} of {wanted}",
            place=Place(str(path)),
        )
    return Profile(
        name=f"{path} {wanted}",
        title=chosen.title,
        source=f"{path}, profile {chosen.profile}",
        controls=listed,
        notes=found.notes,
        accounting=found.accounting,
    )


def controls(
    path: Path, wanted: str, tailoring: Path | None = None, shown: Callable[[Path], str] = str
) -> tuple[Selected, Controls]:
    """Return what a profile of a SCAP datastream selects, and its controls.

    Raises:
        InputError: A file is not what it should be, or can't be read.
    """
    chosen = selected(path, wanted, tailoring)
    return chosen, of_selected(chosen, shown(path))


def of_selected(chosen: Selected, name: str) -> Controls:
    """Return the controls of what a profile of the datastream called `name` selects."""
    audit = scap.of_selected(chosen)
    origins: Origins = {}
    rules = scap.as_rule_set(audit, name, origins)
    settings = scapsettings.of_selected(chosen)
    loads = bool(rules.rules) or rules.backlog_limit is not None or bool(rules.options)
    found = together(
        [
            Controls(
                audit=rules if loads else None,
                notes=(*chosen.notes, *rules.notes, *watchedpaths.notes(rules.rules)),
                asked=tuple(origins.items()),
            ),
            replace(of_settings(settings), notes=()),  # the accounting says what is left out
        ]
    )
    left_out = settings.left_out | {one.rule: one.why for one in audit.not_found}
    accounting = scapaccount.accounted(chosen, found.listed(), left_out)
    return together([found, Controls(accounting=accounting)])


def of_settings(found: Settings) -> Controls:
    """Return settings as controls."""
    return Controls(
        sysctls=tuple(found.sysctls),
        boots=tuple(found.boots),
        system=tuple(found.system),
        notes=tuple(found.notes),
    )


def notes(accounting: Sequence[Accounted]) -> tuple[str, ...]:
    """Return how many rules of a profile have controls, and why the others have none."""
    kinds = Counter((one.outcome, one.kind, one.why) for one in accounting)
    with_controls = sum(1 for one in accounting if one.outcome == "priced")
    lines = [
        f"{count(number, 'rule')} ({_WORDS[outcome]}): {kind}: {why}"
        for (outcome, kind, why), number in kinds.most_common()
        if outcome in _WORDS
    ]
    total = count(len(accounting), "rule")
    has = "has" if with_controls == 1 else "have"
    return (f"{with_controls} of the benchmark profile's {total} {has} controls here", *lines)
