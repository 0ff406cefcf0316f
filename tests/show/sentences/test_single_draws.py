"""One draw is shown with no more digits than it carries, and says so beside it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import AxisLevel, Role, role_of
from hardcost.model.workload import Workload
from hardcost.show.json import to_json
from hardcost.show.page.page import to_html
from hardcost.show.tables.layout import render
from hardcost.show.tables.matrix import upright_grid
from hardcost.show.tables.run import run_matrices, run_table
from hardcost.show.text import TIMES


def cell(name: str, value: float) -> Cell:
    base = 123_456_789.0
    ratio = value / base
    made = Cell(
        configuration=role_of(name),
        workload=Workload("mariadb"),
        metric="all",
        unit="insn",
        value=value,
        low=value,
        high=value,
        trials=1,
        baseline=role_of("off"),
        ratio=ratio,
        ratio_low=ratio,
        ratio_high=ratio,
        minimum=value,
        difference=value - base,
    )
    return replace(made, resolution=0.01)


@pytest.fixture
def study() -> StudyFinding:
    """A baseline, a change that is too small to say anything of, and one that is not."""
    cells = (cell("off", 123_456_789.0), cell("on", 124_111_222.0), cell("all", 140_111_222.0))
    levels: dict[Role, tuple[AxisLevel, ...]] = {one.configuration: () for one in cells}
    return StudyFinding(
        run="r", study="s", title="t", instrument="insn", cells=cells, machine="vm", levels=levels
    )


def test_a_ratio_within_the_resolution_is_about_1(study: StudyFinding) -> None:
    (grid,) = [upright_grid(one) for one in run_matrices(study)]
    value, difference, ratio = (column.cells for column in grid.groups[0].columns)
    assert value == ("123,000,000†", "124,000,000†", "140,000,000†")
    assert difference == ("base", "≈0†", "+17,000,000†")
    assert ratio == ("base", f"≈{TIMES}1†", f"{TIMES}1.13†")
    (note,) = grid.notes
    assert note.startswith("† one trial, which varies by up to 1 %")
    assert "not distinguishable from 1" in note


def test_a_pipe_gets_it_in_ascii(study: StudyFinding) -> None:
    text = render(run_table(study), 120)
    assert "~x1(+)" in text
    assert "(+) one trial" in text


def test_the_page_says_it_at_the_cell(study: StudyFinding) -> None:
    page = to_html(study)
    assert f'aria-label="≈{TIMES}1†: † one trial, which varies by up to 1 %' in page
    assert page.count('title="† one trial') >= 3


def test_json_keeps_every_digit_and_names_the_resolution(study: StudyFinding) -> None:
    cells = json.loads(to_json(study))["cells"]
    assert {one["resolution"] for one in cells} == {0.01}
    assert cells[1]["value"] == 124_111_222.0


def test_exact_cells_are_shown_to_the_last_digit(study: StudyFinding) -> None:
    exact = replace(study, cells=tuple(replace(one, resolution=0.0) for one in study.cells))
    (grid,) = [upright_grid(one) for one in run_matrices(exact)]
    assert grid.groups[0].columns[0].cells[1] == "124,111,222"
    assert grid.notes == ()
    assert "resolution" not in to_json(exact)
