"""Makes traces of the notes of the emulator's plugin on a window, or on the one call in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardcost.errors import TrialError
from hardcost.instruments.call_trees import FramesInUse, find_windows
from hardcost.instruments.traces import Trace, TraceRow, deed, in_interrupt
from hardcost.instruments.windows import Together, Windows
from hardcost.model.call_tree import Frame, names_to
from hardcost.protocol.plugin.schedule import Schedule, ScheduleNote
from hardcost.protocol.plugin.stacks import CountedWindow, Stacks


def traces(
    seen: Stacks, windows: Sequence[Windows | Together], caller: str | None
) -> tuple[Trace, ...]:
    """Return the trace of each metric's last window; `caller` makes the call, if one does.

    Raises:
        TrialError: What was seen is not what the instrument counted, or too much to be kept.
    """
    result: list[Trace] = []
    at = 0
    for group in windows:
        if isinstance(group, Together):
            continue
        counted_windows, at = find_windows(seen.windows, group, at)
        if group.metric is None:
            continue
        result.append(
            _trace(group.metric, group.ticks[-1], counted_windows[-1], seen.frames, caller)
        )
    return tuple(result)


def _trace(
    metric: str,
    ticks: int,
    counted: CountedWindow,
    seen: Sequence[Frame],
    caller: str | None,
) -> Trace:
    noted = counted.schedule
    if noted is None or noted.is_cut:
        why = "nothing was noted" if noted is None else "more happened than is kept"
        raise TrialError(
            f"{metric} can't be traced: {why}",
            hint="a shorter workload, such as files=10, can be" if noted is not None else None,
        )
    frames = FramesInUse(seen)
    begin, end, returned, mine = 0, counted.total, 0, 0
    if caller is not None:
        mine, begin, returned = _call(noted, caller)
        end = max(returned, _last(noted, begin, mine, seen))
    rows = tuple(_rows(noted, begin, end, frames))
    return Trace(
        metric=metric,
        ticks=ticks,
        begin=begin,
        end=end,
        caller=mine,
        returned=returned,
        idle=ticks - counted.total,
        processes=noted.processes,
        frames=tuple(frames.found),
        notes=rows,
    )


def _call(noted: Schedule, caller: str) -> tuple[int, int, int]:
    """Return who made the call that the last two readings of the clock enclose, and when."""
    runs, readings = 0, []
    for note in noted.notes:
        if note.kind == "runs":
            runs = note.process
        elif note.kind == "reads" and runs and noted.processes[runs - 1] == caller:
            readings.append((runs, note.when))
    if len(readings) < 2:  # noqa: PLR2004  (before the call and after it)
        raise TrialError(f"{caller} did not make its call")
    (process, begin), (_, returned) = readings[-2:]
    return process, begin, returned


def _last(noted: Schedule, begin: int, caller: int, frames: Sequence[Frame]) -> int:
    """Return when the last process that the call has woken was done with a record; 0: none was.

    That is when the system call returned in which it took or wrote one.
    """
    concerned, busy, latest, runs = {caller}, set[int](), 0, caller
    for note in noted.notes:
        if note.kind == "runs":
            runs = note.process
        if note.when < begin or runs not in concerned:
            continue
        if note.kind == "wakes" and note.process and not in_interrupt(names_to(note.place, frames)):
            concerned.add(note.process)
        elif runs != caller and note.kind == "begins" and deed(names_to(note.place, frames)):
            busy.add(runs)
        elif note.kind == "leaves" and runs in busy:
            busy.remove(runs)
            latest = note.when
    return latest


def _rows(noted: Schedule, begin: int, end: int, frames: FramesInUse) -> Iterator[TraceRow]:
    """Yield the notes between two moments, beginning with the process that runs at the first."""
    runs = 0
    begun = False
    for note in noted.notes:
        if note.when > end:
            break
        if note.when < begin or (note.kind == "reads"):
            runs = note.process if note.kind == "runs" else runs
            continue
        if not begun and not (note.kind == "runs" and note.when == begin):
            yield ("runs", begin, runs, 0)
        begun = True
        yield _row(note, frames)
    if not begun:
        yield ("runs", begin, runs, 0)


def _row(note: ScheduleNote, frames: FramesInUse) -> TraceRow:
    return (note.kind, note.when, note.process, frames.number(note.place) if note.place else 0)
