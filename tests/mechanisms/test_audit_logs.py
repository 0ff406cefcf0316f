"""What daemons wrote down of audit is counted for the recorder, and no more than is known."""

from __future__ import annotations

from typing import Any

from hardcost.instruments.audit import NOTHING_LOGGED
from hardcost.mechanisms.audit_logs import count_logged
from tests.protocol.json_messages import typed


def ran(name: str, stdout: str) -> dict[str, Any]:
    return {"event": "ran", "name": name, "stdout": stdout}


def counted(name: str, texts: dict[str, int] | None = None, **numbers: int) -> dict[str, Any]:
    return {"event": "counted", "name": name, "numbers": numbers, "texts": texts or {}}


def test_where_no_daemon_ran_nothing_is_counted() -> None:
    assert count_logged(typed([ran("copy", "lost 7\n")])) == NOTHING_LOGGED


def totals(*answers: dict[str, Any]) -> dict[str, float]:
    return count_logged(typed(answers)).totals


def test_events_are_counted_in_auditds_log() -> None:
    keys = {"perm_mod": 120, "delete": 7, "(none)": 2}
    log = counted("audit-log", keys, records=400, events=130, whole=1, bytes=90_000, files=1)
    status = [ran("audit-status", "enabled 1\nlost 5\n"), ran("audit-end", "enabled 1\nlost 9\n")]
    seen = count_logged(typed([*status, log]))
    assert seen.totals == {
        "key:perm_mod": 120,
        "key:delete": 7,
        "key:(none)": 2,
        "records": 400,
        "events": 130,
        "bytes_logged": 90_000,
        "lost": 4,
    }


def test_what_did_not_reach_syslog_was_dropped() -> None:
    whole = counted("audit-log", records=400, whole=1)
    written = counted("syslog-totals", audit=300, limited=90, beginnings=1)
    received = counted("syslog-received", audit=250, limited=0, beginnings=0)
    found = totals(whole, written, received)
    assert (found["syslog_records"], found["syslog_dropped"]) == (300, 100)
    assert (found["forward_records"], found["forward_dropped"]) == (250, 50)
    assert found["syslog_limited"] == 90


def test_nothing_is_called_dropped_where_that_cannot_be_known() -> None:
    none = counted("syslog-totals", audit=0, limited=0)
    whole = counted("audit-log", records=400, whole=1)
    assert "syslog_dropped" not in totals(whole, none)
    rotated = counted("audit-log", records=400, whole=0)
    some = counted("syslog-totals", audit=300, limited=0)
    assert "syslog_dropped" not in totals(rotated, some)
