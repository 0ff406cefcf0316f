"""The call tree of a trial: which functions executed instructions, under which callers.

QEMU's plugin counts it, a record holds it; what says where costs arise is made of it. What a
window's functions executed adds up to what the instrument `insn` says of it, to the instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from hardcost.model.document import IfAny, Place

FrameKind = Literal["process", "kernel", "user"]
"""A node of the tree: a process by its name, or a function."""

FramePath = tuple[str, ...]
"""The names of frames from a process to a function."""

WAITING = "[waiting]"
"""Stands for what the clock went on while the processor had nothing to do."""


IDLE_PROCESS = "hardcost-idle"
"""The process that runs on a processor where no other has anything to do."""


@dataclass(frozen=True)
class Frame:
    """A process, or a function below its caller.

    `above` is the caller's number, counted from 1; 0: there is none. `at` is the line, where a
    function's lines were counted one by one.
    """

    above: int
    kind: FrameKind
    name: str
    at: Place = None


class Sampled(BaseModel):
    """A metric's samples, by the functions that executed them.

    `number` is that of the perturbation where one trial has several, but for its first: 0. A sample
    is the ticks of one window for each of `operations`. `samples` has the number of each sample's
    window in `windows`, and `ticks` what the clock said of it. A window's instructions are by the
    number of their frame. Of several processors, `ticks` are what those that are measured executed,
    and `processors` has what each of them executed in each window.
    """

    model_config = ConfigDict(frozen=True)

    metric: str
    number: int = 0
    operations: int
    ticks: tuple[int, ...]
    samples: tuple[int, ...]
    windows: tuple[dict[int, int], ...]
    processors: IfAny[tuple[tuple[dict[int, int], ...], ...]] = ()


class CallTree(BaseModel):
    """The counts of one trial; `frames` are a tree, numbered from 1."""

    model_config = ConfigDict(frozen=True)

    frames: tuple[Frame, ...]
    metrics: tuple[Sampled, ...]


def sum_counts(parts: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Return the instructions of several parts of a window, by the number of the frame."""
    sums: dict[int, int] = {}
    for part in parts:
        for number, count in part.items():
            sums[number] = sums.get(number, 0) + count
    return sums


def names_to(number: int, frames: Sequence[Frame]) -> list[str]:
    """Return the names from the process down to a frame; none of the number 0."""
    names: list[str] = []
    while number:
        frame = frames[number - 1]
        names.append(frame.name)
        number = frame.above
    return names[::-1]


def check_frames(frames: Sequence[Frame]) -> None:
    """Check that frames are a tree.

    Raises:
        ValueError: They are not.
    """
    for number, frame in enumerate(frames, 1):
        if not 0 <= frame.above < number:
            raise ValueError("its frames are no tree")


def check(one: CallTree) -> None:
    """Check that a call tree is whole.

    Raises:
        ValueError: A number is none of a frame, a window or a count.
    """
    check_frames(one.frames)
    for metric in one.metrics:
        several = len(metric.processors) not in {0, len(metric.windows)}
        if len(metric.samples) != len(metric.ticks) or metric.operations < 1 or several:
            raise ValueError(f"the call tree of {metric.metric} is not whole")
        for sample, ticks in zip(metric.samples, metric.ticks, strict=True):
            if not 0 <= sample < len(metric.windows):
                raise ValueError(f"the call tree of {metric.metric} lacks a window")
            _check_window(metric.windows[sample], ticks, len(one.frames))
        for window, each in zip(metric.windows, metric.processors, strict=False):
            if sum_counts(each) != window:
                raise ValueError(f"the processors of {metric.metric} do not add up")


def _check_window(window: dict[int, int], ticks: int, frames: int) -> None:
    if any(not 1 <= number <= frames or count < 0 for number, count in window.items()):
        raise ValueError("a window of its call tree is damaged")
    if sum(window.values()) != ticks:
        raise ValueError("a window of its call tree is not what the clock said")
