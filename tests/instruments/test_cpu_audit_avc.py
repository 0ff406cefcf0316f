"""What a watch saw becomes totals and series of the instruments that ride along."""

from typing import Any

import pytest

from hardcost.errors import TrialError
from hardcost.instruments import audit, avc, cpu
from hardcost.instruments.watchanswer import watched

WATCHED: dict[str, Any] = {
    "event": "watched",
    "period": 10_000_000,
    "ticks": 60_000_000,
    "nanoseconds": 20_000_000,
    "times": [30_000_000, 60_000_000],
    "own": 100_000,
    "cpu": {
        "processors": 1,
        "processes": {"cp": 12_000_000, "idle": 1_000_000},
        "idle": 7_000_000,
        "series": {"cp": [10_000_000, 2_000_000], "idle": [0, 7_000_000]},
        "user": [10_000_000, 0],
        "system": [0, 0],
        "exact": True,
    },
    "audit": {
        "lost": 3,
        "backlog_peak": 40,
        "lost_series": [0, 3],
        "backlog_series": [40, 0],
    },
    "avc": {
        "totals": {"lookups": 10, "hits": 9, "misses": 1},
        "series": {"lookups": [4, 6], "hits": [4, 5], "misses": [0, 1]},
    },
}


def ran(name: str, stdout: str = "", **more: object) -> dict[str, Any]:
    return {"event": "ran", "name": name, "stdout": stdout, "begin": None, "end": None, **more}


COPY = ran("copy", begin=1_000, end=50_000_000)
STARTED = {"event": "started", "name": "auditd", "begin": None, "end": None}


def without(part: str) -> list[dict[str, Any]]:
    return [WATCHED | {part: None}, COPY]


def test_what_processes_had_is_told_in_ticks() -> None:
    seen = cpu.observed([STARTED, COPY, WATCHED])
    assert seen.totals == {"cp": 36e6, "idle (process)": 3e6, "idle": 21e6}
    assert sum(seen.totals.values()) == WATCHED["ticks"]
    assert list(seen.series["cp"]) == [30e6, 6e6]
    assert list(seen.series["user"]) == [30e6, 0]
    assert list(seen.times) == [30e6, 60e6]
    assert seen.own_ticks == 300e3
    assert [(step.name, step.begin, step.end) for step in seen.steps] == [("copy", 1e3, 50e6)]
    assert not seen.steps[0].is_measured
    measured = cpu.observed([COPY | {"ticks": 5}, WATCHED]).steps
    assert measured[0].is_measured


def test_selinuxs_lookups_are_counted() -> None:
    seen = avc.observed([COPY, WATCHED])
    assert seen.totals == {"lookups": 10, "hits": 9, "misses": 1}
    assert list(seen.series["misses"]) == [0, 1]
    assert len(seen.times) == 2


def test_what_a_guest_does_not_have_is_not_zero_but_absent() -> None:
    assert avc.observed(without("avc")).totals == {}
    assert cpu.observed(without("cpu")).totals == {}
    assert audit.observed(without("audit")).totals == {}
    assert audit.observed(without("audit")).series == {}


def test_events_are_counted_in_auditds_log() -> None:
    log = ran("audit-log", "perm_mod 120\ndelete 7\n(none) 2\nodd line\n")
    totals = ran("audit-totals", "records 400\nevents 130\nwhole yes\nbytes 90000\nfiles 1\n")
    status = [ran("audit-status", "enabled 1\nlost 5\n"), ran("audit-end", "enabled 1\nlost 9\n")]
    seen = audit.observed([*status, COPY, WATCHED, log, totals])
    assert seen.totals == {
        "key:perm_mod": 120,
        "key:delete": 7,
        "key:(none)": 2,
        "records": 400,
        "events": 130,
        "bytes_logged": 90_000,
        "lost": 4,
        "backlog_peak": 40,
    }
    assert seen.series == {"lost": (0, 3), "backlog": (40, 0)}


def test_what_did_not_reach_syslog_was_dropped() -> None:
    logged = ran("audit-totals", "records 400\nwhole yes\n")
    written = ran("syslog-totals", "audit 300\nlimited 90\nbeginnings 1\nreceived 250\n")
    totals = audit.observed([WATCHED, logged, written]).totals
    assert (totals["syslog_records"], totals["syslog_dropped"]) == (300, 100)
    assert (totals["forward_records"], totals["forward_dropped"]) == (250, 50)
    assert totals["syslog_limited"] == 90


def test_nothing_is_called_dropped_where_that_cannot_be_known() -> None:
    none = ran("syslog-totals", "audit 0\nlimited 0\n")
    whole = ran("audit-totals", "records 400\nwhole yes\n")
    assert "syslog_dropped" not in audit.observed([WATCHED, whole, none]).totals
    rotated = ran("audit-totals", "records 400\nwhole no\n")
    some = ran("syslog-totals", "audit 300\nlimited 0\n")
    assert "syslog_dropped" not in audit.observed([WATCHED, rotated, some]).totals


def test_the_probe_counts_events_where_it_is_the_audit_daemon() -> None:
    first = {"records": 5, "lost": 0, "by_key": {"perm_mod": 3, "": 2}}
    second = {"records": 1, "lost": 0, "by_key": {"perm_mod": 1}}
    seen = audit.observed([ran("a", audit=first), ran("b", audit=second), WATCHED])
    assert seen.totals["key:perm_mod"] == 4
    assert seen.totals["key:(none)"] == 2
    assert seen.totals["events"] == 6
    assert seen.totals["lost"] == 3


@pytest.mark.parametrize("part", [cpu, audit, avc])
def test_without_a_watch_there_is_nothing_to_tell(part: Any) -> None:  # noqa: ANN401  (a module)
    with pytest.raises(TrialError, match="did not tell"):
        part.observed([COPY])


@pytest.mark.parametrize(
    ("place", "value"), [("ticks", 0), ("own", -1), ("cpu", {"processors": 1}), ("times", "x")]
)
def test_a_watch_that_makes_no_sense_fails_the_trial(place: str, value: object) -> None:
    with pytest.raises(TrialError, match=f"makes no sense: {place}"):
        watched([WATCHED | {place: value}])
