"""What auditd and syslog wrote down of audit in a trial, for the recorder `audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.mechanisms import answered
from hardcost.instruments.audit import Logged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.protocol.answers import Answer


def logged(answers: Sequence[Answer]) -> Logged:
    """Return what was counted in the daemons' logs; what did not run counted nothing.

    Where no record came to syslog, it was not sent any: then none was dropped.
    """
    totals, written = _numbers(answers, "audit-totals"), _numbers(answers, "syslog-totals")
    before, after = _numbers(answers, "audit-status"), _numbers(answers, "audit-end")
    came, records = written.get("audit", 0), totals.get("records")
    received = written.get("received")
    return Logged(
        by_key=_numbers(answers, "audit-log"),
        records=records,
        events=totals.get("events"),
        bytes_logged=totals.get("bytes"),
        lost=after["lost"] - before.get("lost", 0) if "lost" in after else None,
        syslog_records=came or None,
        syslog_dropped=max(0, records - came)
        if came and records is not None and _is_whole(answers)
        else None,
        forward_records=received if came else None,
        forward_dropped=max(0, came - received) if came and received is not None else None,
        syslog_limited=written.get("limited"),
    )


def _is_whole(answers: Sequence[Answer]) -> bool:
    """Say whether auditd's log still has its beginning."""
    return answered.words(answers, "audit-totals").get("whole") == "yes"


def _numbers(answers: Sequence[Answer], name: str) -> dict[str, int]:
    return answered.numbers(answers, name) if answered.has_run(answers, name) else {}
