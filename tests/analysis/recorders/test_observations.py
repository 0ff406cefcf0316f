from __future__ import annotations

import math
from dataclasses import replace

import pytest

from hardcost.analysis.recorders.observations import (
    LoadCounts,
    Timeline,
    amounts_of_instrument,
    counts_during_load,
    cpu_shares,
    timelines,
)
from hardcost.model.finding.observation import ObservedIn, seen_in
from hardcost.model.observation import Observed, WatchStep
from hardcost.model.role import role_of
from hardcost.model.workload import Workload
from tests.show.guests import filecopy, selinux


def seen(seed: int, instrument: str = "cpu", **totals: float) -> ObservedIn:
    own = Observed(instrument=instrument, unit_of_totals="ticks", totals=totals, own_ticks=seed)
    return seen_in(role_of("on"), Workload("copy"), seed, 0, own)


def test_totals_are_means_over_trials_and_peaks_the_largest() -> None:
    finding = replace(
        filecopy(),
        observed=(
            seen(1, "audit", lost=2, backlog_peak=10),
            seen(2, "audit", lost=4, backlog_peak=7),
            seen(3, "cpu", cp=1),
        ),
    )
    (amounts,) = amounts_of_instrument(finding, "audit")
    assert amounts.totals == {"lost": 3, "backlog_peak": 10}
    assert (amounts.trials, amounts.own) == (2, 1.5)


def test_what_one_trial_did_not_see_counts_as_none_of_it() -> None:
    finding = replace(filecopy(), observed=(seen(1, cp=2), seen(2, rm=4)))
    (amounts,) = amounts_of_instrument(finding, "cpu")
    assert amounts.totals == {"cp": 1, "rm": 2}


def test_shares_are_of_the_busy_time_and_idle_of_all() -> None:
    finding = replace(filecopy(), observed=(seen(1, cp=30, auditd=10, idle=60),))
    (shares,) = cpu_shares(finding)
    assert shares.parts == {"cp": 0.75, "auditd": 0.25}
    assert shares.idle == 0.6


def test_shares_are_of_what_was_measured_where_that_is_known() -> None:
    steps = (
        WatchStep(name="set up", begin=0, end=1e6),
        WatchStep(name="copy", begin=1e6, end=2.5e6, is_measured=True),
    )
    own = rows("cpu", cp=(0, 6, 8), restorecon=(90, 0, 0), idle=(0, 10, 0), user=(1, 1, 1))
    own = own.model_copy(update={"steps": steps, "totals": {"cp": 14, "restorecon": 90}})
    finding = replace(filecopy(), observed=(seen_in(role_of("on"), Workload("copy"), 0, 0, own),))
    (shares,) = cpu_shares(finding)
    assert shares.parts == {"cp": 1}
    assert shares.idle == 0.5


def test_shares_add_up() -> None:
    for shares in cpu_shares(filecopy()):
        assert sum(shares.parts.values()) == pytest.approx(1)


def test_where_nothing_was_busy_there_are_no_shares() -> None:
    (shares,) = cpu_shares(replace(filecopy(), observed=(seen(1, cp=0, idle=0),)))
    assert shares.parts == {}
    assert math.isnan(shares.idle)


def test_a_total_is_reported_for_each_operation() -> None:
    loads = counts_during_load(selinux(), "avc", "lookups")
    assert loads[role_of("enforcing"), Workload("postfix")] == LoadCounts(100, 20_500)
    assert loads[role_of("enforcing"), Workload("postfix")].each == 205
    assert counts_during_load(selinux(), "avc", "nothing") == {}
    assert (
        counts_during_load(
            replace(selinux(), observed=(seen(1, "avc", lookups=5),)), "avc", "lookups"
        )
        == {}
    )


def test_rows_are_shared_out_where_a_load_begins_or_ends_between_them() -> None:
    steps = (
        WatchStep(name="a", begin=0.5e6, end=1.5e6, operations=2),
        WatchStep(name="b", begin=2.5e6, end=9e6, operations=0),
    )
    own = rows("avc", lookups=(10, 20, 60)).model_copy(update={"steps": steps})
    finding = replace(selinux(), observed=(seen_in(role_of("on"), Workload("w"), 0, 0, own),) * 2)
    assert counts_during_load(finding, "avc", "lookups") == {
        (role_of("on"), Workload("w")): LoadCounts(4, 2 * (5 + 10 + 30))
    }


def rows(instrument: str, **series: tuple[float, ...]) -> Observed:
    """Return what was seen in rows a million ticks apart."""
    (count,) = {len(values) for values in series.values()}
    times = tuple(1e6 * (nth + 1) for nth in range(count))
    return Observed(instrument=instrument, unit_of_totals="ns", times=times, series=series)


def test_a_timeline_has_at_most_so_many_stretches_and_loses_nothing() -> None:
    (line,) = timelines(rows("audit", lost=(1, 2, 3, 4, 5), backlog=(1, 9, 2, 3, 7)), 3)
    assert line.ends == (2e6, 4e6, 5e6)
    assert line.series == {"lost": (3, 7, 5), "backlog": (9, 3, 7)}


def test_processes_and_modes_are_shares_of_what_they_are_parts_of() -> None:
    seen = rows("cpu", cp=(30, 0), idle=(10, 0), user=(5, 0), system=(5, 0))
    processes, modes = timelines(seen, 10)
    assert (processes.ends, modes.ends) == ((1e6, 2e6), (2e6,))
    assert processes.series == {"cp": (0.75, 0), "idle": (0.25, 0)}
    assert modes.series == {"user": (0.25,), "system": (0.25,), "idle": (0.5,)}


def test_small_parts_of_a_timeline_are_joined() -> None:
    series = {"cp": (98.0,), "a": (1.0,), "b": (1.0,), "idle": (0.0,)}
    processes, *_ = timelines(rows("cpu", **series), 10)
    assert processes.series == {"cp": (0.98,), "idle": (0,), "(others)": (0.02,)}


def test_lookups_are_reported_by_time() -> None:
    (line,) = timelines(rows("avc", lookups=(10, 20, 60)), 2)
    assert line == Timeline("counts per million ticks", (2e6, 3e6), {"lookups": (15, 60)})


def test_without_rows_there_is_no_timeline() -> None:
    assert timelines(Observed(instrument="cpu", unit_of_totals="ns", totals={"cp": 1}), 9) == ()
