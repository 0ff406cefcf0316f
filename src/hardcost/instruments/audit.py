"""`audit` counts events by key, what was lost on the way, and how long the kernel's queue was.

The queue is looked at over time. Where auditd runs, events, records and bytes are counted in its
log after the workload, and what reached syslog in syslog's; where the probe is the audit daemon it
counts events by itself. Bytes and records are whole for the trial, so that they hold what services
and checks around the workload caused as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

from hardcost.instruments.watch import steps
from hardcost.model.observation import Observed
from hardcost.protocol.answers import (
    Answer,
    CallAnswer,
    CommandAnswer,
    RanAnswer,
    WatchedAnswer,
    only,
)

NAME = "audit"
TITLE = "audit events by key, records lost or dropped, and the kernel's queue over time"
WATCH: Final = "audit"

_KEY = "key:"
_NO_KEY = "(none)"


@dataclass(frozen=True)
class Logged:
    """Audit records in the logs of a whole system's daemons, counted.

    `by_key` are events of auditd's log, which has `records`, `events` and `bytes_logged`; `lost`
    are records that the kernel lost before it. The others came to syslog and its receiver
    (`forward`), or were dropped on the way, by syslog's rate limit if `limited`. None is what was
    not counted.
    """

    by_key: Mapping[str, float] = field(default_factory=dict)
    records: float | None = None
    events: float | None = None
    bytes_logged: float | None = None
    lost: float | None = None
    syslog_records: float | None = None
    syslog_dropped: float | None = None
    forward_records: float | None = None
    forward_dropped: float | None = None
    syslog_limited: float | None = None

    @property
    def totals(self) -> dict[str, float]:
        """The counts by name."""
        every = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "by_key"}
        keys = {_KEY + key: number for key, number in self.by_key.items()}
        return keys | {name: number for name, number in every.items() if number is not None}


NOTHING_LOGGED = Logged()


def observation_of(answers: Sequence[Answer], logged: Logged = NOTHING_LOGGED) -> Observed:
    """Return the counts; those that the guest does not keep are left out.

    Raises:
        TrialError: Nothing was watched.
    """
    seen = only(answers, WatchedAnswer)
    totals = _by_probe(answers) | logged.totals
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


def _series(seen: WatchedAnswer) -> dict[str, tuple[float, ...]]:
    if seen.audit is None:
        return {}
    return {"lost": seen.audit.lost_series, "backlog": seen.audit.backlog_series}


def _by_probe(answers: Sequence[Answer]) -> dict[str, float]:
    """Return the counts of the probe as the audit daemon of measured programs."""
    counted = [
        one.audit
        for one in answers
        if isinstance(one, CallAnswer | CommandAnswer | RanAnswer) and one.audit is not None
    ]
    totals: dict[str, float] = {}
    for audit in counted:
        for key, number in audit.by_key.items():
            name = _KEY + (key or _NO_KEY)
            totals[name] = totals.get(name, 0.0) + number
    if counted:
        totals["events"] = sum(audit.records for audit in counted)
    return totals
