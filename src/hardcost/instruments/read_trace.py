"""Makes traces of what the emulator's plugin noted: of a window, or of the one call in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.errors import TrialError
from hardcost.instruments.stretches import Tree, found
from hardcost.instruments.traces import Trace, deed, in_interrupt
from hardcost.instruments.windows import Together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.instruments.traces import Row
    from hardcost.instruments.windows import Windows
    from hardcost.machines.noted import Note, Noted
    from hardcost.machines.stacks import Place, Stacks, Stretch


def traces(
    seen: Stacks, windows: Sequence[Windows | Together], caller: str | None
) -> tuple[Trace, ...]:
    """Return what was noted of each metric's last window; `caller` makes the call, if one does.

    Raises:
        TrialError: What was seen is not what the instrument counted, or too much to be kept.
    """
    result: list[Trace] = []
    at = 0
    for group in windows:
        if isinstance(group, Together):
            continue
        stretches, at = found(seen.stretches, group, at)
        if group.metric is None:
            continue
        result.append(_trace(group.metric, group.ticks[-1], stretches[-1], seen.places, caller))
    return tuple(result)


def _trace(
    metric: str, ticks: int, stretch: Stretch, places: Sequence[Place], caller: str | None
) -> Trace:
    noted = stretch.noted
    if noted is None or noted.is_cut:
        why = "nothing was noted" if noted is None else "more happened than is kept"
        raise TrialError(
            f"{metric} can't be traced: {why}",
            hint="a shorter workload, such as files=10, can be" if noted is not None else None,
        )
    tree = Tree(places)
    begin, end, returned, mine = 0, stretch.total, 0, 0
    if caller is not None:
        mine, begin, returned = _call(noted, caller)
        end = max(returned, _last(noted, begin, mine, places))
    rows = tuple(_rows(noted, begin, end, tree))
    return Trace(
        metric=metric,
        ticks=ticks,
        begin=begin,
        end=end,
        caller=mine,
        returned=returned,
        idle=ticks - stretch.total,
        processes=noted.processes,
        frames=tuple(tree.frames),
        notes=rows,
    )


def _call(noted: Noted, caller: str) -> tuple[int, int, int]:
    """Return who made the call that the last two readings of the clock enclose, and when.

    Raises:
        TrialError: Nobody did.
    """
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


def _last(noted: Noted, begin: int, caller: int, places: Sequence[Place]) -> int:
    """Return when the last of those whom the call has woken was done with a record; 0: nobody was.

    That is when the system call returned in which it took or wrote one.
    """
    concerned, busy, latest, runs = {caller}, set[int](), 0, caller
    for note in noted.notes:
        if note.kind == "runs":
            runs = note.process
        if note.when < begin or runs not in concerned:
            continue
        if note.kind == "wakes" and note.process and not in_interrupt(_stack(note.place, places)):
            concerned.add(note.process)
        elif runs != caller and note.kind == "begins" and deed(_stack(note.place, places)):
            busy.add(runs)
        elif note.kind == "leaves" and runs in busy:
            busy.remove(runs)
            latest = note.when
    return latest


def _rows(noted: Noted, begin: int, end: int, tree: Tree) -> Iterator[Row]:
    """Yield what was noted between two moments; first, who runs at the first of them."""
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
        yield _row(note, tree)
    if not begun:
        yield ("runs", begin, runs, 0)


def _row(note: Note, tree: Tree) -> Row:
    return (note.kind, note.when, note.process, tree.number(note.place) if note.place else 0)


def _stack(place: int, places: Sequence[Place]) -> list[str]:
    """Return the process and functions of a place, from the first to the latest."""
    names: list[str] = []
    while place:
        names.append(places[place - 1].name)
        place = places[place - 1].parent
    return names[::-1]
