from __future__ import annotations

from dataclasses import replace

from hardcost.show.tables.workload_families import summary_grids
from hardcost.show.text import TIMES
from tests.show.guests import cell, cis, failed, filecopy, selinux


def test_workloads_that_differ_in_a_parameter_are_summed_up_in_one_table() -> None:
    (grid,) = summary_grids(filecopy())
    assert grid.title == ("filecopy: wall by concurrency, as a multiple of none (instrument insn)")
    assert [group.columns[0].header for group in grid.groups] == ["default", "2", "4", "8"]
    assert grid.labels[0].cells == ("none", "reduced", "audit", "audit-syslog", "stig-full")
    assert grid.groups[1].columns[0].cells == (
        "base",
        *(f"{TIMES}{number}" for number in ("1.22", "5.52", "13.0", "30.0")),
    )


def test_what_failed_is_said_to_have() -> None:
    (grid,) = summary_grids(failed(filecopy(), "audit"))
    assert grid.labels[0].cells[2] == "audit"
    assert [group.columns[0].cells[2] for group in grid.groups] == ["failed"] * 4


def test_without_a_whole_the_mean_of_all_metrics_sums_up() -> None:
    cells = [
        cell((name, f"unixbench copies={copies}", metric), value, ("off", 100), "insn/op")
        for copies in (1, 2)
        for name, values in (("off", (100, 100)), ("on", (100, 100 * 4**copies)))
        for metric, value in zip(("pipe", "execl"), values, strict=True)
    ]
    (grid,) = summary_grids(replace(cis(), cells=tuple(cells), levels={}))
    assert grid.title == (
        "unixbench: mean of all metrics by copies, as a multiple of off (instrument insn)"
    )
    assert [group.columns[0].cells for group in grid.groups] == [
        ("base", f"{TIMES}2.00"),
        ("base", f"{TIMES}4.00"),
    ]


def test_single_workloads_need_none() -> None:
    assert summary_grids(cis()) == []
    assert summary_grids(selinux()) == []
