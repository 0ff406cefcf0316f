from __future__ import annotations

from dataclasses import replace

import pytest

from hardcost.analysis.recorders.observations import Shares
from hardcost.model.finding.observation import seen_in
from hardcost.model.observation import Observed
from hardcost.model.role import role_of
from hardcost.model.workload import Workload, workload_of
from hardcost.show.tables.layout import Grid, render
from hardcost.show.tables.recorders import (
    event_grids,
    largest_shares,
    lookup_grids,
    loss_grids,
    observed_grids,
    processor_grids,
    share_grids,
)
from hardcost.show.tables.run import run_table
from tests.show.guests import cis, filecopy, selinux


def column(grid: Grid, header: str) -> tuple[str, ...]:
    columns = [*grid.labels, *(column for group in grid.groups for column in group.columns)]
    (found,) = (it.cells for it in columns if it.header == header)
    return found


def test_processes_stand_side_by_side_for_each_workload() -> None:
    one, *others = share_grids(filecopy())
    assert len(others) == 3
    assert one.title == (
        "filecopy: share of the busy processor time by process, while it was measured"
    )
    named = column(one, "process")
    assert named[:2] == ("cp", "rsyslogd")
    assert named[-2:] == ("(others)", "(idle, of that time)")
    assert column(one, "none")[0] == "90.0%"
    assert column(one, "stig-full")[-2:] == ("0.4%", "10.0%")
    assert column(one, "none")[1] == "0.0%"


def test_only_processes_that_took_something_are_named() -> None:
    one, *_ = share_grids(filecopy())
    assert not any(name.startswith("kworker") for name in column(one, "process"))


def test_what_the_guest_names_no_process_of_stands_in_the_one_row_of_others() -> None:
    shares = [
        Shares(
            role_of("none"),
            Workload("w"),
            {"cp": 0.9, "(others)": 0.06, "sh": 0.036, "ls": 0.004},
            0.0,
        ),
        Shares(role_of("audit"), Workload("w"), {"cp": 0.5, "auditd": 0.5}, 0.0),
    ]
    names, columns = largest_shares(shares)
    assert names == ["cp", "auditd", "sh", "(others)"]
    assert columns == [[0.9, 0.0, 0.036, pytest.approx(0.064)], [0.5, 0.5, 0.0, 0.0]]


def test_what_watching_took_is_stated() -> None:
    one, *_ = share_grids(filecopy())
    assert one.notes == ("the recorder (cpu) took at most 0.02% of the recorded time",)


def test_what_was_lost_or_dropped_is_shown_by_configuration() -> None:
    (grid,) = loss_grids(filecopy())
    assert "none" not in column(grid, "configuration")
    assert column(grid, "lost") == ("0",) * 16
    assert column(grid, "configuration")[2:4] == ("audit-syslog", "stig-full")
    assert column(grid, "dropped")[:4] == ("-", "-", "1,041", "1,041")
    assert column(grid, "not forwarded")[:4] == ("-", "-", "-", "10")
    assert "limited: messages dropped by its rate limit" in grid.notes[0]
    assert max(map(len, render(run_table(filecopy()), 100).splitlines())) <= 100


def test_events_are_shown_by_key() -> None:
    one, *_ = event_grids(filecopy())
    assert column(one, "key") == ("delete", "perm_mod")
    assert column(one, "audit") == ("450", "900")
    assert column(one, "none") == ("0", "0")


def test_lookups_are_reported_for_each_request() -> None:
    (grid,) = lookup_grids(selinux())
    assert column(grid, "configuration") == ("permissive", "enforcing") * 3
    assert column(grid, "lookups/request") == ("205",) * 6


def test_lookups_of_unknown_requests_are_reported_alone() -> None:
    seen = Observed(instrument="avc", unit_of_totals="lookups", totals={"lookups": 7})
    finding = replace(
        selinux(), observed=(seen_in(role_of("enforcing"), Workload("fork"), 0, 0, seen),)
    )
    (grid,) = lookup_grids(finding)
    assert [it.columns[0].header for it in grid.groups] == ["lookups"]
    assert grid.notes == ()


def test_where_nothing_rode_along_nothing_is_shown() -> None:
    assert observed_grids(cis()) == []
    assert event_grids(cis()) == []


def test_no_name_of_a_process_or_key_acts_on_the_terminal() -> None:
    bad = "\x1b[31m\u202e"
    seen = [
        Observed(instrument="cpu", unit_of_totals="ticks", totals={bad: 1.0}),
        Observed(instrument="audit", unit_of_totals="events", totals={f"key:{bad}": 1.0}),
    ]
    finding = replace(
        cis(), observed=tuple(seen_in(role_of(bad), workload_of(bad), 0, 0, it) for it in seen)
    )
    grids = [*observed_grids(finding), *event_grids(finding)]
    assert len(grids) == 2
    for grid in grids:
        assert r"\x1b[31m\u202e" in column(grid, grid.labels[0].header)
    assert "\x1b" not in render(run_table(finding), 100)


def test_what_became_of_several_processors_is_one_table() -> None:
    totals = {
        "length": 1000.0,
        "work": 2500.0,
        "idle": 1000.0,
        "given away": 500.0,
        "turn": 1562.0,
        **{f"busy {number}": 100.0 * number for number in range(1, 5)},
        **{f"share {number}": 0.2 for number in range(1, 4)},
        "share 4": 0.201,
    }
    seen = Observed(instrument="processors", unit_of_totals="parallel insn", totals=totals)
    where = (role_of("none"), workload_of("filecopy"), 0, 0)
    (grid,) = processor_grids(replace(filecopy(), observed=(seen_in(*where, seen),)))
    assert grid.title == "4 processors, while they were measured"
    parts = [column(grid, name) for name in ("length", "work", "idle", "given away")]
    assert parts == [("1,000",), ("62.5%",), ("25.0%",), ("12.5%",)]
    assert column(grid, "busy, each") == ("40.0% 30.0% 20.0% 10.0%",)
    assert grid.notes[1] == (
        "turns were of 1,562 instructions; the shares of the processors differ by at most 0.5 %"
    )
    assert processor_grids(filecopy()) == []
