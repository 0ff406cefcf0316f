"""The stacks of windows, in whole numbers, which every export of hotspots shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from hardcost.model.finding.calls import CLOCK, Hotspots
from hardcost.model.workload import Workload, metric_among
from hardcost.units import visible

_FINEST = 1024  # parts of an instruction: estimates are rounded to these


@dataclass(frozen=True)
class ExportedStacks:
    """A metric's stacks, each with its instructions before and after; the clock executed none.

    `title` names the metric. A number counts `unit`: instructions for one operation, or parts of
    one where a sample is the mean of several.
    """

    title: str
    unit: str
    before: str
    after: str
    stacks: tuple[tuple[tuple[str, ...], int, int], ...]


def exported_stacks(profiles: Sequence[Hotspots]) -> list[ExportedStacks]:
    """Return each metric's stacks; names have nothing invisible in them."""
    workloads = {one.workload for one in profiles}
    return [_stacks_of_metric(one, workloads) for one in profiles]


def _stacks_of_metric(one: Hotspots, workloads: Collection[Workload]) -> ExportedStacks:
    stacks = [stack for stack in one.stacks if stack.functions != (CLOCK,)]
    scale = _scale(number for stack in stacks for number in (stack.before, stack.after))
    return ExportedStacks(
        title=visible(metric_among(workloads, one.workload, one.metric)),
        unit="instructions" if scale == 1 else f"instructions/{scale}",
        before=str(one.before),
        after=str(one.after),
        stacks=tuple(
            (tuple(map(visible, stack.functions)), round(b * scale), round(a * scale))
            for stack in stacks
            for b, a in [(stack.before, stack.after)]
        ),
    )


def _scale(numbers: Iterable[float]) -> int:
    """Return the smallest power of two that makes all numbers whole."""
    known = tuple(numbers)
    scale = 1
    while scale < _FINEST and any(number * scale != round(number * scale) for number in known):
        scale *= 2
    return scale
