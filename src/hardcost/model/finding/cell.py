"""A cell: one metric under one configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from hardcost.model.document import IfAny, Internal, Number
from hardcost.model.role import Role
from hardcost.model.workload import Workload

_MOST_BY_TURNS = 0.05  # what a value may differ with the length of turns, and still be believed


def _is_one(values: tuple[float, ...]) -> bool:
    return len(values) <= 1


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One metric under one configuration.

    `value` is the trial's median, or the mean of the medians of several trials; [low, high] is its
    95 % interval, a point if all samples are alike, as is usual under `insn`. `minimum` is the
    smallest sample seen. `ratio` is to the baseline's value, paired by seed and repetition or
    perturbation. `each` holds the trials' medians by seed and repetition, in that order, `ratios`
    the ratio of each pair in the order of all of the run's, NaN where it lacks one. All but the
    ratios are in `unit`. What a workload measured several times in one trial, each time perturbed,
    counts as several of `trials`. If one trial is a single draw, ratios closer to 1 than
    `resolution` say nothing; otherwise it is 0. A difference of up to `least` cannot be
    distinguished from chance: placebos differ by as much. The ratio's interval allows for it.
    `long_turns` is the value of several processors that took longer turns, else None.
    """

    configuration: Role
    workload: Workload
    metric: str
    unit: str
    value: Number
    low: Number
    high: Number
    trials: int
    baseline: Role
    ratio: Number
    ratio_low: Number
    ratio_high: Number
    minimum: Number
    difference: Number
    each: Annotated[tuple[Number, ...], Field(exclude_if=_is_one)] = ()
    resolution: IfAny[Number] = 0.0
    least: IfAny[Number] = 0.0
    long_turns: IfAny[Number | None] = None
    ratios: Internal[tuple[float, ...]] = ()

    @property
    def may_be_baseline(self) -> bool:
        """Whether the ratio has an interval that includes 1, so that the difference may be 0."""
        return self.ratio_low < self.ratio_high and self.ratio_low <= 1 <= self.ratio_high

    @property
    def by_turns(self) -> float | None:
        """By what share long turns of processors change the value; None where it is at most 5 %."""
        if self.long_turns is None or self.value <= 0:
            return None
        share = self.long_turns / self.value - 1
        return share if abs(share) > _MOST_BY_TURNS else None
