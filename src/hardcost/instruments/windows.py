"""`profile` says which functions executed the instructions of each sample, under which callers.

It stands beside `insn`, in whose windows it counts. What a window's functions executed adds up to
what the instrument says of it, to the instruction.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

WAITING = "[waiting]"
"""Stands for what the clock went on while the processor had nothing to do."""


@dataclass(frozen=True)
class Windows:
    """Windows that a workload had measured, one after another.

    `ticks` are what the clock said of each, after `before` others of the same kind. The first
    `dropped` of them are no samples of `metric`; None: none is. A sample is the ticks of one for
    each of `operations`. `number` is that of the perturbation where one trial has several, but for
    its first: 0.
    """

    metric: str | None
    ticks: tuple[int, ...]
    before: int = 0
    dropped: int = 0
    operations: int = 1
    number: int = 0


@dataclass(frozen=True)
class Together:
    """A metric that is what several windows took together, each of which is one of `parts`.

    The parts are named as their `Windows` are, and have one sample each.
    """

    metric: str
    parts: tuple[str, ...]
    operations: int = 1


class Profiled(BaseModel):
    """A metric's samples, by what executed them; `number` is as of `Windows`.

    `samples` has the number of each sample's window in `windows`, and `ticks` what the clock said
    of it. A window's instructions are by the number of their place in the profile's tree.
    """

    model_config = ConfigDict(frozen=True)

    metric: str
    number: int = 0
    operations: int
    ticks: tuple[int, ...]
    samples: tuple[int, ...]
    windows: tuple[dict[int, int], ...]


class Frame(BaseModel):
    """A function below another: `above` is that one's number, counted from 1; 0: there is none.

    `kind` is `process`, `kernel` or `user`. `at` is the line, as `FILE:LINE`, where a function's
    lines were counted one by one.
    """

    model_config = ConfigDict(frozen=True)

    above: int
    kind: str
    name: str
    at: str = ""


class Profile(BaseModel):
    """What was seen in one trial; `frames` are a tree, numbered from 1."""

    model_config = ConfigDict(frozen=True)

    frames: tuple[Frame, ...]
    metrics: tuple[Profiled, ...]


def check(one: Profile) -> None:
    """Check that a profile is whole.

    Raises:
        ValueError: A number is none of a frame, a window or a count.
    """
    for number, frame in enumerate(one.frames, 1):
        if not 0 <= frame.above < number:
            raise ValueError("its profile's tree is none")
    for metric in one.metrics:
        if len(metric.samples) != len(metric.ticks) or metric.operations < 1:
            raise ValueError(f"the profile of {metric.metric} is not whole")
        for sample, ticks in zip(metric.samples, metric.ticks, strict=True):
            if not 0 <= sample < len(metric.windows):
                raise ValueError(f"the profile of {metric.metric} lacks a window")
            _check_window(metric.windows[sample], ticks, len(one.frames))


def _check_window(window: dict[int, int], ticks: int, frames: int) -> None:
    if any(not 1 <= number <= frames or count < 0 for number, count in window.items()):
        raise ValueError("a window of its profile is damaged")
    if sum(window.values()) != ticks:
        raise ValueError("a window of its profile is not what the clock said")
