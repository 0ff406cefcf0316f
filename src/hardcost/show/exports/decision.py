"""A decision's file, as `advise` writes it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hardcost.cli import dataout
from hardcost.cli.console import note
from hardcost.errors import InputError
from hardcost.files import check_put
from hardcost.profiles import decisions
from hardcost.profiles.decisions import Decision
from hardcost.profiles.givenup import GivenUp
from hardcost.report.sentences.choicewords import choice_sentences
from hardcost.report.text import percent
from hardcost.units import count

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.analysis.advised import Choice
    from hardcost.analysis.finding import Finding
    from hardcost.controls.control import Profile

_SEVERITIES = frozenset({"high", "medium", "low", "info", "unknown"})


def check_out(out: Path) -> None:
    """Check the name of a decision's file before anything is measured.

    Raises:
        InputError: It would not be read back.
    """
    if out.suffix != ".toml":
        raise InputError(f"-o {out}: a decision's name ends in .toml", hint="such as decision.toml")
    check_put(out, "-o")


def write_decision(out: Path, kept: Profile, choice: Choice, finding: Finding) -> None:
    """Write what is kept and what is given up.

    Raises:
        InputError: Nothing is kept, or a control can't be written.
    """
    if not kept.controls:
        note(f"{out} is not written: nothing is kept")
        return
    profile = dataclasses.replace(
        kept,
        title=f"{kept.title}, without {count(len(choice.given_up), 'control')}",
        notes=(*kept.notes, _said(choice, finding)),
    )
    environment = finding.environment
    measured = [f"instrument {finding.instrument}", f"machine {finding.machine}"]
    measured += [f"{key} {environment[key]}" for key in ("kernel", "qemu") if key in environment]
    conditions = ", ".join([*measured, f"run {finding.run}"])
    unkeepable = choice_sentences(choice)[0]
    given_up = tuple(
        GivenUp(
            control=one.control,
            place=one.place,
            stands_for=one.stands_for,
            ids=one.ids,
            severity=one.severity if one.severity in _SEVERITIES else "",
            metric=one.metric,
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
    dataout.write(out, decisions.text(Decision(profile, given_up)).encode())
    note(f"decision: {out}")


def _said(choice: Choice, finding: Finding) -> str:
    """Return what the decision's file says of itself."""
    costs = ", ".join(f"{one.metric} +{percent(one.share)}" for one in choice.after)
    return f"measured with what is kept: {costs} (run {finding.run})"
