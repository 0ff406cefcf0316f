"""`counters`: the processor's counts of a call beside its time, on machines that count.

Instructions in programs (`instructions:u`) and in the kernel (`instructions:k`), and cycles. The
call is made for it in a process of its own, after the one that is timed: counting makes it slower
to start processes and to switch between them. Such counts are not exact as those of the instrument
`insn` are: interrupts, and what surrounds the windows, are in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hardcost.model.observation import Observed
from hardcost.protocol.answers import CallAnswer

NAME = "counters"
UNIT = "count/op"
SHARED = "shared"
"""Stands for the events of a call that were not counted all the while: the share that was."""


def observations_of_calls(
    answers: Sequence[CallAnswer], operations: Mapping[str, int]
) -> tuple[Observed, ...]:
    """Return the counts for an operation as totals `CALL EVENT`; () where nothing was counted.

    `operations` are those of a call, by its name.
    """
    totals: dict[str, float] = {}
    for one in answers:
        seen, made = one.counters, one.batch * operations.get(one.name, 0)
        if seen is None or not made:
            continue
        if not seen.whole:
            totals[key(one.name, SHARED)] = seen.running / seen.enabled if seen.enabled else 0.0
            continue
        made *= seen.windows
        totals |= {key(one.name, event): count / made for event, count in seen.counts.items()}
    if not totals:
        return ()
    return (Observed(instrument=NAME, unit_of_totals=UNIT, totals=totals),)


def key(call: str, event: str) -> str:
    """Return the name of a call's event among the totals."""
    return f"{call} {event}"


def call_and_event(name: str) -> tuple[str, str]:
    """Return the call and the event that a total is called after."""
    call, _, event = name.partition(" ")
    return call, event
