"""Estimates: exact where nothing varies, an honest interval where something does."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.analysis.estimates import (
    Estimate,
    Series,
    cells,
    difference,
    mean,
    median,
    on_grid,
    ratio,
)
from hardcost.design.plan import Configuration, Plan, Trial, Workload
from hardcost.errors import TrialError
from hardcost.store.record import Record
from hardcost.workloads.measured import Measured

counts = st.integers(0, 10**9)


def series_of(*medians: float) -> Series:
    by_seed = {(seed, 0): Estimate(found, found, found) for seed, found in enumerate(medians)}
    return Series("insn/op", by_seed, min(medians))


def record(configuration: str, samples: tuple[float, ...], seed: int = 0) -> Record:
    return Record(
        identity=f"{configuration} {seed}",
        configuration=configuration,
        workload="syscalls",
        instrument="insn",
        seed=seed,
        repetition=0,
        measured=(Measured(metric="null", unit="insn/op", samples=samples),),
        environment={},
        start_seconds=0,
        host_seconds=0,
    )


def plan(*names: str, seeds: tuple[int, ...] = (0,)) -> Plan:
    trials = tuple(
        Trial(Configuration(name), Workload("syscalls"), "insn", seed)
        for name in names
        for seed in seeds
    )
    return Plan("study", "a study", "insn", names[0], trials)


def test_samples_that_are_all_alike_are_a_point() -> None:
    assert median([422.0] * 98 + [12_000.0]) == Estimate(422.0, 422.0, 422.0)


@pytest.mark.parametrize(("count", "lowest", "highest"), [(99, 40, 60), (33, 11, 23), (9, 2, 8)])
def test_the_interval_of_a_median_lies_between_the_tabled_ranks(
    count: int, lowest: int, highest: int
) -> None:
    """The ranks, from 1, are those of published tables for 95 %."""
    found = median([float(rank) for rank in range(1, count + 1)])
    assert found == Estimate((count + 1) / 2, lowest, highest)


def test_few_samples_give_all_that_was_seen() -> None:
    assert median([3.0, 1.0, 2.0]) == Estimate(2.0, 1.0, 3.0)
    assert median([7.0]) == Estimate(7.0, 7.0, 7.0)


def test_the_interval_of_a_median_covers_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(1)
    found = [median(list(generator.exponential(1000.0, 33))) for _ in range(2000)]
    truth = 1000.0 * math.log(2)
    covered = sum(estimate.low <= truth <= estimate.high for estimate in found) / 2000
    assert 0.94 < covered < 0.98


def test_the_interval_of_a_mean_is_students() -> None:
    """Checked against the closed form for n = 3: t(0.975, 2) = 4.30265."""
    found = mean([1.0, 2.0, 3.0])
    half = 4.302652729 * 1.0 / math.sqrt(3)
    assert found.value == 2.0
    assert found.low == pytest.approx(2.0 - half)
    assert found.high == pytest.approx(2.0 + half)


def test_the_interval_of_a_mean_covers_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(1)
    found = [mean(list(generator.normal(10.0, 3.0, 5))) for _ in range(2000)]
    covered = sum(estimate.low <= 10.0 <= estimate.high for estimate in found) / 2000
    assert 0.93 < covered < 0.97


def test_the_difference_of_two_spread_medians_is_as_wide_as_both_allow() -> None:
    wide = Series("insn/op", {(0, 0): Estimate(100.0, 90.0, 120.0)}, 90.0)
    base = Series("insn/op", {(0, 0): Estimate(50.0, 45.0, 60.0)}, 45.0)
    assert difference(wide, base) == Estimate(50.0, 30.0, 75.0)
    assert ratio(wide, base) == Estimate(2.0, 1.5, 120 / 45)
    assert difference(wide, wide) == Estimate(0.0, 0.0, 0.0)
    assert ratio(wide, wide) == Estimate(1.0, 1.0, 1.0)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50))
def test_sums_on_the_grid_are_exact_in_any_order(numbers: list[float]) -> None:
    whole = [on_grid(number) for number in numbers]
    assert sum(whole) == sum(reversed(whole)) == math.fsum(whole)


@given(st.lists(st.tuples(counts, counts), min_size=1, max_size=9))
def test_pairing_takes_out_what_seeds_have_in_common(pairs: list[tuple[int, int]]) -> None:
    base = series_of(*(a for a, _ in pairs))
    shifted = series_of(*(a + 19 for a, _ in pairs))
    assert difference(shifted, base) == Estimate(19.0, 19.0, 19.0)


def test_a_ratio_of_points_is_their_quotient() -> None:
    assert ratio(series_of(3798.0), series_of(422.0)).value == 9.0
    assert ratio(series_of(30.0, 60.0), series_of(10.0, 20.0)).low == pytest.approx(3.0)


def test_a_ratio_to_nothing_is_unknown() -> None:
    assert math.isnan(ratio(series_of(1.0), series_of(0.0)).value)


def test_without_a_common_seed_nothing_can_be_compared() -> None:
    with pytest.raises(TrialError, match="no seed in common"):
        difference(series_of(1.0), Series("insn/op", {(9, 0): Estimate(1.0, 1.0, 1.0)}, 1.0))


def test_a_cell_holds_the_median_and_the_smallest_sample() -> None:
    records = [record("base", (10,) * 33), record("rules=1", (39,) * 31 + (30, 1e6))]
    base, treated = cells(plan("base", "rules=1"), records)
    assert (base.value, base.ratio, base.difference) == (10.0, 1.0, 0.0)
    assert (treated.value, treated.minimum, treated.difference) == (39.0, 30.0, 29.0)
    assert (treated.low, treated.high, treated.trials) == (39.0, 39.0, 1)


def test_several_seeds_give_an_interval() -> None:
    starts = {"base": 10, "r": 30}
    records = [record(name, (x + seed,), seed) for name, x in starts.items() for seed in (1, 2)]
    _, treated = cells(plan("base", "r", seeds=(1, 2)), records)
    assert treated.trials == 2
    assert treated.low < treated.value < treated.high
    assert treated.difference == 20.0
