"""Windows: spans of a workload, between two readings of the clock, that are counted by function."""

from __future__ import annotations

from dataclasses import dataclass

from hardcost.protocol.answers import CommandAnswer, RanAnswer


@dataclass(frozen=True)
class Windows:
    """Windows that a workload had measured, one after another.

    `ticks` are what the clock said of each, or what several processors executed in it, after
    `before` others of the same kind. The first `dropped` of them are no samples of `metric`; None:
    none is. A sample is the ticks of one for each of `operations`. `number` is that of the
    perturbation where one trial has several, but for its first: 0.
    """

    metric: str | None
    ticks: tuple[int, ...]
    before: int = 0
    dropped: int = 0
    operations: int = 1
    number: int = 0


def counted_ticks(answer: CommandAnswer | RanAnswer) -> int | None:
    """Return the instructions of a measured program's window: of several processors, all of theirs.

    None: it was not measured.
    """
    return answer.ticks if answer.parallel is None else answer.parallel.ticks


@dataclass(frozen=True)
class Together:
    """A metric that is the sum of several windows, each of which is one of `parts`.

    The parts are named as their `Windows` are, and have one sample each.
    """

    metric: str
    parts: tuple[str, ...]
    operations: int = 1
