"""`audit` counts events by key, what was lost on the way, and how long the kernel's queue was.

The queue is looked at over time. Where auditd runs, events, records and bytes are counted in its
log after the workload, and what reached syslog in syslog's; where the probe is the audit daemon it
counts events by itself. Bytes and records are whole for the trial, so that they hold what services
and checks around the workload caused as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardcost.instruments.observed import Observed
from hardcost.instruments.watchanswer import Watched, steps, watched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "audit"
TITLE = "audit events by key, records lost or dropped, and the kernel's queue over time"
WATCH = "audit"

_KEY = "key:"
_MOST_DIGITS = 15  # of a number that is still exact as a float
_NO_KEY = "(none)"


def observed(answers: Sequence[Mapping[str, Any]]) -> Observed:
    """Return the counts; what the guest does not count is left out.

    Raises:
        TrialError: Nothing was watched.
    """
    seen = watched(answers)
    totals = _by_probe(answers) | _by_auditd(answers) | _by_syslog(answers)
    if seen.audit is not None:
        totals = {"lost": seen.audit.lost, "backlog_peak": seen.audit.backlog_peak} | totals
    return Observed(
        instrument=NAME,
        unit_of_totals="count",
        totals=totals,
        times=seen.times if seen.audit else (),
        series=_series(seen),
        steps=steps(answers),
        own_ticks=seen.own_ticks,
    )


def _series(seen: Watched) -> dict[str, tuple[float, ...]]:
    if seen.audit is None:
        return {}
    return {"lost": seen.audit.lost_series, "backlog": seen.audit.backlog_series}


def _by_probe(answers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return what the probe counted as the audit daemon of measured programs."""
    counted = [one["audit"] for one in answers if isinstance(one.get("audit"), dict)]
    counted = [one for one in counted if isinstance(one.get("by_key"), dict)]
    totals: dict[str, float] = {}
    for one in counted:
        for key, number in one["by_key"].items():
            name = _KEY + (key or _NO_KEY)
            totals[name] = totals.get(name, 0.0) + number
    if counted:
        totals["events"] = sum(one["records"] for one in counted)
    return totals


def _by_auditd(answers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return what was counted in auditd's log, and what the kernel lost before it."""
    totals = {_KEY + key: number for key, number in _numbers(answers, "audit-log").items()}
    logged = _numbers(answers, "audit-totals")
    for name, own in (("records", "records"), ("events", "events"), ("bytes", "bytes_logged")):
        if name in logged:
            totals[own] = logged[name]
    before, after = _numbers(answers, "audit-status"), _numbers(answers, "audit-end")
    if "lost" in after:
        totals["lost"] = after["lost"] - before.get("lost", 0.0)
    return totals


def _by_syslog(answers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return how many records reached syslog and its receiver, and how many did not.

    Where none did, syslog was not sent any: then none was dropped.
    """
    written = _numbers(answers, "syslog-totals")
    logged = _numbers(answers, "audit-totals").get("records")
    totals: dict[str, float] = {}
    if written.get("audit"):
        totals["syslog_records"] = written["audit"]
        if logged is not None and _is_whole(answers):
            totals["syslog_dropped"] = max(0.0, logged - written["audit"])
        if "received" in written:
            totals["forward_records"] = written["received"]
            totals["forward_dropped"] = max(0.0, written["audit"] - written["received"])
    if "limited" in written:
        totals["syslog_limited"] = written["limited"]
    return totals


def _is_whole(answers: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether auditd's log still has its beginning."""
    return "whole yes" in _output(answers, "audit-totals").splitlines()


def _numbers(answers: Sequence[Mapping[str, Any]], name: str) -> dict[str, float]:
    """Return the lines `NAME NUMBER` that a program printed; others are passed over."""
    found = {}
    for line in _output(answers, name).splitlines():
        key, _, value = line.rpartition(" ")
        if key.strip() and value.isdecimal() and len(value) <= _MOST_DIGITS:
            found[key.strip()] = float(value)
    return found


def _output(answers: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return what the program `name` printed; nothing where it did not run."""
    texts = [
        one.get("stdout")
        for one in answers
        if one.get("event") == "ran" and one.get("name") == name
    ]
    return texts[0] if texts and isinstance(texts[0], str) else ""
