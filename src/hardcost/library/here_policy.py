"""What of a machine's hardening is accepted whatever it costs: a policy's file, and what it says.

An accepted item stays in the answer and in the sum; a limit is for what is not accepted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from auditrules.library.files import content
from auditrules.model.location import Location
from hardcost.errors import InputError, Problem
from hardcost.mechanisms.audit import AuditRule
from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.toml.read import LARGEST, TomlFile, parse, validated

_NO_DATE = "'until' is no date: write it without quotes, such as 2027-01-31"


@dataclass(frozen=True)
class Acceptance:
    """The reason why an item's cost is accepted, and the last day on which it is; None: always."""

    id: str
    reason: str
    until: date | None
    place: Location


@dataclass(frozen=True)
class HerePolicy:
    """The items whose cost is accepted, by what a file says."""

    accepted: tuple[Acceptance, ...]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("a text is blank: each `[[accept]]` has an `id` and a `reason`")
    return text.strip()


def _day(value: object) -> object:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError(_NO_DATE)  # noqa: TRY004  (what pydantic reports)
    return value


_Text = Annotated[str, AfterValidator(_not_blank)]


class _Accept(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: _Text
    reason: _Text
    until: Annotated[date | None, BeforeValidator(_day)] = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    accept: tuple[_Accept, ...] = ()


def here_policy(file: str | Path) -> HerePolicy:
    """Return the policy in a file of TOML.

    Raises:
        InputError: It is none; all mistakes are reported, each with its location.
    """
    parsed = parse(content(Path(file), "the policy", LARGEST), str(file))
    problems: list[Problem] = []
    found = validated(parsed, _File, problems)
    entries = () if found is None else found.model.accept
    problems += _repeated(parsed, entries)
    if problems:
        raise InputError.of(tuple(problems))
    return HerePolicy(
        tuple(
            Acceptance(one.id, one.reason, one.until, parsed.place("accept", nth))
            for nth, one in enumerate(entries)
        )
    )


def _repeated(file: TomlFile, entries: tuple[_Accept, ...]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for nth, one in enumerate(entries):
        if one.id in first:
            before = file.place("accept", first[one.id])
            yield file.problem(f"{one.id} is accepted already, in {before}", "accept", nth, "id")
        first.setdefault(one.id, nth)


def apply_policy(found: HereFinding, policy: HerePolicy, today: date) -> HereFinding:
    """Return an answer with what is accepted today, and the share that is not.

    What having any audit rules adds is accepted if every one of them is. What makes calls cheaper
    is not set off against what is not accepted.
    """
    valid = {one.id: one for one in policy.accepted if one.until is None or today <= one.until}
    items = tuple(
        replace(one, accepted=valid[one.id].reason) if one.id in valid else one
        for one in found.items
    )
    counted = [one for one in items if not one.by_default]
    rules = [one for one in counted if one.kind == AuditRule.noun]
    together = bool(rules) and all(one.accepted is not None for one in rules)
    parts = [(one.share or 0.0, one.accepted is not None) for one in counted]
    parts.append((found.first_rule, together))
    rest = [share for share, is_accepted in parts if share <= 0 or not is_accepted]
    return replace(
        found,
        items=items,
        not_accepted=found.share if len(rest) == len(parts) else math.fsum(rest),
        rules_accepted=together,
        notes=(*found.notes, *_remarks(policy, valid, items)),
    )


def _remarks(
    policy: HerePolicy, valid: dict[str, Acceptance], items: tuple[HereItem, ...]
) -> Iterator[str]:
    known = {one.id for one in items}
    for one in policy.accepted:
        if one.id not in valid:
            yield f"{one.place}: accepted until {one.until}, and not any more: {one.id}"
        if one.id not in known:
            nearest = _nearest(one.id, items)
            hint = "" if nearest is None else f"; this is here: {nearest}"
            yield f"{one.place}: nothing that was found here has the id {one.id}{hint}"


def _nearest(wanted: str, items: tuple[HereItem, ...]) -> str | None:
    """Return the id of an item of that name, or of that setting with another value."""
    key, equals, _ = wanted.partition("=")
    for one in items:
        is_setting = equals and one.kind != AuditRule.noun
        if one.name == wanted or (is_setting and one.id.partition("=")[0] == key):
            return one.id
    return None
