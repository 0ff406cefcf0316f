from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.analysis.estimates.geometric_mean import cost_ratio, geometric_mean, mean_penalties
from hardcost.model.workload import Workload
from hardcost.units import is_rate
from tests.show.guests import cell, failed, selinux

RATIOS = st.lists(st.floats(0.01, 100), min_size=1, max_size=20)


@given(RATIOS)
def test_the_mean_of_inverses_is_the_inverse_of_the_mean(ratios: list[float]) -> None:
    assert geometric_mean([1 / it for it in ratios]) == pytest.approx(1 / geometric_mean(ratios))


@given(RATIOS)
def test_a_mean_lies_among_its_ratios(ratios: list[float]) -> None:
    assert min(ratios) * 0.999999 <= geometric_mean(ratios) <= max(ratios) * 1.000001


def test_of_nothing_there_is_no_mean() -> None:
    assert math.isnan(geometric_mean([]))


def test_twice_and_half_make_no_difference() -> None:
    cells = [
        cell(("on", "copy", "a"), 200, ("off", 100)),
        cell(("on", "copy", "b"), 50, ("off", 100)),
    ]
    (mean,) = mean_penalties(cells)
    assert mean.ratio == pytest.approx(1)
    assert (mean.metrics, mean.unknown, mean.workload) == (2, 0, Workload("copy"))


def test_of_a_rate_half_as_much_is_twice_the_cost() -> None:
    assert cost_ratio(cell(("on", "w", "m"), 50, ("off", 100), "loops/s")) == 2
    assert cost_ratio(cell(("on", "w", "m"), 50, ("off", 100), "insn")) == 0.5


@pytest.mark.parametrize("unit", ["KB/s", "loops/s", "index"])
def test_of_a_rate_more_is_better(unit: str) -> None:
    assert is_rate(unit)


@pytest.mark.parametrize("unit", ["insn", "insn/op", "ns", "ns/op", "s"])
def test_of_a_cost_less_is_better(unit: str) -> None:
    assert not is_rate(unit)


def test_each_metric_counts_once_in_the_mean_of_all_workloads() -> None:
    cells = [
        cell(("on", "one", "a"), 400, ("off", 100)),
        cell(("on", "two", "a"), 100, ("off", 100)),
        cell(("on", "two", "b"), 100, ("off", 100)),
        cell(("on", "two", "c"), 100, ("off", 100)),
    ]
    means = {mean.workload: mean for mean in mean_penalties(cells)}
    assert means[Workload("one")].percent == pytest.approx(300)
    assert means[Workload("two")].percent == pytest.approx(0)
    assert means[None].ratio == pytest.approx(4**0.25)
    assert means[None].metrics == 4


def test_a_mean_has_the_interval_of_its_pairs_of_trials() -> None:
    moving = [
        replace(cell(("on", "ab", name), 110, ("off", 100)), ratios=ratios)
        for name, ratios in (("a", (1.08, 1.1, 1.12)), ("b", (1.12, 1.1, 1.08)))
    ]
    still = cell(("on", "ab", "c"), 130, ("off", 100))
    (mean,) = mean_penalties([*moving, still])
    pairs = [(1.08 * 1.12 * 1.3) ** (1 / 3), (1.1 * 1.1 * 1.3) ** (1 / 3)]
    logs = [math.log(one) for one in (pairs[0], pairs[1], pairs[0])]
    half = 4.302652729 * stdev(logs) / math.sqrt(3)
    assert mean.low == pytest.approx(math.exp(fmean(logs) - half))
    assert mean.high == pytest.approx(math.exp(fmean(logs) + half))


def test_a_pair_that_lacks_a_metric_is_not_in_a_means_interval() -> None:
    lacking = [
        replace(cell(("on", "ab", name), 110, ("off", 100)), ratios=ratios)
        for name, ratios in (("a", (1.1, 1.1, 9.0)), ("b", (1.1, 1.1, math.nan)))
    ]
    (mean,) = mean_penalties(lacking)
    assert (mean.low, mean.high) == pytest.approx((1.1, 1.1))


def test_single_trials_give_a_mean_no_interval() -> None:
    (mean,) = mean_penalties([cell(("on", "copy", "a"), 121, ("off", 100))])
    assert (mean.low, mean.high) == (None, None)


def test_the_baseline_has_no_penalty_over_itself() -> None:
    assert {str(mean.configuration) for mean in mean_penalties(selinux().cells)} == {
        "apparmor",
        "permissive",
        "enforcing",
    }


def test_what_has_no_known_ratio_is_left_out_and_counted() -> None:
    cells = [
        cell(("on", "copy", "a"), 121, ("off", 100)),
        replace(cell(("on", "copy", "b"), 50, ("off", 100)), ratio=math.nan),
    ]
    (mean,) = mean_penalties(cells)
    assert mean.percent == pytest.approx(21)
    assert (mean.metrics, mean.unknown) == (1, 1)


def test_without_a_baseline_no_penalty_is_known() -> None:
    means = mean_penalties(failed(selinux(), "none").cells)
    assert means
    assert all(math.isnan(mean.ratio) and mean.metrics == 0 for mean in means)


def test_what_all_operations_take_does_not_count_beside_each() -> None:
    cells = [
        cell(("on", "ab", "ab-1"), 110, ("off", 100), "insn/op"),
        cell(("on", "ab", "all"), 190, ("off", 100), "insn"),
        cell(("on", "copy", "wall"), 110, ("off", 100), "insn"),
    ]
    assert [mean.percent for mean in mean_penalties(cells)] == pytest.approx([10, 10, 10])
