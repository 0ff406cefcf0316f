from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.analysis.finding import Cell
from hardcost.report.comparison import Pair, compared

if TYPE_CHECKING:
    from hardcost.analysis.finding import Finding

POSITIVE = st.floats(1, 1e9)


def cell(value: float, half: float = 0.0) -> Cell:
    low, high = value - half, value + half
    return Cell("c", "w", "m", "ns", value, low, high, low, 3, "b", 0, 1, 1, 1)


def test_a_run_equals_itself(run: Finding) -> None:
    same = compared(run, run)
    assert len(same.pairs) == len(run.cells)
    assert all(pair.equal and pair.ratio == 1 and pair.difference == 0 for pair in same.pairs)
    assert not same.warnings
    assert not same.only_a
    assert not same.only_b


def test_cells_of_one_run_only_are_kept_apart(run: Finding) -> None:
    joined = compared(replace(run, cells=run.cells[1:]), replace(run, cells=run.cells[:-2]))
    assert joined.only_a == run.cells[-2:]
    assert joined.only_b == run.cells[:1]
    assert len(joined.pairs) == len(run.cells) - 3


def test_cells_of_other_units_are_not_compared(run: Finding) -> None:
    other = replace(run, cells=(replace(run.cells[0], unit="ns/op"),))
    joined = compared(replace(run, cells=run.cells[:1]), other)
    assert not joined.pairs
    assert len(joined.only_a) == len(joined.only_b) == 1


def test_what_counts_depend_on_is_warned_of(run: Finding) -> None:
    environment = run.environment | {"qemu": "10.0.2", "kernel": "6.12\x1b", "cpu_model": "EPYC"}
    other = replace(run, environment=environment | {"host": "other"}, instrument="time")
    warnings = compared(run, other).warnings
    assert len(warnings) == 3
    assert warnings[1] == "not comparable as they stand: the QEMU differs: 7.2.22, then 10.0.2"


def test_other_kernels_are_what_is_compared_unless_one_kernel_was_meant(run: Finding) -> None:
    other = replace(run, environment=run.environment | {"kernel": "6.12\x1b"})
    found = compared(run, other)
    assert (found.warnings, found.kernels) == ((), ("6.1.192", "6.12\x1b"))
    (warning,) = found.on_one_kernel
    assert warning.endswith(r"the kernel differs: 6.1.192, then 6.12\x1b")
    assert compared(run, run).kernels is None


def test_other_images_of_the_guest_are_warned_of(run: Finding) -> None:
    one, other = (
        replace(run, environment=run.environment | {"image": f"Debian, {number} packages"})
        for number in (252, 253)
    )
    assert compared(one, one).warnings == ()
    assert compared(one, other).warnings == (
        "the guests' images differ: Debian, 252 packages, then Debian, 253 packages",
    )


def test_an_environment_that_was_not_recorded_is_warned_of(run: Finding) -> None:
    assert len(compared(run, replace(run, environment={})).warnings) == 3


@settings(deadline=None)
@given(POSITIVE, POSITIVE, st.floats(0, 0.5), st.floats(0, 0.5))
def test_the_interval_of_a_ratio_holds_the_ratio(a: float, b: float, x: float, y: float) -> None:
    pair = Pair(cell(a, a * x), cell(b, b * y))
    assert pair.ratio_low <= pair.ratio <= pair.ratio_high


def test_nothing_is_no_multiple_of_zero() -> None:
    assert math.isnan(Pair(cell(0), cell(1)).ratio)
