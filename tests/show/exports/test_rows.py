from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from hardcost.analysis.change.comparison import compare_runs
from hardcost.errors import InputError
from hardcost.show.exports.rows import MEANINGS, Row, rows
from tests.show.exports.findings import finding
from tests.show.exports.gates import gate

PAGE = Path(__file__).resolve().parents[3] / "docs" / "data.md"


def test_every_column_is_documented_in_its_order() -> None:
    names = [field.name for field in fields(Row)]
    assert list(MEANINGS) == names
    shown = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE))
    assert {name: shown[name] for name in names} == MEANINGS


def test_a_bill_has_cells_and_its_parts_which_add_up() -> None:
    found = list(rows(finding()))
    assert [one.kind for one in found] == [
        "cell", "cell", "total", "item", "rest", "interaction",
    ]  # fmt: skip
    by_kind = {one.kind: one.value for one in found}
    assert by_kind["total"] == 10.0
    assert by_kind["item"] == 10.0
    assert (found[1].baseline_value, found[1].ratio, found[1].trials) == (100.0, 1.1, 1)
    assert (found[3].fired, found[3].alone, found[3].place) == (3, 10.0, "x")


def test_each_control_of_a_bill_has_a_row_that_of_an_unknown_cost_is_empty() -> None:
    one = finding()
    free, unshown = (
        replace(one.items[0], control=name, cost=0.5, low=0.0, high=1.0, alone=0.5)
        for name in ("free", "unshown")
    )
    bill = replace(one, small=(free, unshown), unshown=("unshown",))
    small = [row for row in rows(bill) if row.kind == "small"]
    assert [row.control for row in small] == ["free", "unshown"]
    assert [(row.value, row.difference, row.alone) for row in small] == [
        (0.5, 0.5, 0.5),
        (None, None, None),
    ]


def test_a_cost_is_a_difference() -> None:
    found = [row for row in rows(finding()) if row.kind != "cell"]
    assert found
    assert all(row.difference == row.value for row in found)


def test_two_runs_are_compared_row_by_row() -> None:
    found = list(rows(compare_runs(finding(run="a"), finding(run="b", value=120.0))))
    changed = [one for one in found if one.kind == "changed" and one.difference]
    (one,) = changed
    assert (one.run, one.baseline, one.baseline_value, one.difference) == ("b", "a", 110.0, 10.0)


def test_what_only_one_run_has_is_described_as_that_runs() -> None:
    both, one = finding(run="a"), finding(run="b")
    before = replace(both, environment={**both.environment, "kernel": "6.1.0"})
    after = replace(one, environment={**one.environment, "kernel": "6.12.1"})
    fewer = {run.run: replace(run, cells=run.cells[:1]) for run in (before, after)}
    gone = [row for row in rows(compare_runs(before, fewer["b"])) if row.kind == "only-before"]
    come = [row for row in rows(compare_runs(fewer["a"], after)) if row.kind == "only-after"]
    assert [(row.run, row.kernel) for row in gone] == [("a", "6.1.0")]
    assert [(row.run, row.kernel) for row in come] == [("b", "6.12.1")]


def test_a_gate_has_no_rows() -> None:
    with pytest.raises(InputError, match="a gate has no rows"):
        rows(gate())


def test_a_number_that_is_none_is_none() -> None:
    one = finding()
    cell = replace(one.cells[1], ratio=float("nan"), high=float("inf"))
    row, *_ = rows(replace(one, cells=(cell,)))
    assert (row.ratio, row.high) == (None, None)
