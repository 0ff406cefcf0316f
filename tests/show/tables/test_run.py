from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import role_of
from hardcost.model.workload import Workload
from hardcost.show.tables.layout import render
from hardcost.show.tables.matrix import upright_grid
from hardcost.show.tables.published import published_matrices
from hardcost.show.tables.run import run_matrices, run_table
from hardcost.show.text import TIMES


@pytest.mark.parametrize("width", [80, 100, 160])
def test_every_value_and_difference_is_shown(run: StudyFinding, width: int) -> None:
    shown = render(run_table(run), width)
    words = set(shown.split())
    for cell in run.cells:
        assert f"{cell.value:,.0f}" in words
        assert cell.difference == 0 or f"{cell.difference:+,.0f}" in words
    assert max(map(len, shown.splitlines())) <= width
    assert shown.isascii()


def test_a_table_names_unit_instrument_machine_and_baseline(run: StudyFinding) -> None:
    (grid,) = [upright_grid(one) for one in run_matrices(run)]
    assert grid.title == "syscalls: insn/op, instrument insn, machine vm; differences from rules=0"


def test_a_row_reads_as_measured(run_of: Callable[[tuple[str, ...]], StudyFinding]) -> None:
    shown = render(run_table(run_of(("null", "open"))), 100)
    row = next(line for line in shown.splitlines() if line.startswith("rules=160 "))
    assert row.split() == ["rules=160", "3,626", "+3,264", "x10.0", "7,400", "+3,894", "x2.11"]
    base = next(line for line in shown.splitlines() if line.startswith("rules=0  "))
    assert base.split() == ["rules=0", "362", "base", "base", "3,506", "base", "base"]


def test_lines_part_what_the_axis_joins(run: StudyFinding) -> None:
    (grid,) = [upright_grid(one) for one in run_matrices(run)]
    assert grid.lines == {1, 10, 19, 28}


def test_each_workload_has_its_table(run: StudyFinding) -> None:
    other = tuple(replace(cell, workload=Workload("copy")) for cell in run.cells[:28])
    assert (
        len([upright_grid(one) for one in run_matrices(replace(run, cells=run.cells + other))]) == 2
    )


def test_several_units_stand_with_their_metrics(run: StudyFinding) -> None:
    cells = (
        run.cells[0],
        replace(run.cells[0], metric="wall", unit="ns", baseline=role_of("other")),
    )
    (grid,) = [upright_grid(one) for one in run_matrices(replace(run, cells=cells))]
    assert [group.title for group in grid.groups] == ["null, insn/op", "wall, ns"]
    assert "the configuration named in the row" in grid.title
    assert grid.labels[1].cells == ("rules=0, other",)


def test_intervals_show_only_where_there_are_any(run: StudyFinding) -> None:
    cell = replace(run.cells[0], low=200.0, high=218.0, ratio_low=0.5, ratio_high=0.7)
    shown = render(run_table(replace(run, cells=(cell, *run.cells[1:]))), 160)
    assert "209 +/-9" in shown
    assert shown.count("+/-") == 1


def test_a_cell_that_is_missing_is_a_dash(run: StudyFinding) -> None:
    grid = next(upright_grid(one) for one in run_matrices(replace(run, cells=run.cells[1:])))
    null = next(group for group in grid.groups if group.title == "null")
    assert null.columns[0].cells[0] == "-"


def test_numbers_that_are_none_are_said_to_be_none(run: StudyFinding) -> None:
    cell = replace(run.cells[0], value=float("nan"), ratio=float("inf"))
    (grid,) = [upright_grid(one) for one in run_matrices(replace(run, cells=(cell,)))]
    assert [column.cells for column in grid.groups[0].columns] == [("n/a",), ("-153",), ("n/a",)]


def test_published_ratios_stand_beside_ours(run: StudyFinding) -> None:
    before, after, *_ = map(upright_grid, published_matrices(run))
    null = before.groups[0]
    assert [column.header for column in null.columns] == ["value", "ratio", "ours"]
    assert [column.cells[-1] for column in null.columns] == ["5.50", f"{TIMES}2.94", f"{TIMES}10.0"]
    assert before.labels[0].cells[-1] == "rules=160"
    assert after.labels[0].cells[-1] == "kernel=flat rules=160"
    assert [column.cells[-1] for column in after.groups[0].columns] == [
        "1.92",
        f"{TIMES}1.061",
        f"{TIMES}1.67",
    ]
    assert "ours to kernel=flat rules=0" in after.title


def test_published_rows_without_a_configuration_of_ours_are_left_out(run: StudyFinding) -> None:
    cells = tuple(cell for cell in run.cells if str(cell.configuration) in {"rules=0", "rules=50"})
    before, _hook = map(upright_grid, published_matrices(replace(run, cells=cells)))
    assert before.labels[0].cells == ("rules=0", "rules=50")


def test_nothing_published_shows_nothing(run: StudyFinding) -> None:
    shown = render(run_table(replace(run, source=None)), 80)
    assert "ublished" not in shown
    assert "Note: page-table isolation" in shown


def test_no_name_acts_on_the_terminal(hostile: StudyFinding) -> None:
    shown = render(run_table(hostile), 120)
    assert "\x1b" not in shown
    assert r"<script>alert(1)</script>\x1b[31m[bold]&amp;\u202e" in shown
