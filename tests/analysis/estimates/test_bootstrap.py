"""Intervals of blocks: they hold the truth as often as they say, and repeat to the last digit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.analysis.estimates.bootstrap import FEWEST_BLOCKS, interval

_VALUES = st.lists(st.integers(-(10**6), 10**6).map(float), min_size=FEWEST_BLOCKS, max_size=30)


@pytest.mark.parametrize(("confidence", "least", "most"), [(0.95, 0.92, 0.99), (0.99, 0.975, 1.0)])
def test_they_hold_the_truth_of_differences_with_spikes(
    confidence: float, least: float, most: float
) -> None:
    """A difference of two configurations, each hit now and then by something slow."""
    random = np.random.default_rng(7)

    def side(count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return random.normal(size=count) + (random.random(count) < 0.1) * random.exponential(
            5, count
        )

    hits = 0
    for _ in range(400):
        _, low, high = interval(list(side(12) - side(12)), confidence)
        hits += low <= 0 <= high
    assert least <= hits / 400 <= most


@given(_VALUES, st.floats(-1e3, 1e3))
def test_an_interval_holds_the_mean_and_moves_with_the_values(
    values: list[float], by: float
) -> None:
    middle, low, high = interval(values, 0.95)
    assert low <= middle <= high
    moved = interval([one + by for one in values], 0.95)
    slack = 1e-6 * (1 + max(map(abs, values)) + abs(by))
    assert moved == pytest.approx((middle + by, low + by, high + by), abs=slack)


@given(_VALUES)
def test_the_same_blocks_give_the_same_interval_and_a_higher_level_no_narrower_one(
    values: list[float],
) -> None:
    once = interval(values, 0.95)
    assert interval(values, 0.95) == once
    _, low, high = interval(values, 0.99)
    assert low <= once[1]
    assert high >= once[2]


def test_equal_blocks_give_a_point_and_few_blocks_are_refused() -> None:
    assert interval([3.0] * FEWEST_BLOCKS, 0.95) == (3.0, 3.0, 3.0)
    with pytest.raises(ValueError, match="7 blocks are too few"):
        interval([1.0] * 7, 0.95)


def test_one_odd_block_among_equal_ones_gives_an_interval_of_its_size() -> None:
    """Most resamples of such blocks have hardly any spread."""
    _, low, high = interval([0.0] * 7 + [1.0], 0.95)
    assert -1.5 < low < 0 < high < 1.5
