from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.analysis.change.comparison import compare_cells, compare_runs, warnings_on_one_kernel
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import role_of
from hardcost.model.workload import Workload
from tests.show.conftest import make_run

POSITIVE = st.floats(1, 1e9)


def cell(value: float, half: float = 0.0) -> Cell:
    low, high = value - half, value + half
    return Cell(
        configuration=role_of("c"),
        workload=Workload("w"),
        metric="m",
        unit="ns",
        value=value,
        low=low,
        high=high,
        minimum=low,
        trials=3,
        baseline=role_of("b"),
        difference=0,
        ratio=1,
        ratio_low=1,
        ratio_high=1,
    )


@pytest.fixture(scope="module")
def run() -> StudyFinding:
    return make_run()


def test_a_ratio_is_as_wide_as_both_intervals_allow() -> None:
    found = compare_cells(cell(100, 10), cell(200, 20), role_of("b"))
    assert (found.ratio_low, found.ratio, found.ratio_high) == (180 / 110, 2, 220 / 90)


def test_a_run_equals_itself(run: StudyFinding) -> None:
    same = compare_runs(run, run)
    assert len(same.cells) == len(run.cells)
    assert all(one.equal and one.ratio == 1 and one.difference == 0 for one in same.cells)
    assert not same.warnings
    assert not same.only_before
    assert not same.only_after


def test_cells_of_one_run_only_are_kept_apart(run: StudyFinding) -> None:
    joined = compare_runs(replace(run, cells=run.cells[1:]), replace(run, cells=run.cells[:-2]))
    assert joined.only_before == run.cells[-2:]
    assert joined.only_after == run.cells[:1]
    assert len(joined.cells) == len(run.cells) - 3


def test_cells_of_other_units_are_not_compared(run: StudyFinding) -> None:
    other = replace(run, cells=(replace(run.cells[0], unit="ns/op"),))
    joined = compare_runs(replace(run, cells=run.cells[:1]), other)
    assert not joined.cells
    assert len(joined.only_before) == len(joined.only_after) == 1


def test_what_counts_depend_on_is_warned_of(run: StudyFinding) -> None:
    environment = run.environment | {"qemu": "10.0.2", "kernel": "6.12\x1b", "cpu_model": "EPYC"}
    other = replace(run, environment=environment | {"host": "other"}, instrument="time")
    warnings = compare_runs(run, other).warnings
    assert len(warnings) == 3
    assert warnings[1] == "not comparable as they stand: the QEMU differs: 7.2.22, then 10.0.2"


def test_other_kernels_are_what_is_compared_unless_one_kernel_was_meant(run: StudyFinding) -> None:
    other = replace(run, environment=run.environment | {"kernel": "6.12\x1b"})
    found = compare_runs(run, other)
    assert (found.warnings, found.kernels) == ((), ("6.1.192", "6.12\x1b"))
    (warning,) = warnings_on_one_kernel(found)
    assert warning.endswith("the kernel differs: 6.1.192, then 6.12\x1b")
    assert compare_runs(run, run).kernels is None


def test_other_images_of_the_guest_are_warned_of(run: StudyFinding) -> None:
    one, other = (
        replace(run, environment=run.environment | {"image": f"Debian, {number} packages"})
        for number in (252, 253)
    )
    assert compare_runs(one, one).warnings == ()
    assert compare_runs(one, other).warnings == (
        "the guests' images differ: Debian, 252 packages, then Debian, 253 packages",
    )


def test_an_environment_that_was_not_recorded_is_warned_of(run: StudyFinding) -> None:
    assert len(compare_runs(run, replace(run, environment={})).warnings) == 3


@settings(deadline=None)
@given(POSITIVE, POSITIVE, st.floats(0, 0.5), st.floats(0, 0.5))
def test_the_interval_of_a_ratio_holds_the_ratio(a: float, b: float, x: float, y: float) -> None:
    found = compare_cells(cell(a, a * x), cell(b, b * y), role_of("a"))
    assert found.ratio_low <= found.ratio <= found.ratio_high


def test_nothing_is_no_multiple_of_zero() -> None:
    assert math.isnan(compare_cells(cell(0), cell(1), role_of("a")).ratio)
