"""What every export of a profile shows: the stacks of its windows, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.analysis.finding import CLOCK
from hardcost.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.analysis.finding import Profiled

_FINEST = 1024


@dataclass(frozen=True)
class Exported:
    """A metric's stacks, each with its instructions before and after; the clock executed none.

    `title` names the metric. A number counts `unit`: instructions for one operation, or parts of
    one where a sample is the mean of several.
    """

    title: str
    unit: str
    before: str
    after: str
    stacks: tuple[tuple[tuple[str, ...], int, int], ...]


def exported(profiles: Sequence[Profiled]) -> list[Exported]:
    """Return each metric's stacks; names have nothing invisible in them."""
    several = len({one.workload for one in profiles}) > 1
    return [_exported(one, several=several) for one in profiles]


def _exported(one: Profiled, *, several: bool) -> Exported:
    stacks = [stack for stack in one.stacks if stack.functions != (CLOCK,)]
    scale = _scale(number for stack in stacks for number in (stack.before, stack.after))
    return Exported(
        title=visible(f"{one.workload} {one.metric}" if several else one.metric),
        unit="instructions" if scale == 1 else f"instructions/{scale}",
        before=one.before,
        after=one.after,
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
