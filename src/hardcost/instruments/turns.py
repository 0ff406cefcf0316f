"""The turns of several processors: how long they are in a trial, and in the one that checks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hardcost.protocol.requests import Parallel, Request


@dataclass(frozen=True)
class Turns:
    """The length of turns: all processors share `nanoseconds` of the guest's clock."""

    nanoseconds: int

    @property
    def request(self) -> Parallel:
        """The request that starts the clock with such turns."""
        return Parallel(turns=self.nanoseconds)


TURNS = Turns(100_000)
"""Those of a measurement."""

LONG_TURNS = Turns(1_000_000)
"""Those that a measurement is compared with."""


def with_long_turns(job: Sequence[Request]) -> tuple[Request, ...]:
    """Return a job with longer turns."""
    return tuple(LONG_TURNS.request if isinstance(one, Parallel) else one for one in job)
