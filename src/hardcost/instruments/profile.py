"""`profile` says which functions executed the instructions of each sample, under which callers.

It stands beside `insn`, in whose windows it counts: what a window's functions executed adds up to
what the instrument says of it, to the instruction, or the trial fails. The emulator's plugin counts
from one reading of the clock to the next; which of these stretches is whose sample follows from
their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from hardcost.errors import TrialError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.machines.stacks import Place, Stacks, Stretch

NAME: Final = "profile"
TITLE = "which functions execute the instructions of each sample"

WAITING: Final = "[waiting]"
"""Stands for what the clock went on while the processor had nothing to do."""


@dataclass(frozen=True)
class Windows:
    """Windows that a workload had measured, one after another.

    `ticks` are what the clock said of each, after `before` others of the same kind. The first
    `dropped` of them are no samples of `metric`; None: none is. A sample is the ticks of one for
    each of `operations`.
    """

    metric: str | None
    ticks: tuple[int, ...]
    before: int = 0
    dropped: int = 0
    operations: int = 1


class Profiled(BaseModel):
    """A metric's samples, by what executed them.

    `samples` has the number of each sample's window in `windows`, and `ticks` what the clock said
    of it. A window's instructions are by the number of their place in the profile's tree.
    """

    model_config = ConfigDict(frozen=True)

    metric: str
    operations: int
    ticks: tuple[int, ...]
    samples: tuple[int, ...]
    windows: tuple[dict[int, int], ...]


class Frame(BaseModel):
    """A function below another: `above` is that one's number, counted from 1; 0: there is none.

    `kind` is `process`, `kernel` or `user`.
    """

    model_config = ConfigDict(frozen=True)

    above: int
    kind: str
    name: str


class Profile(BaseModel):
    """What was seen in one trial; `frames` are a tree, numbered from 1."""

    model_config = ConfigDict(frozen=True)

    frames: tuple[Frame, ...]
    metrics: tuple[Profiled, ...]


def profile(seen: Stacks, windows: Sequence[Windows]) -> Profile:
    """Return the profile of the windows that were measured, which are in the order of the trial.

    Raises:
        TrialError: What was seen is not what the instrument counted.
    """
    tree = _Tree(seen.places)
    metrics, at = [], 0
    for group in windows:
        stretches, at = _found(seen.stretches, group, at)
        if group.metric is not None:
            metrics.append(_profiled(group, stretches, tree))
    return Profile(frames=tuple(tree.frames), metrics=tuple(metrics))


def _found(
    stretches: Sequence[Stretch], group: Windows, at: int
) -> tuple[list[Stretch], int]:
    """Return the stretches that are a group's windows, and where the next group may begin.

    Between two windows there is a stretch that is none.

    Raises:
        TrialError: There are no stretches of these lengths.
    """
    first = 2 * group.before
    reach = first + 2 * len(group.ticks) - 1
    for begin in range(at, len(stretches) - reach + 1):
        mine = stretches[begin + first : begin + reach : 2]
        if all(_is(one, ticks) for one, ticks in zip(mine, group.ticks, strict=True)):
            return list(mine), begin + reach + 1
    what = group.metric or "the clock itself"
    raise TrialError(
        f"what QEMU's plugin saw of {what} is not what the instrument counted"
        f" ({list(group.ticks[:3])} …)",
        hint="please report it, with what `hardcost doctor` prints",
    )


def _is(one: Stretch, ticks: int) -> bool:
    """Say whether a stretch is a window of so many ticks; waiting takes ticks and executes none."""
    return one.total == ticks or (one.idle > 0 and one.total < ticks)


class _Tree:
    """The places that are in use, numbered anew; below a trampoline it is not shown again."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._known: dict[int, int] = {}
        self.frames: list[Frame] = []
        self._numbers: dict[Frame, int] = {}

    def number(self, place: int) -> int:
        """Return the number of a place's frame."""
        known = self._known.get(place)
        if known is None:
            one = self._places[place - 1]
            above = self.number(one.parent) if one.parent else 0
            known = self._numbered(Frame(above=above, kind=one.kind, name=one.name))
            self._known[place] = known
        return known

    def waiting(self) -> int:
        """Return the number of the frame that stands for waiting."""
        return self._numbered(Frame(above=0, kind="process", name=WAITING))

    def _numbered(self, frame: Frame) -> int:
        if frame.above and _is_trampoline(frame.name):
            caller = self.frames[frame.above - 1]
            if caller.name == frame.name:
                return frame.above
        if frame not in self._numbers:
            self.frames.append(frame)
            self._numbers[frame] = len(self.frames)
        return self._numbers[frame]


def _is_trampoline(name: str) -> bool:
    return name.startswith("__x86_indirect_thunk")


def _profiled(group: Windows, stretches: Sequence[Stretch], tree: _Tree) -> Profiled:
    windows: list[dict[int, int]] = []
    samples = []
    pairs = list(zip(stretches, group.ticks, strict=True))[group.dropped :]
    for stretch, ticks in pairs:
        window = _window(stretch, ticks, tree)
        if window not in windows:
            windows.append(window)
        samples.append(windows.index(window))
    return Profiled(
        metric=group.metric or "",
        operations=group.operations,
        ticks=tuple(ticks for _, ticks in pairs),
        samples=tuple(samples),
        windows=tuple(windows),
    )


def _window(stretch: Stretch, ticks: int, tree: _Tree) -> dict[int, int]:
    """Return a window's instructions by frame, which add up to its ticks."""
    window: dict[int, int] = {}
    for place, count in stretch.counts:
        number = tree.number(place)
        window[number] = window.get(number, 0) + count
    if stretch.total < ticks:
        window[tree.waiting()] = ticks - stretch.total
    return window


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

