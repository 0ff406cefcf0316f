"""Records of audit in the logs of auditd and syslog, counted for the recorder `audit`."""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.instruments.audit import Logged
from hardcost.mechanisms import replies
from hardcost.protocol.answers import Answer


def count_logged(answers: Sequence[Answer]) -> Logged:
    """Return the counts in the daemons' logs; a daemon that did not run has none.

    Where syslog got no record, none was sent to it: then none was dropped.
    """
    totals, written = (
        _numbers_counted(answers, "audit-log"),
        _numbers_counted(answers, "syslog-totals"),
    )
    before, after = (
        _numbers_printed(answers, "audit-status"),
        _numbers_printed(answers, "audit-end"),
    )
    log = replies.counted_answer(answers, "audit-log")
    came, records = written.get("audit", 0), totals.get("records")
    received = _numbers_counted(answers, "syslog-received").get("audit")
    return Logged(
        by_key=dict(log.texts) if log else {},
        records=records,
        events=totals.get("events"),
        bytes_logged=totals.get("bytes"),
        lost=after["lost"] - before.get("lost", 0) if "lost" in after else None,
        syslog_records=came or None,
        syslog_dropped=max(0, records - came)
        if came and records is not None and totals.get("whole")
        else None,
        forward_records=received if came else None,
        forward_dropped=max(0, came - received) if came and received is not None else None,
        syslog_limited=written.get("limited"),
    )


def _numbers_counted(answers: Sequence[Answer], name: str) -> dict[str, int]:
    found = replies.counted_answer(answers, name)
    return found.numbers if found else {}


def _numbers_printed(answers: Sequence[Answer], name: str) -> dict[str, int]:
    return replies.numbers(answers, name) if replies.has_run(answers, name) else {}
