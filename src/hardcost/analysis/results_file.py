"""A run, a bill or an answer of `here` read back from the JSON that `show.json` writes.

It is a user's file, and checked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from auditrules.library.files import LARGEST_TEXT, content
from auditrules.model.location import Location
from hardcost.errors import InputError, Problem
from hardcost.files import json_value
from hardcost.model.finding.bill import Bill
from hardcost.model.finding.here import HereFinding
from hardcost.model.finding.study import StudyFinding

_LARGEST = 256 << 20  # bytes; a run of 500 controls has some 20 MiB
_MOST_PROBLEMS = 5
_HINT = "a result is what `run`, `bill` and `report --format json` print"
_HERE_HINT = "an answer is what `hardcost here --format json` prints"
_BILL, _STUDY = TypeAdapter(Bill), TypeAdapter(StudyFinding)
_HERE = TypeAdapter(HereFinding)

_HEAD = ("run", "study", "machine", "instrument", "environment")
_COMPARED: Mapping[str, Mapping[str, object]] = {
    "cells": dict.fromkeys(("ratio", "ratio_low", "ratio_high", "minimum", "difference")),
    "totals": {},
    "items": {"unit": "", "share": 0.0, "alone": None, "fired": None},
    "least": {"placebos": 0},
    "fixed": {},
}
"""The lists that a comparison needs, with what it doesn't need of each of their elements.

The rest of a file is not looked at, so that it may be an earlier version's.
"""


def finding_of(path: Path) -> Bill | StudyFinding:
    """Return the run or bill in a file of JSON, as far as it can be compared with another.

    Raises:
        InputError: It can't be read, or is no result of `run`, `bill` or `report`.
    """
    value = _object(path, "the result", _LARGEST, _HINT)
    if "compared_to" in value:
        raise InputError(
            "this is a comparison of two runs already",
            place=Location(str(path)),
            hint="name the results of `run` or `bill --format json`",
        )
    try:
        return _parse_result(value)
    except ValidationError as error:
        raise InputError.of(_problems(path, error, _HINT)) from None


def here_answer_of(path: Path) -> HereFinding:
    """Return the answer of `hardcost here` in a file of JSON.

    Raises:
        InputError: It can't be read, or is no such answer.
    """
    value = _object(path, "the answer", LARGEST_TEXT, _HERE_HINT)
    if value.get("kind") != "here":
        raise InputError(
            "this is no answer of `hardcost here`", place=Location(str(path)), hint=_HERE_HINT
        )
    try:
        found = _HERE.validate_python(value)
    except ValidationError as error:
        raise InputError.of(_problems(path, error, _HERE_HINT)) from None
    shares: list[float | None] = [found.share, found.first_rule]
    shares += [share for one in found.items for share in (one.share, one.records)]
    if not all(one is None or math.isfinite(one) for one in shares):
        raise InputError("a share is no finite number", place=Location(str(path)), hint=_HERE_HINT)
    return found


def _object(path: Path, what: str, most: int, hint: str) -> dict[str, Any]:
    """Return the JSON object in a file."""
    data = content(path, what, most)
    try:
        value = json_value(data)
    except ValueError as error:
        raise InputError(f"this is not JSON: {error}", place=Location(str(path))) from None
    if not isinstance(value, dict):
        raise InputError("this is no JSON object", place=Location(str(path)), hint=hint)
    return value


def _parse_result(value: Mapping[str, Any]) -> Bill | StudyFinding:
    needed: dict[str, Any] = {"machine": None, "environment": None}
    needed |= {key: value[key] for key in _HEAD if key in value}
    needed |= {
        key: _fill_in(value[key], unneeded) for key, unneeded in _COMPARED.items() if key in value
    }
    if not needed.get("totals"):
        study = _STUDY.validate_python(needed)
        return replace(study, title=study.study)
    found = _BILL.validate_python({"items": (), "profile": needed.get("study")} | needed)
    least = {one.metric: one.cost for one in found.least}
    units = {total.metric: total.unit for total in found.totals}
    return replace(
        found,
        title=found.study,
        profile_title=found.study,
        totals=tuple(replace(one, least=least.get(one.metric, 0.0)) for one in found.totals),
        items=tuple(replace(one, unit=units.get(one.metric, "")) for one in found.items),
    )


def _fill_in(elements: Any, unneeded: Mapping[str, object]) -> Any:  # noqa: ANN401  (as above)
    if not isinstance(elements, list):
        return elements
    return [{**unneeded, **one} if isinstance(one, dict) else one for one in elements]


def _problems(path: Path, error: ValidationError, hint: str) -> tuple[Problem, ...]:
    place = Location(str(path))
    return tuple(
        Problem(f"{_where(one['loc'])}: {one['msg'].lower()}", place, hint)
        for one in error.errors(include_url=False)[:_MOST_PROBLEMS]
    )


def _where(location: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in location) or "it"
