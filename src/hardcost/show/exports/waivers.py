"""Waivers of controls given up, each with its cost as evidence and a reason to fill in.

As CSV for spreadsheets, as Markdown, and as OSCAL's plan of action and milestones (POA&M) in JSON
(version 1.1.2, <https://pages.nist.gov/OSCAL/resources/concepts/layer/assessment/poam/>). Names and
reasons may hold anything: in CSV and Markdown characters that could act on a terminal are escaped,
and in CSV no text acts in a spreadsheet.
"""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from hardcost.profiles.decision import Decision
from hardcost.profiles.decision_entry import GivenUp
from hardcost.show.exports import csv
from hardcost.show.exports.markdown import code, escape_text, table
from hardcost.show.text import decimals, number, percent, signed_number
from hardcost.units import visible

Writer = Callable[[Decision, datetime], str]

COLUMNS = (
    "control",
    "place",
    "source_lines",
    "ids",
    "severity",
    "metric",
    "cost",
    "low",
    "high",
    "unit",
    "baseline",
    "share_of_baseline",
    "conditions",
    "reason",
)
_OSCAL = "1.1.2"
_OURS = uuid.UUID("5b3ce1a2-0f59-5d1c-9f4e-3f0a4f4b7a10")
"""The name space of our UUIDs: the same waiver keeps its UUID from one export to the next."""
_NAMESPACE = "urn:hardcost:waivers"
_UNKNOWN = "Nothing was measured of its cost."


def csv_text(decision: Decision, _: datetime, *, raw: bool = False) -> str:
    """Return a row for each control that is given up, with a header."""
    rows = [list(_cells(one).values()) for one in decision.given_up]
    return csv.csv_text(COLUMNS, rows, raw=raw)


def markdown_text(decision: Decision, _: datetime) -> str:
    """Return a table with a row for each control that is given up."""
    header = ("control", "source", "ids", "severity", "measured cost", "conditions", "reason")
    rows = [
        (
            code(one.control),
            escape_text(source(one)),
            escape_text(" ".join(one.ids)),
            escape_text(one.severity),
            escape_text(evidence(one)),
            escape_text(one.conditions),
            escape_text(one.reason),
        )
        for one in decision.given_up
    ]
    title = f"# Waivers for {escape_text(decision.kept.title)}\n\n"
    return f"{title}{table(header, rows)}\n"


def oscal_text(decision: Decision, now: datetime) -> str:
    """Return a plan of action and milestones: an item, a risk and an observation for each control.

    A decision does not say when its costs were measured: the observations are of `now`.
    """
    title = decision.kept.title or decision.kept.name
    each = [_Waiver(one, nth, title) for nth, one in enumerate(decision.given_up)]
    plan: dict[str, Any] = {
        "uuid": _uuid(title),
        "metadata": {
            "title": f"Waivers for {visible(title)}",
            "last-modified": now.isoformat(timespec="seconds"),
            "version": "1",
            "oscal-version": _OSCAL,
        },
        "observations": [one.observation(now) for one in each],
        "risks": [one.risk() for one in each],
        "poam-items": [one.item() for one in each],
    }
    if not each:
        del plan["observations"], plan["risks"]
    return json.dumps({"plan-of-action-and-milestones": plan}, indent=2, allow_nan=False) + "\n"


WRITERS: dict[str, Writer] = {
    csv.CSV: csv_text,
    csv.RAW: functools.partial(csv_text, raw=True),
    "markdown": markdown_text,
    "oscal": oscal_text,
}


def evidence(one: GivenUp) -> str:
    """Return the measured cost of a control, as a sentence."""
    if not one.metric:
        return _UNKNOWN
    digits = decimals([one.cost, one.low, one.high, one.baseline])
    interval = ""
    if one.low != one.high:
        interval = f" (95 % interval {number(one.low, digits)} to {number(one.high, digits)})"
    share, of = _share(one), ""
    if share:
        of = f", {percent(share)} of the {number(one.baseline, digits)} without the profile"
    return f"{one.metric}: {signed_number(one.cost, digits)} {one.unit}{interval}{of}."


def source(one: GivenUp) -> str:
    """Return the location of a control, and its original text if it was rewritten."""
    written = "; ".join(one.stands_for)
    return f"{one.place}: {written}" if one.place and written else one.place or written


def _cells(one: GivenUp) -> dict[str, str | float | None]:
    """Return the cells of a row by their columns; unknown numbers are None."""
    measured: dict[str, float | None] = {
        "cost": one.cost,
        "low": one.low,
        "high": one.high,
        "baseline": one.baseline,
        "share_of_baseline": _share(one),
    }
    cells = {
        "control": one.control,
        "place": one.place,
        "source_lines": "; ".join(one.stands_for),
        "ids": " ".join(one.ids),
        "severity": one.severity,
        "metric": one.metric,
        "unit": one.unit,
        "conditions": one.conditions,
        "reason": one.reason,
        **(measured if one.metric else dict.fromkeys(measured)),
    }
    return {name: cells[name] for name in COLUMNS}


def _share(one: GivenUp) -> float | None:
    return one.cost / one.baseline if one.metric and one.baseline > 0 else None


class _Waiver:
    """A control that is given up, as OSCAL's objects.

    OSCAL's titles and properties are single lines: a title shows a control as reports do, and what
    may hold anything is in descriptions and remarks.
    """

    def __init__(self, one: GivenUp, nth: int, title: str) -> None:
        self.one = one
        self.shown = visible(one.control)
        self.name = f"{title}\0{one.control}\0{one.metric}\0{nth}"

    def observation(self, now: datetime) -> dict[str, Any]:
        """Return the measured cost."""
        return {
            "uuid": _uuid(self.name, "observation"),
            "title": f"Cost of {self.shown}",
            "description": self.one.conditions or "The decision does not say how it was measured.",
            "methods": ["TEST"],
            "relevant-evidence": [{"description": evidence(self.one)}],
            "collected": now.isoformat(timespec="seconds"),
        }

    def risk(self) -> dict[str, Any]:
        """Return the risk that is accepted."""
        return {
            "uuid": _uuid(self.name, "risk"),
            "title": f"Without {self.shown}",
            "description": f"This control is not applied: {self.one.control}",
            "statement": self.one.reason or "To be filled in.",
            "status": "deviation-requested",
            "related-observations": [{"observation-uuid": _uuid(self.name, "observation")}],
        }

    def item(self) -> dict[str, Any]:
        """Return the item of the plan."""
        named = f"In benchmarks: {', '.join(self.one.ids)}." if self.one.ids else ""
        written = f"Written at {source(self.one)}." if source(self.one) else ""
        props = [_property("severity", self.one.severity)] if self.one.severity else []
        cost = [_property("cost", repr(self.one.cost))] if self.one.metric else []
        return {
            "uuid": _uuid(self.name, "item"),
            "title": self.shown,
            "description": " ".join(filter(None, (evidence(self.one), named, written))),
            **({"props": [*props, *cost]} if props or cost else {}),
            "related-observations": [{"observation-uuid": _uuid(self.name, "observation")}],
            "related-risks": [{"risk-uuid": _uuid(self.name, "risk")}],
            "remarks": self.one.reason or "Reason: to be filled in.",
        }


def _property(name: str, value: str) -> dict[str, str]:
    return {"name": name, "ns": _NAMESPACE, "value": value}


def _uuid(*names: str) -> str:
    return str(uuid.uuid5(_OURS, "\0".join(names)))
