"""A finding as text for the store, and back: also those that earlier versions saved."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from auditrules.model.location import Location
from hardcost.analysis.bill import time_and_count
from hardcost.analysis.whole_finding import with_derived_values
from hardcost.errors import StoreError
from hardcost.files import json_value
from hardcost.model.finding.bill import Bill, Bills
from hardcost.model.finding.calls import Calls
from hardcost.model.finding.choice import Advised
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.study import StudyFinding
from hardcost.model.finding.trace import Traces
from hardcost.model.role import Role
from hardcost.model.workload import MetricId, Workload

_Object = dict[str, Any]

_TEXTS = (Workload, MetricId, Location, *get_args(get_args(Role)[0]))
"""The types that a finding in the store has as text."""

_READERS: Mapping[str, TypeAdapter[Finding]] = {
    kind: TypeAdapter(of)
    for kind, of in (
        ("bill", Bill),
        ("bills", Bills),
        ("choice", Advised),
        ("study", StudyFinding),
        ("calls", Calls),
        ("trace", Traces),
    )
}


def finding_to_text(finding: Finding) -> str:
    """Return a finding as text for the store, with the fields that its JSON leaves out."""
    return json.dumps(_plain(finding))


def finding_from_text(text: str) -> Finding:
    """Return the finding that `finding_to_text` made `text` of, be it an earlier version's.

    Raises:
        StoreError: It is damaged.
    """
    try:
        saved = json_value(text)
        document = upgrade_finding(saved)
        found = _READERS[document["kind"]].validate_python(document)
        return found if document is saved else _complete_earlier(found, saved)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        raise StoreError("the run's finding in the store can't be read") from error


def _plain(value: object) -> object:
    """Return a value as JSON has it, without the fields that a dataclass works out itself."""
    if isinstance(value, _TEXTS):
        return str(value)
    if dataclasses.is_dataclass(value):
        own = (one for one in dataclasses.fields(value) if one.init)
        return {one.name: _plain(getattr(value, one.name)) for one in own}
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value


_OF_ALL = (
    *("run", "study", "machine", "instrument", "environment", "cells", "notes"),
    *("title", "command", "folder", "scores"),
)
_OF_STUDIES = (
    *("failures", "levels", "successive"),
    *("asked", "about", "scale", "unexercised"),
)


def upgrade_finding(old: _Object) -> _Object:
    """Return a saved finding in today's form, as far as no analysis is needed.

    Keys that went, such as a trace's `modelled`, are ignored where it is read.

    Before version 1, one form had the fields of all kinds of findings: those that a kind did not
    use were null or empty.
    """
    if "version" in old:
        return old | {"version": Traces.version} if old.get("kind") == "trace" else old
    return {key: old[key] for key in _OF_ALL if key in old} | _fields_of_kind(old)


def _fields_of_kind(old: _Object) -> _Object:
    """Return the fields that a saved finding without a version has by its kind."""
    if old.get("together"):
        together = old["together"]
        return {
            "kind": "bills",
            "bills": [upgrade_finding(one) for one in together["bills"]],
            "common": together["common"],
            "shared_baseline": together["shared"],
        }
    if old.get("bill"):
        bill = dict(old["bill"])
        bill["profile_title"] = bill.pop("title", "")
        choice = old.get("choice")
        more = {"kind": "choice", "choice": choice} if choice else {"kind": "bill"}
        return bill | {"advice": old.get("advice"), "search": old.get("search")} | more
    if old.get("traces"):
        return {"kind": "trace", "traces": old["traces"]}
    if old.get("profiles") and not old.get("levels"):
        by_control = [_of_control(one) for one in old.get("by_control") or ()]
        return {"kind": "calls", "hotspots": old["profiles"], "by_control": by_control}
    study = {key: old[key] for key in _OF_STUDIES if key in old}
    if "profiles" in old:
        study["hotspots"] = old["profiles"]
    study["failures"] = [_of_failure(one) for one in old.get("failures") or ()]
    seen = [dict(one) for one in old.get("observed") or ()]
    observed = [one | one.pop("observed") for one in seen]
    return study | {"kind": "study", "source": old.get("published"), "observed": observed}


def _of_failure(old: _Object) -> _Object:
    """Return a failure whose reason does not begin with the trial's name."""
    name = f"{old['configuration']}, {old['workload']}: "
    return old | {"reason": old["reason"].removeprefix(name)}


def _of_control(old: _Object) -> _Object:
    moved = ((one, one["own_after"] - one["own_before"]) for one in old["profiled"]["functions"])
    return {
        "control": old["control"],
        "place": old["place"],
        "metric": old["profiled"]["metric"],
        "cost": old["profiled"]["cost"],
        "functions": [{"function": one["function"], "own": own} for one, own in moved if own],
    }


def _complete_earlier(found: Finding, old: _Object) -> Finding:
    """Return the finding with the values that earlier versions worked out when they showed one."""
    if isinstance(found, Bill) and old.get("counted"):
        counted = _READERS["bill"].validate_python(upgrade_finding(old["counted"]))
        if isinstance(counted, Bill):
            found = time_and_count.add_counts(found, counted)
    return with_derived_values(found)
