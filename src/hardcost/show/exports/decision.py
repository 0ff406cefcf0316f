"""A decision's file: the profile that an advice keeps, and the controls given up, with why."""

from __future__ import annotations

import dataclasses

from hardcost.controls.control import Profile
from hardcost.model.finding.choice import Advised, Choice
from hardcost.profiles.decision import Decision, decision_text
from hardcost.profiles.decision_entry import GivenUp
from hardcost.show.sentences.choice import choice_sentences
from hardcost.show.text import percent
from hardcost.units import count

_SEVERITIES = frozenset({"high", "medium", "low", "info", "unknown"})


def decision(kept: Profile, finding: Advised) -> str:
    """Return the file of the controls that an advice keeps and gives up.

    Raises:
        InputError: A control can't be written.
    """
    choice = finding.choice
    profile = dataclasses.replace(
        kept,
        title=f"{kept.title}, without {count(len(choice.given_up), 'control')}",
        notes=(*kept.notes, _heading(choice, finding)),
    )
    environment = finding.environment
    measured = [f"instrument {finding.instrument}", f"machine {finding.machine}"]
    measured += [f"{key} {environment[key]}" for key in ("kernel", "qemu") if key in environment]
    conditions = ", ".join([*measured, f"run {finding.run}"])
    unkeepable = choice_sentences(choice)[0]
    given_up = tuple(
        GivenUp(
            control=one.control,
            place=one.where,
            stands_for=one.stands_for,
            ids=one.ids,
            severity=one.severity if one.severity in _SEVERITIES else "",
            metric=str(one.metric),
            cost=one.cost,
            low=one.low,
            high=one.high,
            unit=one.unit,
            baseline=one.baseline,
            conditions=conditions,
            reason=unkeepable if one not in choice.abandoned else "",
        )
        for one in choice.given_up
    )
    return decision_text(Decision(profile, given_up))


def _heading(choice: Choice, finding: Advised) -> str:
    """Return the heading of the decision's file."""
    costs = ", ".join(f"{one.metric} +{percent(one.share)}" for one in choice.after)
    return f"measured with what is kept: {costs} (run {finding.run})"
