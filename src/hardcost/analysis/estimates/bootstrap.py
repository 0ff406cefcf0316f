"""Intervals of means by resampling blocks, for times: skewed, and alike within a block.

A block is a group of trials that were measured one after the other, each configuration as often as
any other, in an order and in its reverse, so that a steady drift cancels out. Trials of a block
share what the machine did meanwhile, so it is blocks that are drawn, with replacement, and never
trials or samples inside one: S. Ren et al., "Nonparametric bootstrapping for hierarchical data",
Journal of Applied Statistics 37 (2010), after A. C. Davison and D. V. Hinkley, "Bootstrap Methods
and Their Application" (1997), section 3.8. That restarted processes are a level of their own is
from T. Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable Time" (2013).

The interval is the symmetric bootstrap-t: P. Hall, "On Symmetric Bootstrap Confidence Intervals",
Journal of the Royal Statistical Society B 50 (1988). The plain percentile interval is too narrow
for as few blocks as a run has (`bench/accuracy/time_intervals.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

FEWEST_BLOCKS = 8
"""So many blocks are enough to resample; fewer have too few different resamples."""

_RESAMPLES = 4000
_LEAST_SPREAD = 0.1  # of the blocks': one block drawn nearly each time says nothing of the spread
_SEED = 20_100_101  # any number: the same samples give the same interval


def interval(blocks: Sequence[float], confidence: float) -> tuple[float, float, float]:
    """Return the mean of the values of independent blocks, and the ends of its interval.

    Raises:
        ValueError: There are fewer than `FEWEST_BLOCKS`.
    """
    values = np.asarray(blocks, dtype=np.float64)
    count = len(values)
    if count < FEWEST_BLOCKS:
        raise ValueError(f"{count} blocks are too few to resample")
    middle = float(values.mean())
    spread = float(values.std(ddof=1)) / math.sqrt(count)
    if spread == 0.0:
        return middle, middle, middle
    drawn = values[np.random.default_rng(_SEED).integers(0, count, size=(_RESAMPLES, count))]
    errors = drawn.std(axis=1, ddof=1) / math.sqrt(count)
    ratios = np.abs(drawn.mean(axis=1) - middle) / np.maximum(errors, _LEAST_SPREAD * spread)
    half = float(np.quantile(ratios, confidence)) * spread
    return middle, middle - half, middle + half
