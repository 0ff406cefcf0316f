"""What a watch saw becomes totals and series of the recorders."""

from typing import Any

import pytest

from hardcost.errors import TrialError
from hardcost.instruments import audit, avc, cpu
from tests.protocol.json_messages import typed

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
        "split": 0,
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


def ran(name: str, **more: object) -> dict[str, Any]:
    return {"event": "ran", "name": name, **more}


COPY = ran("copy", begin=1_000, end=50_000_000)
STARTED = {"event": "started", "name": "auditd", "begin": None, "end": None}


def without(part: str) -> list[dict[str, Any]]:
    return [WATCHED | {part: None}, COPY]


def test_what_processes_had_is_reported_in_ticks() -> None:
    seen = cpu.observation_of(typed([STARTED, COPY, WATCHED]))
    assert seen.totals == {"cp": 36e6, "idle (process)": 3e6, "idle": 21e6}
    assert sum(seen.totals.values()) == WATCHED["ticks"]
    assert list(seen.series["cp"]) == [30e6, 6e6]
    assert list(seen.series["user"]) == [30e6, 0]
    assert list(seen.times) == [30e6, 60e6]
    assert seen.own_ticks == 300e3
    assert [(step.name, step.begin, step.end) for step in seen.steps] == [("copy", 1e3, 50e6)]
    assert not seen.steps[0].is_measured
    measured = cpu.observation_of(typed([COPY | {"ticks": 5}, WATCHED])).steps
    assert measured[0].is_measured


def test_selinuxs_lookups_are_counted() -> None:
    seen = avc.observation_of(typed([COPY, WATCHED]))
    assert seen.totals == {"lookups": 10, "hits": 9, "misses": 1}
    assert list(seen.series["misses"]) == [0, 1]
    assert len(seen.times) == 2


def test_what_a_guest_does_not_have_is_not_zero_but_absent() -> None:
    assert avc.observation_of(typed(without("avc"))).totals == {}
    assert cpu.observation_of(typed(without("cpu"))).totals == {}
    assert audit.observation_of(typed(without("audit"))).totals == {}
    assert audit.observation_of(typed(without("audit"))).series == {}


def test_what_daemons_wrote_down_is_counted_by_key_and_in_all() -> None:
    logged = audit.Logged(by_key={"x": 3}, records=9, lost=4)
    seen = audit.observation_of(typed([COPY, WATCHED]), logged)
    assert seen.totals == {"key:x": 3, "records": 9, "lost": 4, "backlog_peak": 40}


def test_the_probe_counts_events_where_it_is_the_audit_daemon() -> None:
    first = {"records": 5, "lost": 0, "by_key": {"perm_mod": 3, "": 2}}
    second = {"records": 1, "lost": 0, "by_key": {"perm_mod": 1}}
    seen = audit.observation_of(typed([ran("a", audit=first), ran("b", audit=second), WATCHED]))
    assert seen.totals["key:perm_mod"] == 4
    assert seen.totals["key:(none)"] == 2
    assert seen.totals["events"] == 6
    assert seen.totals["lost"] == 3


@pytest.mark.parametrize("part", [cpu, audit, avc])
def test_without_a_watch_there_is_nothing_to_tell(part: Any) -> None:  # noqa: ANN401  (a module)
    with pytest.raises(TrialError, match="'watched' 0 times"):
        part.observation_of(typed([COPY]))


@pytest.mark.parametrize(
    ("place", "value"),
    [("ticks", 0), ("own", -1), ("cpu", {"processors": 1}), ("times", "x"), ("new", 1)],
)
def test_a_watch_with_a_wrong_field_fails_the_trial(place: str, value: object) -> None:
    with pytest.raises(TrialError, match=f"'watched' has a wrong field, {place}"):
        typed([WATCHED | {place: value}])
