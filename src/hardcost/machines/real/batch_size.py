"""How many operations a window needs to be long enough for a machine's clock, found out once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from hardcost.protocol.answers import Answer, CallAnswer, ClockAnswer, all_of, only
from hardcost.protocol.requests import MeasureCalls

LEAST_READINGS = 500.0
"""A window takes so many times as long as reading the clock does, or longer."""

_MOST_TIMES = 1024  # as many operations as a call usually has; the probe takes 2 ** 20 at most
_SAMPLES, _WARMUP = 5, 2


def trial(calls: MeasureCalls) -> MeasureCalls:
    """Return a short measurement of the same calls, without copies: windows are shortest then."""
    rows = (one.model_copy(update={"samples": _SAMPLES, "warmup": _WARMUP}) for one in calls.calls)
    return calls.model_copy(update={"calls": tuple(rows), "copies": None})


def batch_factors(answers: Sequence[Answer]) -> dict[str, int]:
    """Return how many times as many operations each call needs, by name: a power of two.

    Raises:
        TrialError: The machine did not read its clock.
    """
    reading = median(only(answers, ClockAnswer).overhead)
    return {one.name: _times(median(one.samples), reading) for one in all_of(answers, CallAnswer)}


def lengthen_windows(calls: MeasureCalls, times: Mapping[str, int]) -> MeasureCalls:
    """Return the same calls with so many times as many operations in a window."""
    rows = (
        one.model_copy(update={"batch": one.batch * times.get(one.name, 1)}) for one in calls.calls
    )
    return calls.model_copy(update={"calls": tuple(rows)})


def _times(window: float, reading: float) -> int:
    """Return by how much a window that takes so long has to be longer."""
    needed = LEAST_READINGS * reading / max(window, 1.0)
    return min(2 ** math.ceil(math.log2(needed)), _MOST_TIMES) if needed > 1 else 1
