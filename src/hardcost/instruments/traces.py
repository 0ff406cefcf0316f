"""Which process ran when in a window that was measured, and who woke whom.

A trace is the window itself or, of a program that makes one call, the part of it from the call to
the moment when the last process that it has woken is done with its record.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from hardcost.model.call_tree import Frame, check_frames

TAKES, WRITES = "takes a record", "writes to a file"
"""The acts of a process on a record that are worth a word."""

ASKS = "fanotify_handle_event"
"""The kernel's function in which a process asks a daemon whether it may open a file."""

_TAKES = ("netlink_recvmsg", "skb_free_datagram")  # the second, called by the first
_WRITES = "_write_iter"
_INTERRUPTS = (
    "asm_sysvec_",
    "asm_common_interrupt",
    "asm_exc_nmi",
    "__do_softirq",
    "handle_softirqs",
)

TraceRow = tuple[str, int, int, int]


class Trace(BaseModel):
    """The events of a window from `begin` to `end`, out of its `ticks` instructions.

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
    notes: tuple[TraceRow, ...]


def deed(stack: Sequence[str]) -> str | None:
    """Return the innermost function's act on a record; None if there is none."""
    function = stack[-1].partition(" ")[0] if stack else ""  # without its module
    if function == _TAKES[1] and _TAKES[0] in stack:
        return TAKES
    return WRITES if function.endswith(_WRITES) else None


def in_interrupt(stack: Sequence[str]) -> bool:
    """Say whether an interrupt calls these functions, which concern no process that runs then."""
    return any(name.startswith(_INTERRUPTS) for name in stack)


def check(one: Trace) -> None:
    """Check that a trace is whole.

    Raises:
        ValueError: It is not.
    """
    if not 0 <= one.begin <= one.end <= one.ticks or not 0 <= one.idle <= one.ticks:
        raise ValueError(f"the trace of {one.metric} has no begin or end")
    latest = one.begin
    check_frames(one.frames)
    for _, when, process, place in one.notes:
        known = 0 <= process <= len(one.processes) and 0 <= place <= len(one.frames)
        if not known or not latest <= when <= one.end:
            raise ValueError(f"the trace of {one.metric} is damaged")
        latest = when
    if not one.notes or one.notes[0][:2] != ("runs", one.begin):
        raise ValueError(f"the trace of {one.metric} does not say who begins")
