"""Estimates: exact where nothing varies, an honest interval where something does."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hardcost.analysis.estimates.estimates import (
    Estimate,
    Series,
    cells,
    interquartile_mean,
    mean,
    median,
    middle_of_draws,
    on_grid,
    ratio,
    series_of,
    shift,
)
from hardcost.controls.configuration import Configuration
from hardcost.errors import TrialError
from hardcost.model.role import role_of
from hardcost.model.workload import Workload, workload_of
from hardcost.plan.plan import Plan, Trial
from hardcost.store.record import Record
from hardcost.workloads.metric import MetricSamples

counts = st.integers(0, 10**9)


def series_with(*trials: Sequence[float]) -> Series:
    """Return a metric's series out of the samples of trials, one for each seed."""
    samples = {(seed, 0): tuple(trial) for seed, trial in enumerate(trials)}
    return Series("insn/op", samples, {key: median(trial) for key, trial in samples.items()})


def record(configuration: str, samples: tuple[float, ...], seed: int = 0) -> Record:
    return Record(
        identity=f"{configuration} {seed}",
        role=role_of(configuration),
        workload=workload_of("syscalls"),
        instrument="insn",
        seed=seed,
        repetition=0,
        measured=(MetricSamples(metric="null", unit="insn/op", samples=samples),),
        environment={},
        start_seconds=0,
        host_seconds=0,
    )


def plan(*names: str, seeds: tuple[int, ...] = (0,)) -> Plan:
    trials = tuple(
        Trial(Configuration(role_of(name)), Workload("syscalls"), "insn", seed)
        for name in names
        for seed in seeds
    )
    return Plan("study", "a study", "insn", role_of(names[0]), trials)


def perturbed(configuration: str, first: int, others: dict[int, tuple[float, ...]]) -> Record:
    """Return a trial of 9 equal samples, and of others under perturbations from 2."""
    found = record(configuration, (float(first),) * 9)
    metric = found.measured[0].model_copy(update={"perturbed": others})
    return found.model_copy(update={"measured": (metric,)})


def test_what_one_trial_measured_perturbed_is_compared_number_by_number() -> None:
    off = perturbed("off", 100, {2: (300.0,) * 9, 3: (500.0,) * 9})
    on = perturbed("on", 110, {2: (311.0,) * 9, 3: (512.0,) * 9})
    base, cell = cells(plan("off", "on"), [off, on])
    assert (base.value, cell.value, cell.difference) == (300, 311, 11)
    assert (cell.trials, cell.each) == (3, (110, 311, 512))
    assert cell.ratios == pytest.approx((1.1, 311 / 300, 512 / 500))
    assert cell.low < 0 < cell.high  # the draws differ widely, their differences little:
    found = shift(*(one for of in (on, off) for one in series_of([of]).values()))
    half = 4.302652729 * 1.0 / math.sqrt(3)
    assert found.value == 11
    assert (found.low, found.high) == pytest.approx((11 - half, 11 + half), abs=1e-3)


def test_a_draw_of_two_lengths_by_turns_is_its_interquartile_mean() -> None:
    assert interquartile_mean([1.0] * 5 + [9.0] * 4) == pytest.approx((3 * 1 + 2 * 9) / 5)
    assert interquartile_mean([7.0]) == 7.0
    assert interquartile_mean([5.0] * 8 + [3107.0]) == 5.0  # what is rare is not in it


def test_draws_that_agree_leave_room_for_what_is_rare() -> None:
    """A name in forty collides: five draws that agree don't say that there is none."""

    def creat(count: float) -> Series:
        samples = (count,) * 9
        found = MetricSamples(
            metric="creat",
            unit="insn/op",
            samples=samples,
            perturbed=dict.fromkeys(range(2, 6), samples),
        )
        of = record("on", samples).model_copy(update={"measured": (found,)})
        (one,) = series_of([of]).values()
        return one

    assert shift(creat(1005.0), creat(1000.0)) == Estimate(5.0, -1.0, 11.0)


def test_a_ratio_that_several_draws_leave_open_may_be_the_baseline() -> None:
    off = perturbed("off", 100, {2: (100.0,) * 9, 3: (100.0,) * 9})
    unclear = perturbed("unclear", 99, {2: (100.0,) * 9, 3: (102.0,) * 9})
    clear = perturbed("clear", 110, {2: (111.0,) * 9, 3: (112.0,) * 9})
    found = cells(plan("off", "unclear", "clear"), [off, unclear, clear])
    assert [cell.may_be_baseline for cell in found] == [False, True, False]


