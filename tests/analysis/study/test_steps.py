"""What changes along an axis: each level beside the one before it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hardcost.analysis.study.axes import numeric_axis
from hardcost.analysis.study.steps import WHATEVER, changes, lines
from hardcost.analysis.whole_finding import with_derived_values
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import AxisLevel, Role, role_of
from hardcost.model.workload import Workload
from hardcost.show.json import to_json
from hardcost.show.page.page import to_html
from hardcost.show.tables.layout import render
from hardcost.show.tables.run import run_table
from hardcost.show.tables.steps import successive_grids

KERNELS = ("6.1", "6.12", "7.3")
VALUES = {"off": (200.0, 200.0, 210.0), "on": (300.0, 330.0, 330.0)}


def cell(configuration: str, value: float, metric: str = "null") -> Cell:
    return Cell(
        configuration=role_of(configuration),
        workload=Workload("syscalls"),
        metric=metric,
        unit="insn/op",
        value=value,
        low=value,
        high=value,
        minimum=value,
        trials=1,
        baseline=role_of("b"),
        difference=0,
        ratio=1,
        ratio_low=1,
        ratio_high=1,
    )


@pytest.fixture
def finding() -> StudyFinding:
    names = {
        (state, kernel): f"audit={state} kernel={kernel}" for state in VALUES for kernel in KERNELS
    }
    return StudyFinding(
        run="r",
        study="s",
        title="t",
        instrument="insn",
        cells=tuple(
            cell(names[state, kernel], value)
            for state, values in VALUES.items()
            for kernel, value in zip(KERNELS, values, strict=True)
        ),
        levels={
            role_of(name): (AxisLevel("audit", at[0]), AxisLevel("kernel", at[1]))
            for at, name in names.items()
        },
        successive="kernel",
    )


def test_each_state_is_a_line_along_the_axis_in_its_order(finding: StudyFinding) -> None:
    assert [(line.state, [level for level, _ in line.points]) for line in lines(finding)] == [
        ("audit=off", list(KERNELS)),
        ("audit=on", list(KERNELS)),
    ]
    alone: dict[Role, tuple[AxisLevel, ...]]
    alone = {role_of(f"kernel={one}"): (AxisLevel("kernel", one),) for one in KERNELS}
    assert [line.state for line in lines(replace(finding, levels=alone))] == [WHATEVER]


def test_each_level_is_compared_with_the_one_before_it(finding: StudyFinding) -> None:
    found = [(c.state, c.before, c.after, c.difference) for c in changes(finding)]
    assert found == [
        ("audit=off", "6.1", "6.12", 0),
        ("audit=off", "6.12", "7.3", 10),
        ("audit=on", "6.1", "6.12", 30),
        ("audit=on", "6.12", "7.3", 0),
    ]
    assert [
        one["difference"] for one in json.loads(to_json(with_derived_values(finding)))["changes"]
    ] == [
        0,
        10,
        30,
        0,
    ]


def test_the_table_has_values_and_what_changed(finding: StudyFinding) -> None:
    off, on = successive_grids(finding)
    assert "audit=off" in off.title
    assert [group.title for group in on.groups] == [f"kernel {one}" for one in KERNELS]
    cells = [[column.cells[0] for column in group.columns] for group in on.groups]
    assert cells == [["300"], ["330", "+30", "×1.10"], ["330", "=", "="]]  # noqa: RUF001  (as shown)


def test_what_one_level_lacks_is_no_change(finding: StudyFinding) -> None:
    lacking = replace(
        finding, cells=tuple(c for c in finding.cells if "6.12" not in str(c.configuration))
    )
    assert list(changes(lacking)) == []
    cells = [[column.cells[0] for column in g.columns] for g in successive_grids(lacking)[0].groups]
    assert cells == [["200"], ["-", "-", "-"], ["210", "-", "-"]]


def test_a_sentence_says_what_each_step_changes(finding: StudyFinding) -> None:
    shown = render(run_table(with_derived_values(finding)), 200)
    assert (
        "From kernel 6.1 to 6.12, a metric is 4.9% more expensive on average; null under audit=on"
        " changes most, to 1.10 times what it was." in shown
    )
    same = replace(finding, cells=tuple(replace(c, value=1, low=1, high=1) for c in finding.cells))
    assert "From kernel 6.12 to 7.3 nothing changes." in render(
        run_table(with_derived_values(same)), 200
    )
    assert "From kernel to kernel" in to_html(finding)


def test_versions_are_no_numbers(finding: StudyFinding) -> None:
    assert numeric_axis(finding.levels) is None
