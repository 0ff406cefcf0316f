"""Predictions beside measurements, and prices in nanoseconds with their errors."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from auditrules.cost.constants import Constants

Interval = tuple[float, float]
"""The ends of an interval."""


@dataclass(frozen=True)
class OperationCost:
    """The cost of the rules for one operation, in instructions, predicted and measured.

    `unknown` says why it is not predicted, and is empty where it is. `spread` is twice the standard
    error of the measured cost, where it varies from process to process; 0 where it was measured in
    one.
    """

    operation: str
    predicted: float
    measured: float
    spread: float = 0.0
    unknown: str = ""

    @property
    def off(self) -> float:
        """By which part of the measured cost the prediction is off; 0 where both are 0."""
        if not self.measured:
            return 0.0 if not self.predicted else float("inf")
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class PriceCheck:
    """The cost of a held-out set for one operation, in nanoseconds: predicted, and measured.

    `low` and `high` are the ends of the measured cost's interval.
    """

    set: str
    rules: int
    operation: str
    predicted: float
    measured: float
    low: float
    high: float

    @property
    def off(self) -> float:
        """By which part of the measured cost the prediction is off."""
        return self.predicted / self.measured - 1 if self.measured else float("inf")


@dataclass(frozen=True)
class TimePrices:
    """Constants in nanoseconds with their intervals, and their predictions for held-out sets."""

    constants: Constants
    intervals: Mapping[str, Mapping[str, Interval]]
    checked: tuple[PriceCheck, ...]

    @property
    def median_off(self) -> float:
        """The median of how far predictions for sets held out are off."""
        return statistics.median(abs(row.off) for row in self.checked)
