"""What became of the time of several processors while something was measured.

All is in instructions. The processors' time is the length of what was measured, once for each. A
part of it they executed, work or a loop without any (`idle`); the rest they gave away, since QEMU
ends the turn of a processor that waits in a loop with `pause`, as for a lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hardcost.errors import TrialError
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.turns import Turns
from hardcost.model.observation import Observed
from hardcost.protocol.answers import Answer, CommandAnswer, ParallelAnswer, RanAnswer, only

NAME = "processors"
LENGTH, WORK, IDLE, GIVEN = "length", "work", "idle", "given away"
BUSY, SHARE, TURN = "busy ", "share ", "turn"


def observation_of(answers: Sequence[Answer], turns: Turns, in_turn: int) -> Observed:
    """Return what became of all measured programs' time, summed over them.

    `busy N` is how long the N-th processor was not idle: it worked, or waited in a loop. `share N`
    is its share of what all could execute, and `turn` the length of a turn, of so many processors
    among which QEMU divides it.

    Raises:
        TrialError: The guest measured nothing so.
    """
    started = only(answers, ParallelAnswer)
    spans = [
        (one.ticks or 0, one.parallel)
        for one in answers
        if isinstance(one, RanAnswer | CommandAnswer) and one.parallel is not None
    ]
    if not spans or any(len(span.idle) != len(started.counts) for _, span in spans):
        raise TrialError("the guest did not say what became of its processors' time")
    number = len(started.counts)
    length = sum(ticks for ticks, _ in spans)
    idle = [sum(one) for one in zip(*(span.idle for _, span in spans), strict=True)]
    executed = sum(span.executed for _, span in spans)
    counts = (started.clock, *started.counts)
    return Observed(
        instrument=NAME,
        unit_of_totals=PARALLEL.whole,
        totals={
            LENGTH: length,
            WORK: max(0, executed - sum(idle)),
            IDLE: sum(idle),
            GIVEN: max(0, number * length - executed),
            TURN: turns.nanoseconds // in_turn,
            **_numbered(BUSY, (max(0, length - one) for one in idle)),
            **_numbered(SHARE, (one / sum(counts) for one in started.counts)),
        },
    )


def _numbered(name: str, values: Iterable[float]) -> dict[str, float]:
    return {f"{name}{number}": value for number, value in enumerate(values, 1)}
