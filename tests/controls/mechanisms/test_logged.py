"""What daemons wrote down of audit is counted for the recorder, and no more than is known."""

from __future__ import annotations

from typing import Any

from tests.protocol.said import typed

from hardcost.controls.mechanisms.logged import logged
from hardcost.instruments.audit import NOTHING_LOGGED


def ran(name: str, stdout: str) -> dict[str, Any]:
    return {"event": "ran", "name": name, "stdout": stdout}


def test_where_no_daemon_ran_nothing_is_counted() -> None:
    assert logged(typed([ran("copy", "lost 7\n")])) == NOTHING_LOGGED


def totals(*answers: dict[str, Any]) -> dict[str, float]:
    return logged(typed(answers)).totals


def test_events_are_counted_in_auditds_log() -> None:
    log = ran("audit-log", "perm_mod 120\ndelete 7\n(none) 2\nodd line\n")
    counted = ran("audit-totals", "records 400\nevents 130\nwhole yes\nbytes 90000\nfiles 1\n")
    status = [ran("audit-status", "enabled 1\nlost 5\n"), ran("audit-end", "enabled 1\nlost 9\n")]
    seen = logged(typed([*status, log, counted]))
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
    whole = ran("audit-totals", "records 400\nwhole yes\n")
    written = ran("syslog-totals", "audit 300\nlimited 90\nbeginnings 1\nreceived 250\n")
    found = totals(whole, written)
    assert (found["syslog_records"], found["syslog_dropped"]) == (300, 100)
    assert (found["forward_records"], found["forward_dropped"]) == (250, 50)
    assert found["syslog_limited"] == 90


def test_nothing_is_called_dropped_where_that_cannot_be_known() -> None:
    none = ran("syslog-totals", "audit 0\nlimited 0\n")
    whole = ran("audit-totals", "records 400\nwhole yes\n")
    assert "syslog_dropped" not in totals(whole, none)
    rotated = ran("audit-totals", "records 400\nwhole no\n")
    some = ran("syslog-totals", "audit 300\nlimited 0\n")
    assert "syslog_dropped" not in totals(rotated, some)
