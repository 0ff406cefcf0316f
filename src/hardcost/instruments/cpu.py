"""`cpu` says which process had the processor, in all and over time.

The kernel's own clock of each process is exact, and is read at intervals: a row for each. A process
that ends within a row is reported by the kernel at its end, up to its last tick. The time after
that tick is known only as a sum over all that ended in the row, and is split evenly between them.
The division between programs (`user`) and the kernel (`system`) is only sampled, in steps of 10 ms.
What the kernel does in interrupts counts for the process that it interrupts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from hardcost.instruments.watch import steps
from hardcost.model.observation import Observed
from hardcost.protocol.answers import Answer, WatchedAnswer, only

NAME = "cpu"
TITLE = "share of the processor by process, and over time"
WATCH: Final = "cpu"

_IDLE = "idle"
_RESERVED = frozenset({_IDLE, "user", "system"})


def observation_of(answers: Sequence[Answer]) -> Observed:
    """Return the processor time of each process, in ticks of the instrument's clock.

    Raises:
        TrialError: The processor was not watched.
    """
    seen = only(answers, WatchedAnswer)
    if seen.cpu is None:
        return Observed(instrument=NAME, unit_of_totals="ticks", own_ticks=seen.own_ticks)
    totals = {_process_name(name): had * seen.rate for name, had in seen.cpu.processes.items()}
    series = {
        name if name == _IDLE else _process_name(name): _to_ticks(line, seen.rate)
        for name, line in seen.cpu.series.items()
    }
    sampled = {"user": seen.cpu.user, "system": seen.cpu.system}
    return Observed(
        instrument=NAME,
        unit_of_totals="ticks",
        totals=totals | {_IDLE: seen.cpu.idle * seen.rate},
        times=seen.times,
        series=series | {name: _to_ticks(line, seen.rate) for name, line in sampled.items()},
        steps=steps(answers),
        own_ticks=seen.own_ticks,
    )


def _process_name(process: str) -> str:
    """Return a process's name; one that would be taken for something else is marked."""
    return f"{process} (process)" if process in _RESERVED else process


def _to_ticks(nanoseconds: Iterable[int], rate: float) -> tuple[float, ...]:
    return tuple(had * rate for had in nanoseconds)
