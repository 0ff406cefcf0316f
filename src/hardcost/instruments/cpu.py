"""`cpu` says which process had the processor, in all and over time.

The kernel's own clock of each process is read in rows, and exact. What ended between two rows the
kernel tells at its end, up to its last tick; what comes after that is known for all that ended in a
row together, and split by the number of ends. How a stretch is split between programs (`user`) and
the kernel (`system`) it only samples, in steps of 10 ms. What the kernel does in interrupts counts
for whom it interrupts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hardcost.instruments.observed import Observed
from hardcost.instruments.watchanswer import steps
from hardcost.protocol.answers import WatchedAnswer, only

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hardcost.protocol.answers import Answer

NAME = "cpu"
TITLE = "share of the processor by process, and over time"
WATCH: Final = "cpu"

_IDLE = "idle"
_RESERVED = frozenset({_IDLE, "user", "system"})


def observed(answers: Sequence[Answer]) -> Observed:
    """Return what each process had, in ticks of the instrument's clock.

    Raises:
        TrialError: The processor was not watched.
    """
    seen = only(answers, WatchedAnswer)
    if seen.cpu is None:
        return Observed(instrument=NAME, unit_of_totals="ticks", own_ticks=seen.own_ticks)
    totals = {_named(name): had * seen.rate for name, had in seen.cpu.processes.items()}
    series = {
        name if name == _IDLE else _named(name): _scaled(line, seen.rate)
        for name, line in seen.cpu.series.items()
    }
    sampled = {"user": seen.cpu.user, "system": seen.cpu.system}
    return Observed(
        instrument=NAME,
        unit_of_totals="ticks",
        totals=totals | {_IDLE: seen.cpu.idle * seen.rate},
        times=seen.times,
        series=series | {name: _scaled(line, seen.rate) for name, line in sampled.items()},
        steps=steps(answers),
        own_ticks=seen.own_ticks,
    )


def _named(process: str) -> str:
    """Return a process's name; one that would be taken for something else is marked."""
    return f"{process} (process)" if process in _RESERVED else process


def _scaled(nanoseconds: Iterable[int], rate: float) -> tuple[float, ...]:
    return tuple(had * rate for had in nanoseconds)
