from __future__ import annotations

from dataclasses import replace

import pytest

from hardcost.analysis.study.published_pairs import figures
from hardcost.show.tables.layout import render
from hardcost.show.tables.matrix import upright_grid
from hardcost.show.tables.published import mean_grids, published_matrices, range_grids
from hardcost.show.tables.run import run_table
from hardcost.show.text import TIMES, TO
from tests.show.guests import cell, cis, failed, filecopy, selinux


def test_ranges_stand_beside_ours_over_the_same_workloads() -> None:
    (grid,) = range_grids(filecopy())
    assert grid.labels[0].cells == ("audit", "audit-syslog", "stig-full")
    wall, cpu = grid.groups
    assert wall.columns[0].cells == (
        f"{TIMES}1.50{TO}6.50",
        f"{TIMES}1.40{TO}8.20",
        f"{TIMES}44.0{TO}61.0",
    )
    assert wall.columns[1].cells[0] == f"{TIMES}5.51{TO}5.58"
    assert cpu.columns[0].cells[0] == f"up to {TIMES}1.50"
    assert grid.notes == ("ours: over 4 workloads, by instrument insn; cpu is user + system",)


def test_a_range_of_what_was_not_measured_stands_alone() -> None:
    some = tuple(it for it in filecopy().cells if it.metric in {"copy", "user"})
    (grid,) = range_grids(replace(filecopy(), cells=some))
    assert [[column.header for column in group.columns] for group in grid.groups] == [
        ["published"],
        ["published"],
    ]


def test_published_rates_are_reported_as_times_slower() -> None:
    bench = next(it for it in published_matrices(cis()) if "16 CPUs, 1 copy" in it.title)
    assert bench.title.endswith("times slower than audit-off, ours to audit-off in unixbench")
    calls = next(
        group for group in upright_grid(bench).groups if group.title == "system-call, loops/s"
    )
    assert [column.cells for column in calls.columns] == [
        ("2,688,394.9", "760,775.0"),
        ("base", f"{TIMES}3.53"),
        ("base", f"{TIMES}2.90"),
    ]
    index = next(group for group in upright_grid(bench).groups if group.title == "index, index")
    assert [column.header for column in index.columns] == ["value", "ratio"]


def test_tables_of_workloads_that_did_not_run_are_left_out() -> None:
    titles = [it.title for it in published_matrices(cis())]
    assert not any("fio" in title or "dd" in title or "16 copies" in title for title in titles)
    assert len(titles) == 3


def test_a_published_metric_may_stand_beside_one_of_another_name() -> None:
    cells = tuple(
        cell((name, "fio", "iops-randrw"), value, ("audit-off", 100), "insn/op")
        for name, value in (("audit-off", 100), ("cis-rules", 103))
    )
    bandwidth, operations = published_matrices(replace(cis(), cells=cells))
    for it in (bandwidth, operations):
        groups = {group.title: group for group in upright_grid(it).groups}
        assert groups["iops-randrw-read"].columns[2].cells == ("base", f"{TIMES}1.030")
        assert len(groups["iops-randread"].columns) == 2


def test_the_mean_penalty_stands_beside_the_published_one() -> None:
    (grid,) = mean_grids(selinux())
    assert grid.title == "Mean penalty over none"
    headers = [group.columns[0].header for group in grid.groups]
    assert headers == ["apache-prefork", "postfix", "mariadb", "all"]
    assert grid.groups[-1].columns[0].cells == ("+2.0%", "+8.0%", "+8.2%")
    assert "geometric mean" in grid.notes[0]
    assert "published of enforcing: +6.0% (all results of the source)" in grid.notes


def test_a_source_without_a_mean_gets_none_of_ours() -> None:
    assert mean_grids(filecopy()) == []
    assert mean_grids(replace(selinux(), source=None)) == []


def test_a_mean_without_a_baseline_is_unknown() -> None:
    (grid,) = mean_grids(failed(selinux(), "none"))
    assert {cell for group in grid.groups for cell in group.columns[0].cells} == {"n/a"}


@pytest.mark.parametrize("width", [80, 100, 120])
def test_every_table_keeps_to_its_width(width: int) -> None:
    for finding in (filecopy(), selinux(), cis()):
        lines = render(run_table(finding), width).splitlines()
        assert max(map(len, lines)) <= width


def test_figures_carry_what_tables_show() -> None:
    found = {(it.table, it.configuration, it.metric): it for it in figures(filecopy())}
    wall = found["1 to 8 copies at once", "audit", "wall"]
    assert (wall.ratio_low, wall.ratio_high) == (1.5, 6.5)
    assert (wall.ours_low, wall.ours_high) == pytest.approx((5.51, 5.58))
    assert found["1 to 8 copies at once", "audit", "cpu"].ratio_low is None


def test_figures_name_the_workload_that_ours_are_of() -> None:
    calls = [it for it in figures(cis()) if it.metric == "system-call" and it.unit == "loops/s"]
    assert {str(it.workload) for it in calls} == {"unixbench"}
    treated = [it for it in calls if it.configuration == "cis-rules"]
    assert [it.ours_low for it in treated] == pytest.approx([2.9, 2.9])
    means = [it for it in figures(cis()) if it.metric is None]
    assert [it.ratio for it in means] == pytest.approx([6810.4 / 5969.6, 1353.0 / 1128.9])
