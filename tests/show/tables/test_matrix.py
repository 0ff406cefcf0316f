from __future__ import annotations

import pytest

from hardcost.show.tables.layout import Column, render
from hardcost.show.tables.matrix import (
    Matrix,
    MatrixRow,
    MatrixText,
    Metric,
    fitting_grid,
    for_page,
    transposed_grid,
    upright_grid,
)
from hardcost.show.tables.run import run_matrices, run_table
from tests.show.guests import cis, filecopy


def matrix(rows: int, metrics: int, texts: tuple[str, ...] = ("1", "+1")) -> Matrix:
    return Matrix(
        "title",
        (Column("configuration", tuple(f"c{n}" for n in range(rows)), left=True),),
        tuple(Metric(f"metric-{n}") for n in range(metrics)),
        ("value", "diff"),
        {(row, at): MatrixRow(texts, row) for row in range(rows) for at in range(metrics)},
        heated="diff",
    )


def test_both_ways_hold_the_same() -> None:
    it = matrix(2, 3)
    one, other = upright_grid(it), transposed_grid(it)
    assert [group.title for group in one.groups] == ["metric-0", "metric-1", "metric-2"]
    assert [group.title for group in other.groups] == ["c0", "c1"]
    assert one.groups[0].columns[1].heat == (0, 1)
    assert other.groups[1].columns[1].heat == (1, 1, 1)
    assert other.labels[0].cells == ("metric-0", "metric-1", "metric-2")


def test_what_fits_has_its_metrics_across() -> None:
    assert fitting_grid(matrix(3, 2), 100) == upright_grid(matrix(3, 2))


def test_what_does_not_fit_is_laid_out_in_fewer_lines() -> None:
    assert fitting_grid(matrix(3, 30), 80) == transposed_grid(matrix(3, 30))
    assert fitting_grid(matrix(30, 8), 80) == upright_grid(matrix(30, 8))


def test_a_page_has_many_metrics_down() -> None:
    assert for_page(matrix(3, 12)) == transposed_grid(matrix(3, 12))
    assert for_page(matrix(3, 4)) == upright_grid(matrix(3, 4))
    assert for_page(matrix(40, 28)) == upright_grid(matrix(40, 28))


def test_what_nobody_has_gets_no_column() -> None:
    for grid in (
        upright_grid(matrix(2, 2, ("1", "-"))),
        transposed_grid(matrix(2, 2, ("1", "base"))),
    ):
        assert [column.header for column in grid.groups[0].columns] == ["value"]


def test_units_stand_beside_metrics_that_go_down() -> None:
    it = Matrix("t", matrix(1, 1).labels, (Metric("a", "insn"), Metric("b", "ns")), ("value",), {})
    assert transposed_grid(it).labels[1].cells == ("insn", "ns")
    assert [group.title for group in upright_grid(it).groups] == ["a, insn", "b, ns"]
    assert upright_grid(it).groups[0].columns[0].cells == ("-",)


def test_what_rows_are_reported_besides_is_not_lost() -> None:
    labels = (*matrix(1, 1).labels, Column("options", ("3 of 4",)))
    it = Matrix("t", labels, (Metric("a"),), ("value",), {})
    assert transposed_grid(it).notes == ("options of c0: 3 of 4",)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (80, "1,380.0 1,899.3 +519.3 4,002.0 +2,622.0"),
        (100, "1,380.0 1,899.3 +519.3 x1.38 4,002.0 +2,622.0 x2.90"),
        (120, "1,380.0 1,899.3 +519.3 x1.38 4,002.0 +2,622.0 x2.90"),
    ],
)
def test_twelve_metrics_of_three_configurations_stand_below_each_other(
    width: int, expected: str
) -> None:
    (it,) = run_matrices(cis())
    lines = render(MatrixText(it), width).splitlines()
    assert max(map(len, lines)) <= width
    (row,) = (line.split() for line in lines if line.startswith("system-call"))
    assert row[1:] == expected.split()


def test_of_a_whole_program_ratios_stay_where_room_is_short() -> None:
    shown = render(run_table(filecopy()), 100)
    audit = next(line for line in shown.splitlines() if line.startswith("audit  ") and "," in line)
    assert audit.split()[:3] == ["audit", "765,890,000", "x5.51"]
