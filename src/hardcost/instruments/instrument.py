"""Instruments: the clock that the probe reads, and the unit of its ticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hardcost.units import Unit


@dataclass(frozen=True)
class Instrument:
    """An instrument: `clock` is the probe's, `per_op` and `whole` the units of its metrics.

    An `exact` one repeats bit for bit, so that one trial resolves a single instruction; another
    needs `repetitions` trials of each configuration for an interval.
    """

    name: str
    title: str
    clock: Literal["tsc", "monotonic", "parallel"]
    per_op: Unit
    whole: Unit
    exact: bool
    repetitions: int
