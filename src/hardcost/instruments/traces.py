"""Which process ran when in a window that was measured, and who woke whom.

A trace is the window itself or, of a program that makes one call, the part of it from the call to
the moment when nobody whom it has woken has anything left to do with its record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from hardcost.errors import TrialError
from hardcost.instruments.stretches import Tree, found
from hardcost.instruments.windows import Frame, Together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.instruments.windows import Windows
    from hardcost.machines.noted import Note, Noted
    from hardcost.machines.stacks import Place, Stacks, Stretch

TAKES, WRITES = "takes a record", "writes to a file"
"""What a process does with a record that is worth a word."""

_TAKES = ("netlink_recvmsg", "skb_free_datagram")  # the second, called by the first
_WRITES = "_write_iter"
_INTERRUPTS = (
    "asm_sysvec_",
    "asm_common_interrupt",
    "asm_exc_nmi",
    "__do_softirq",
    "handle_softirqs",
)

Row = tuple[str, int, int, int]


class Trace(BaseModel):
    """What happened from the moment `begin` of a window to `end`, of its `ticks` instructions.

    `notes` are rows: the kind, when (in instructions since the window began), the process
    and the place, as `machines.noted` has them; processes and places of `frames` count from 1.
    `caller` is the process whose call it is, which had `returned` at that moment; 0 of a whole
    window. `idle`: so many instructions' time passed while the processor stood still.
    """

    model_config = ConfigDict(frozen=True)

    metric: str
    ticks: int
    begin: int
    end: int
    caller: int = 0
    returned: int = 0
    idle: int = 0
    processes: tuple[str, ...]
    frames: tuple[Frame, ...]
    notes: tuple[Row, ...]


def traces(
    seen: Stacks, windows: Sequence[Windows | Together], caller: str | None
) -> tuple[Trace, ...]:
    """Return what was noted of each window that was measured; `caller` makes the call, if one does.

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
        for stretch, ticks in zip(stretches, group.ticks, strict=True):
            result.append(_trace(group.metric, ticks, stretch, seen.places, caller))
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
        if note.kind == "wakes" and note.process and not in_interrupt(note.place, places):
            concerned.add(note.process)
        elif runs != caller and note.kind == "begins" and deed(note.place, places):
            busy.add(runs)
        elif note.kind == "leaves" and runs in busy:
            busy.remove(runs)
            latest = note.when
    return latest


def deed(place: int, places: Sequence[Place] | Sequence[Frame]) -> str | None:
    """Return what is done with a record at a place of the tree, if anything is."""
    names = list(_names(place, places))
    if names[:1] == [_TAKES[1]] and _TAKES[0] in names:
        return TAKES
    return WRITES if names and names[0].endswith(_WRITES) else None


def in_interrupt(place: int, places: Sequence[Place] | Sequence[Frame]) -> bool:
    """Say whether a place is in the handler of an interrupt, which concerns nobody who runs."""
    return any(name.startswith(_INTERRUPTS) for name in _names(place, places))


def _names(place: int, places: Sequence[Place] | Sequence[Frame]) -> Iterator[str]:
    while place:
        one = places[place - 1]
        yield one.name
        place = one.above if isinstance(one, Frame) else one.parent


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


def check(one: Trace) -> None:
    """Check that a trace is whole.

    Raises:
        ValueError: It is not.
    """
    if not 0 <= one.begin <= one.end <= one.ticks or not 0 <= one.idle <= one.ticks:
        raise ValueError(f"the trace of {one.metric} has no begin or end")
    latest = one.begin
    for number, frame in enumerate(one.frames, 1):
        if not 0 <= frame.above < number:
            raise ValueError("its trace's tree is none")
    for _, when, process, place in one.notes:
        known = 0 <= process <= len(one.processes) and 0 <= place <= len(one.frames)
        if not known or not latest <= when <= one.end:
            raise ValueError(f"the trace of {one.metric} is damaged")
        latest = when
    if not one.notes or one.notes[0][:2] != ("runs", one.begin):
        raise ValueError(f"the trace of {one.metric} does not say who begins")
