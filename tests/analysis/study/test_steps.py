"""What changes along an axis: each level beside the one before it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hardcost.analysis.finding import Cell, Finding
from hardcost.report.axes import numeric_axis
from hardcost.report.jsonout import to_json
from hardcost.report.page.page import to_html
from hardcost.report.successive import WHATEVER, changes, lines
from hardcost.report.tables.layout import render
from hardcost.report.tables.run_table import run_table
from hardcost.report.tables.successive_table import successive_grids

KERNELS = ("6.1", "6.12", "7.3")
VALUES = {"off": (200.0, 200.0, 210.0), "on": (300.0, 330.0, 330.0)}


def cell(configuration: str, value: float, metric: str = "null") -> Cell:
    return Cell(
        configuration, "syscalls", metric, "insn/op", value, value, value, value, 1, "b", 0, 1, 1, 1
    )


@pytest.fixture
def finding() -> Finding:
    names = {
        (state, kernel): f"audit={state} kernel={kernel}" for state in VALUES for kernel in KERNELS
    }
    return Finding(
        run="r",
        study="s",
        title="t",
        instrument="insn",
        cells=tuple(
            cell(names[state, kernel], value)
            for state, values in VALUES.items()
            for kernel, value in zip(KERNELS, values, strict=True)
        ),
        levels={name: (("audit", at[0]), ("kernel", at[1])) for at, name in names.items()},
        successive="kernel",
    )


def test_each_state_is_a_line_along_the_axis_in_its_order(finding: Finding) -> None:
    assert [(line.state, [level for level, _ in line.points]) for line in lines(finding)] == [
        ("audit=off", list(KERNELS)),
        ("audit=on", list(KERNELS)),
    ]
    alone: dict[str, tuple[tuple[str, str], ...]]
    alone = {f"kernel={one}": (("kernel", one),) for one in KERNELS}
    assert [line.state for line in lines(replace(finding, levels=alone))] == [WHATEVER]


def test_each_level_is_compared_with_the_one_before_it(finding: Finding) -> None:
    found = [(c.state, c.before, c.after, c.pair.difference) for c in changes(finding)]
    assert found == [
        ("audit=off", "6.1", "6.12", 0),
        ("audit=off", "6.12", "7.3", 10),
        ("audit=on", "6.1", "6.12", 30),
        ("audit=on", "6.12", "7.3", 0),
    ]
    assert [one["difference"] for one in json.loads(to_json(finding))["changes"]] == [0, 10, 30, 0]


def test_the_table_has_values_and_what_changed(finding: Finding) -> None:
    off, on = successive_grids(finding)
    assert "audit=off" in off.title
    assert [group.title for group in on.groups] == [f"kernel {one}" for one in KERNELS]
    cells = [[column.cells[0] for column in group.columns] for group in on.groups]
    assert cells == [["300"], ["330", "+30", "×1.10"], ["330", "=", "="]]  # noqa: RUF001  (as shown)


def test_what_one_level_lacks_is_no_change(finding: Finding) -> None:
    lacking = replace(
        finding, cells=tuple(c for c in finding.cells if "6.12" not in c.configuration)
    )
    assert list(changes(lacking)) == []
    cells = [[column.cells[0] for column in g.columns] for g in successive_grids(lacking)[0].groups]
    assert cells == [["200"], ["-", "-", "-"], ["210", "-", "-"]]


def test_a_sentence_says_what_each_step_changes(finding: Finding) -> None:
    shown = render(run_table(finding), 200)
    assert (
        "From kernel 6.1 to 6.12, a metric is 4.9% more expensive on average; null under audit=on"
        " changes most, to 1.10 times what it was." in shown
    )
    same = replace(finding, cells=tuple(replace(c, value=1, low=1, high=1) for c in finding.cells))
    assert "From kernel 6.12 to 7.3 nothing changes." in render(run_table(same), 200)
    assert "From kernel to kernel" in to_html(finding)


def test_versions_are_no_numbers(finding: Finding) -> None:
    assert numeric_axis(finding.levels) is None