def test_intervals_are_those_of_scipys_distributions() -> None:
    counts = np.arange(1, 300)
    below = np.maximum(stats.binom.ppf(0.025, counts, 0.5) - 1, 0)
    assert [median(range(count)).low for count in counts] == below.tolist()
    for count in counts[1:]:
        numbers = np.sqrt(np.arange(count))
        half = stats.t.ppf(0.975, count - 1) * stats.sem(numbers)
        found = mean(numbers.tolist())
        assert (found.low, found.high) == (numbers.mean() - half, numbers.mean() + half)


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


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50))
def test_sums_on_the_grid_are_exact_in_any_order(numbers: list[float]) -> None:
    whole = [on_grid(number) for number in numbers]
    assert sum(whole) == sum(reversed(whole)) == math.fsum(whole)


@given(st.lists(counts, min_size=1, max_size=99))
def test_a_shift_sees_through_what_both_have_in_common(samples: list[int]) -> None:
    base = series_with([float(one) for one in samples])
    shifted = series_with([float(one) + 19 for one in samples])
    assert shift(shifted, base) == Estimate(19.0, 19.0, 19.0)


def test_a_shift_that_is_not_resolved_has_0_in_its_interval() -> None:
    generator = np.random.default_rng(1)
    one, other = (series_with(list(generator.normal(500_000, 1000, 33))) for _ in range(2))
    found = shift(one, other)
    assert found.low < 0 < found.high


def test_the_shift_over_several_seeds_is_the_mean_of_theirs() -> None:
    base = series_with([10.0] * 9, [20.0] * 9)
    treated = series_with([40.0] * 9, [52.0] * 9)
    found = shift(treated, base)
    assert found.value == 31.0
    assert found.low < 31.0 < found.high


def test_a_ratio_of_points_is_their_quotient() -> None:
    assert ratio(series_with([3798.0]), series_with([422.0])) == Estimate(9.0, 9.0, 9.0)
    assert ratio(series_with([30.0], [60.0]), series_with([10.0], [20.0])).low == pytest.approx(3.0)


def test_a_ratio_is_as_wide_as_both_medians_allow() -> None:
    wide, base = series_with([90.0, 100.0, 120.0]), series_with([45.0, 50.0, 60.0])
    assert ratio(wide, base) == Estimate(2.0, 1.5, 120 / 45)
    assert ratio(wide, wide) == Estimate(1.0, 1.0, 1.0)


def test_a_ratio_to_nothing_is_unknown() -> None:
    assert math.isnan(ratio(series_with([1.0]), series_with([0.0])).value)


def test_without_a_common_seed_nothing_can_be_compared() -> None:
    other = Series("insn/op", {(9, 0): (1.0,)}, {(9, 0): median([1.0])})
    with pytest.raises(TrialError, match="no seed in common"):
        shift(series_with([1.0]), other)


def test_samples_without_a_twin_are_left_out() -> None:
    assert shift(series_with([1.0, 2.0, 90.0]), series_with([0.0, 1.0])) == Estimate(1.0, 1.0, 1.0)


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


def test_a_cell_holds_each_trial_by_seed() -> None:
    records = [record("on", (value,), seed) for seed, value in ((2, 7.0), (0, 5.0), (1, 9.0))]
    (cell,) = cells(plan("on", seeds=(0, 1, 2)), records)
    assert cell.each == (5.0, 9.0, 7.0)
    assert cell.value == 7.0


def test_one_odd_draw_moves_neither_the_estimate_nor_more_than_one_end() -> None:
    usual, odd = (2_971.9, 2_971.7, 2_966.3, 2_973.7, 2_971.7), (2_971.9, 2_971.7, 3_500.0, 2_973.7)
    plain, found = middle_of_draws(usual), middle_of_draws((*odd, 2_971.7))
    assert abs(found.value - plain.value) < 1
    assert found.low > 2_966
    assert mean((*odd, 2_971.7)).low < 2_850  # what it replaces


@pytest.mark.parametrize("rare", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("draws", [5, 6, 10])
def test_intervals_of_draws_hold_the_middle_also_where_rare_ones_lie_far_off(
    draws: int, rare: float
) -> None:
    random = np.random.default_rng(41)

    def drawn(count: int) -> list[float]:
        odd = random.random(count) < rare
        return list(random.normal(1_000.0, 5.0, count) + odd * 200.0)

    truth = interquartile_mean(drawn(40_000))
    found = [middle_of_draws(drawn(draws)) for _ in range(1_500)]
    share = sum(one.low <= truth <= one.high for one in found) / len(found)
    assert share > 0.92
