"""All that a profile of a SCAP datastream requires, as controls, with each rule accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from auditrules.load import watched_paths
from auditrules.model.location import Location
from hardcost.controls.control import Controls, Profile, combine_controls
from hardcost.errors import InputError
from hardcost.mechanisms.audit import Origin, controls_of
from hardcost.model.accounts import Accounted, RuleOutcome
from hardcost.profiles.importers.scap import account
from hardcost.profiles.importers.scap.datastream import Selected, selection_of
from hardcost.profiles.importers.scap.rules import as_rule_set, rules_of_selected
from hardcost.profiles.importers.scap.settings import RequiredSettings, settings_of_selected
from hardcost.units import count

_WORDS: dict[RuleOutcome, str] = {
    "no-run-time-cost": "no run-time cost",
    "not-priced": "not priced",
}


def load_scap_profile(path: Path, wanted: str, tailoring: Path | None = None) -> Profile:
    """Return all that a profile of a SCAP datastream requires, as a profile.

    Raises:
        InputError: A file is not what it should be, or the profile asks for nothing that hardcost
            has a control for.
    """
    chosen, found = required_controls(path, wanted, tailoring)
    listed = found.with_companions()
    if not listed:
        rules = count(len(chosen.rules), "rule")
        raise InputError(
            f"hardcost has a control for none of the {rules} of {wanted}",
            place=Location(str(path)),
        )
    return Profile(
        name=f"{path} {wanted}",
        title=chosen.title,
        source=f"{path}, profile {chosen.profile}",
        controls=listed,
        notes=found.notes,
        accounting=found.accounting,
    )


def required_controls(
    path: Path, wanted: str, tailoring: Path | None = None, shown: Callable[[Path], str] = str
) -> tuple[Selected, Controls]:
    """Return the selection of a profile of a SCAP datastream, and its controls.

    Raises:
        InputError: A file is not what it should be, or can't be read.
    """
    chosen = selection_of(path, wanted, tailoring)
    return chosen, controls_of_selected(chosen, shown(path))


def controls_of_selected(chosen: Selected, name: str) -> Controls:
    """Return the controls that a profile of the datastream called `name` selects."""
    audit = rules_of_selected(chosen)
    origins: dict[tuple[Location, str], Origin] = {}
    rules = as_rule_set(audit, name, origins)
    settings = settings_of_selected(chosen)
    loads = bool(rules.rules) or rules.backlog_limit is not None or bool(rules.options)
    found = combine_controls(
        [
            Controls(
                controls_of(rules, origins) if loads else (),
                (*chosen.notes, *rules.notes, *watched_paths.notes(rules.rules)),
            ),
            replace(
                controls_of_settings(settings), notes=()
            ),  # the accounting says what is left out
        ]
    )
    left_out = settings.left_out | {one.rule: one.why for one in audit.not_found}
    accounting = account.account_for(chosen, found.with_companions(), left_out)
    return combine_controls([found, Controls(accounting=accounting)])


def controls_of_settings(found: RequiredSettings) -> Controls:
    """Return settings as controls."""
    return Controls((*found.sysctls, *found.boots, *found.system), tuple(found.notes))


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
