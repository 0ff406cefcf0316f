"""How often to measure to distinguish a difference from chance, and whether one is significant.

The model: samples are normal and independent, and their standard deviation is the same fraction of
the value in every configuration. Relative quantities are fractions of the baseline's value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

from hardcost.plan.search.questions import CostShift

PILOT_REPETITIONS = 16
"""Samples of baseline and profile that estimate the noise: to about an eighth, 1/sqrt(60) at
2 * 15 degrees of freedom."""
_LEAST_REPETITIONS = 8  # with fewer, a test of two means depends on how normal the samples are
MOST_REPETITIONS = 64
"""Bound on the repetitions of one value (twice that where a partner is sought; confirming samples
come on top). Precision grows with the square root: beyond this, resolving a fifth less takes half
as many again, and at some seconds each that is about as long as a kernel build."""
_MISS = 0.005  # chance of overlooking a rise as large as the resolution, at one split
_DETOUR = 0.01  # chance of following a rise that isn't there, up or down, at one split
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Precision:
    """How small a difference can be resolved: relative to the baseline, except `repetitions`.

    A true difference of `resolution` is found; a measured one counts if it is larger than `cut`.
    """

    repetitions: int
    resolution: float
    cut: float


def exact_precision(threshold: float) -> Precision:
    """Return the precision of an instrument whose values repeat exactly."""
    return Precision(1, threshold, threshold)


def precision(noise: float, freedom: int, threshold: float) -> Precision:
    """Return how often to measure at relative standard deviation `noise`.

    The number of samples that two means need: n = 2 * (s / d)**2 * (a + b)**2, with s the standard
    deviation, d the difference, a and b the quantiles for the chances of a false rise (two-sided)
    and of a missed one (van Belle, Statistical Rules of Thumb, 2nd edition, section 2.1). They are
    Student's, with the `freedom` of the estimate of s. If n exceeds `MOST_REPETITIONS`, d is raised
    to what these resolve.
    """
    false, missed = (float(special.stdtrit(freedom, 1 - p)) for p in (_DETOUR / 2, _MISS))
    wanted = 2 * (noise / threshold * (false + missed)) ** 2
    repetitions = min(max(math.ceil(wanted), _LEAST_REPETITIONS), MOST_REPETITIONS)
    error = noise * math.sqrt(2 / repetitions)
    resolution = max(threshold, error * (false + missed))
    return Precision(repetitions, resolution, resolution - error * missed)


def relative_deviation(samples: Sequence[Sequence[float]]) -> float:
    """Return the standard deviation relative to the mean, pooled over configurations."""
    squares = [variance(one) / mean(one) ** 2 for one in samples]
    return math.sqrt(mean(squares))


def mean(samples: Sequence[float]) -> float:
    """Return the arithmetic mean; of one sample, that very sample."""
    return math.fsum(samples) / len(samples)


def variance(samples: Sequence[float]) -> float:
    """Return the unbiased variance; of one sample 0, as under an exact instrument."""
    middle = mean(samples)
    return math.fsum((one - middle) ** 2 for one in samples) / max(1, len(samples) - 1)


@dataclass(frozen=True)
class MeanDifference:
    """A difference of means, its standard error (the metric's unit), and degrees of freedom."""

    value: float
    error: float
    freedom: float

    @property
    def estimate(self) -> CostShift:
        """The value with its two-sided interval."""
        if not self.error:
            return CostShift(self.value, self.value, self.value)
        half = self.error * float(special.stdtrit(self.freedom, (1 + _CONFIDENCE) / 2))
        return CostShift(self.value, self.value - half, self.value + half)

    def chance(self, sign: int) -> float:
        """Return the chance of a difference at least this large in direction `sign`."""
        if not self.error:
            return 0.0 if sign * self.value > 0 else 1.0
        return float(special.stdtr(self.freedom, -sign * self.value / self.error))


def difference(more: Sequence[float], fewer: Sequence[float]) -> MeanDifference:
    """Return mean(`more`) - mean(`fewer`) for Welch's test; an empty `fewer` counts as 0."""
    parts = [
        (variance(samples) / len(samples), len(samples) - 1) for samples in (more, fewer) if samples
    ]
    square = sum(part for part, _ in parts)
    shrunk = sum(part**2 / max(1, freedom) for part, freedom in parts)
    return MeanDifference(
        mean(more) - (mean(fewer) if fewer else 0.0),
        math.sqrt(square),
        square**2 / shrunk if shrunk else 1.0,
    )
