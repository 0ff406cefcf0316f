"""The processor's counts of each call, as a table beside its times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hardcost.analysis.recorders.counters import Counted, counts_by_call
from hardcost.model.finding.study import StudyFinding
from hardcost.show.tables.layout import Column, Grid, numbers
from hardcost.units import count, visible

_EVENTS = {
    "instructions:k": "insn in the kernel",
    "instructions:u": "insn in programs",
    "cycles": "cycles",
    "cycles:u": "cycles in programs",
}
"""The events that are shown, with their headings."""

_HOW = (
    "counted by the processor in a separate process, after the timed one; medians of trials;"
    " interrupts and what surrounds the windows are included, so it is not exact as insn is"
)
_PROGRAMS = (
    "the kernel's own work is not counted: the machine lets only root count it"
    " (kernel.perf_event_paranoid)"
)


def counter_grids(finding: StudyFinding) -> list[Grid]:
    """Return, for each workload, instructions and cycles of each call, and their ratio."""
    every = counts_by_call(finding)
    grids = []
    for workload in dict.fromkeys(one.workload for one in every):
        rows = [one for one in every if one.workload == workload]
        labels = (
            Column("configuration", tuple(visible(one.configuration) for one in rows), left=True),
            Column("call", tuple(visible(one.call) for one in rows), left=True),
        )
        columns = [
            numbers(heading, [one.counts.get(event, math.nan) for one in rows])
            for event, heading in _EVENTS.items()
            if any(event in one.counts for one in rows)
        ]
        columns.append(numbers("insn/cycle", [one.per_cycle for one in rows]))
        title = f"{visible(workload)}: counted by the processor, for an operation"
        grids.append(Grid(title, labels, tuple(columns), notes=tuple(_notes(rows))))
    return grids


def _notes(rows: Sequence[Counted]) -> Iterator[str]:
    yield _HOW
    if any("cycles:u" in one.counts for one in rows):
        yield _PROGRAMS
    if left_out := max(one.left_out for one in rows):
        yield (
            f"up to {count(left_out, 'trial')} of a configuration lack a call: another program used"
            " the counters at that time"
        )
