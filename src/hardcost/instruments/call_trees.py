"""Whose windows the stretches are that the emulator's plugin counted.

Programs of ours read the clock at the begin of a window and at its end, and the plugin counts in
between. Which stretch is which sample follows from their order; and each has as many instructions
as the instrument says, or the trial fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.errors import TrialError
from hardcost.instruments.windows import WAITING, Frame, Profile, Profiled, Together
from hardcost.machines.codelines import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.instruments.windows import Windows
    from hardcost.machines.stacks import Place, Stacks, Stretch


def profile(seen: Stacks, windows: Sequence[Windows | Together]) -> Profile:
    """Return the profile of the windows that were measured, which are in the order of the trial.

    What several of them took together comes after them.

    Raises:
        TrialError: What was seen is not what the instrument counted.
    """
    tree = Tree(seen.places)
    metrics: list[Profiled] = []
    at = 0
    for group in windows:
        if isinstance(group, Together):
            metrics.append(_summed(group, metrics))
            continue
        stretches, at = found(seen.stretches, group, at)
        if group.metric is not None:
            metrics.append(_profiled(group, stretches, tree))
    return Profile(frames=tuple(tree.frames), metrics=tuple(metrics))


def found(stretches: Sequence[Stretch], group: Windows, at: int) -> tuple[list[Stretch], int]:
    """Return the stretches that are a group's windows, and where the next group may begin.

    Raises:
        TrialError: There are no stretches of these lengths.
    """
    reach = group.before + len(group.ticks)
    for begin in range(at, len(stretches) - reach + 1):
        mine = stretches[begin + group.before : begin + reach]
        if all(_is(one, ticks) for one, ticks in zip(mine, group.ticks, strict=True)):
            return list(mine), begin + reach
    what = group.metric or "the clock itself"
    raise TrialError(
        f"what QEMU's plugin saw of {what} is not what the instrument counted"
        f" ({list(group.ticks[:3])} …)",
        hint="please report it, with what `hardcost doctor` prints",
    )


def _is(one: Stretch, ticks: int) -> bool:
    """Say whether a stretch is a window of so many ticks; waiting takes ticks and executes none."""
    return one.total == ticks or (one.idle > 0 and one.total < ticks)


class Tree:
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
            name, at = split(one.name) if one.kind == "kernel" else (one.name, "")
            known = self._numbered(Frame(above=above, kind=one.kind, name=name, at=at))
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


def _profiled(group: Windows, stretches: Sequence[Stretch], tree: Tree) -> Profiled:
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
        number=group.number,
        operations=group.operations,
        ticks=tuple(ticks for _, ticks in pairs),
        samples=tuple(samples),
        windows=tuple(windows),
    )


def _summed(group: Together, known: Sequence[Profiled]) -> Profiled:
    """Return what several windows took together."""
    parts = [one for one in known if one.metric in group.parts and one.number == 0]
    window: dict[int, int] = {}
    for part in parts:
        for number, count in part.windows[part.samples[0]].items():
            window[number] = window.get(number, 0) + count
    return Profiled(
        metric=group.metric,
        operations=group.operations,
        ticks=(sum(part.ticks[0] for part in parts),),
        samples=(0,),
        windows=(window,),
    )


def _window(stretch: Stretch, ticks: int, tree: Tree) -> dict[int, int]:
    """Return a window's instructions by frame, which add up to its ticks."""
    window: dict[int, int] = {}
    for place, count in stretch.counts:
        number = tree.number(place)
        window[number] = window.get(number, 0) + count
    if stretch.total < ticks:
        window[tree.waiting()] = ticks - stretch.total
    return window
