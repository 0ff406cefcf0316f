"""Call trees of samples, from the windows that the emulator's plugin counted.

Our programs read the clock at the begin of a window and at its end, and the plugin counts in
between. The order of the windows gives the sample of each, and each has as many instructions as the
instrument says, or the trial fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.errors import TrialError
from hardcost.instruments.parallel import FIRST_MEASURED
from hardcost.instruments.windows import Together, Windows
from hardcost.model.call_tree import WAITING, CallTree, Frame, Sampled, sum_counts
from hardcost.protocol.plugin.lines import split_name
from hardcost.protocol.plugin.stacks import CountedWindow, FrameCounts, Stacks


def call_tree(seen: Stacks, windows: Sequence[Windows | Together]) -> CallTree:
    """Return the call tree of the windows that were measured, which are in the order of the trial.

    What several of them took together comes after them.

    Raises:
        TrialError: What was seen is not what the instrument counted.
    """
    frames = FramesInUse(seen.frames)
    metrics: list[Sampled] = []
    at = 0
    for group in windows:
        if isinstance(group, Together):
            metrics.append(_sum_windows(group, metrics))
            continue
        counted_windows, at = find_windows(seen.windows, group, at)
        if group.metric is not None:
            metrics.append(_sample_windows(group, counted_windows, frames))
    return CallTree(frames=tuple(frames.found), metrics=tuple(metrics))


def find_windows(
    counted_windows: Sequence[CountedWindow], group: Windows, at: int
) -> tuple[list[CountedWindow], int]:
    """Return the counted windows of a group, and the index where the next group may begin.

    Raises:
        TrialError: There are no windows of these lengths.
    """
    reach = group.before + len(group.ticks)
    for begin in range(at, len(counted_windows) - reach + 1):
        mine = counted_windows[begin + group.before : begin + reach]
        if all(_is(one, ticks) for one, ticks in zip(mine, group.ticks, strict=True)):
            return list(mine), begin + reach
    what = group.metric or "the clock itself"
    raise TrialError(
        f"what QEMU's plugin saw of {what} is not what the instrument counted"
        f" ({list(group.ticks[:3])} …)",
        hint="please report it, with what `hardcost doctor` prints",
    )


def _is(one: CountedWindow, ticks: int) -> bool:
    """Say whether a window has so many ticks; a process that waits executes no instructions."""
    return one.total == ticks or (one.idle > 0 and one.total < ticks)


class FramesInUse:
    """The frames that are in use, renumbered; below a trampoline it is not shown again."""

    def __init__(self, seen: Sequence[Frame]) -> None:
        self._seen = seen
        self._known: dict[int, int] = {}
        self.found: list[Frame] = []
        self._numbers: dict[Frame, int] = {}

    def number(self, seen: int) -> int:
        """Return the new number of a frame that the plugin has `seen`."""
        known = self._known.get(seen)
        if known is None:
            one = self._seen[seen - 1]
            above = self.number(one.above) if one.above else 0
            name, at = split_name(one.name) if one.kind == "kernel" else (one.name, None)
            known = self._number_of(Frame(above=above, kind=one.kind, name=name, at=at))
            self._known[seen] = known
        return known

    def waiting(self) -> int:
        """Return the number of the frame that stands for waiting."""
        return self._number_of(Frame(above=0, kind="process", name=WAITING))

    def _number_of(self, frame: Frame) -> int:
        if frame.above and _is_trampoline(frame.name):
            caller = self.found[frame.above - 1]
            if caller.name == frame.name:
                return frame.above
        if frame not in self._numbers:
            self.found.append(frame)
            self._numbers[frame] = len(self.found)
        return self._numbers[frame]


def _is_trampoline(name: str) -> bool:
    return name.startswith("__x86_indirect_thunk")


def _sample_windows(
    group: Windows, counted_windows: Sequence[CountedWindow], frames: FramesInUse
) -> Sampled:
    if any(one.processors for one in counted_windows):
        return _sample_processors(group, counted_windows, frames)
    windows: list[dict[int, int]] = []
    samples = []
    pairs = list(zip(counted_windows, group.ticks, strict=True))[group.dropped :]
    for counted, ticks in pairs:
        window = _window(counted, ticks, frames)
        if window not in windows:
            windows.append(window)
        samples.append(windows.index(window))
    return Sampled(
        metric=group.metric or "",
        number=group.number,
        operations=group.operations,
        ticks=tuple(ticks for _, ticks in pairs),
        samples=tuple(samples),
        windows=tuple(windows),
    )


def _sample_processors(
    group: Windows, counted_windows: Sequence[CountedWindow], frames: FramesInUse
) -> Sampled:
    """Return the samples of several processors: what those that are measured executed."""
    processors = tuple(
        tuple(_by_number(counts, frames) for counts in one.processors[FIRST_MEASURED:])
        for one in counted_windows[group.dropped :]
    )
    windows = tuple(map(sum_counts, processors))
    return Sampled(
        metric=group.metric or "",
        number=group.number,
        operations=group.operations,
        ticks=tuple(sum(window.values()) for window in windows),
        samples=tuple(range(len(windows))),
        windows=windows,
        processors=processors,
    )


def _sum_windows(group: Together, known: Sequence[Sampled]) -> Sampled:
    """Return the sum of several windows."""
    parts = [one for one in known if one.metric in group.parts and one.number == 0]
    window = sum_counts(part.windows[part.samples[0]] for part in parts)
    processors = zip(*(each for part in parts for each in part.processors[:1]), strict=True)
    several = tuple(map(sum_counts, processors))
    return Sampled(
        metric=group.metric,
        operations=group.operations,
        ticks=(sum(part.ticks[0] for part in parts),),
        samples=(0,),
        windows=(window,),
        processors=(several,) if several else (),
    )


def _by_number(counts: FrameCounts, frames: FramesInUse) -> dict[int, int]:
    found: dict[int, int] = {}
    for seen, count in counts:
        number = frames.number(seen)
        found[number] = found.get(number, 0) + count
    return found


def _window(counted: CountedWindow, ticks: int, frames: FramesInUse) -> dict[int, int]:
    """Return a window's instructions by frame, which add up to its ticks."""
    window = _by_number(counted.counts, frames)
    if counted.total < ticks:
        window[frames.waiting()] = ticks - counted.total
    return window
