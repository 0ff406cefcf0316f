"""Times measured until they are precise enough; disturbed blocks of trials are replaced.

When to stop is fixed beforehand, and looks at how wide intervals are, never at where they lie.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from hardcost.analysis.estimates import bootstrap
from hardcost.analysis.estimates.disturbance import set_aside
from hardcost.analysis.estimates.estimates import cells
from hardcost.model.finding.cell import Cell
from hardcost.plan.factorial import BLOCK_ROUNDS, block_of
from hardcost.plan.plan import Plan
from hardcost.store.record import Record
from hardcost.units import count

FEWEST_ROUNDS = BLOCK_ROUNDS * bootstrap.FEWEST_BLOCKS
"""Rounds that are measured before it is asked how precise they are."""

MOST_ROUNDS = 1000  # however precise times have to be
_MORE_THAN_NEEDED = 1.1  # the spread that the next number of rounds follows from is an estimate
_GROWTH = 2  # so many times the rounds before, at most: their spread may be wrong
_REPLACED = 0.5  # of the rounds planned, at most, are repeated for disturbed ones


@dataclass(frozen=True)
class Aim:
    """How precise is precise enough: half of an interval's width, relative; and within how long.

    `seconds` are those of hardcost's monotonic clock since it showed `began`, for all trials
    together.
    """

    precision: float
    seconds: float
    began: float


@dataclass(frozen=True)
class Settled:
    """The measurement at its end: its plan, the records that count, and notes for a reader."""

    plan: Plan
    records: tuple[Record, ...]
    notes: tuple[str, ...]


def settle_rounds(
    records: Sequence[Record],
    rounds: int,
    plan_for: Callable[[int], Plan],
    aim: Aim | None = None,
) -> Generator[Plan, tuple[Record, ...], Settled]:
    """Yield plans to be measured; return the records of so many rounds, and of those added to them.

    Without an aim, disturbed blocks are measured again, once; with one, blocks are added until it
    is reached, as `FEWEST_ROUNDS` alone can show, or time is up. `plan_for` returns the plan of a
    number of rounds, `records` are those of the first.
    """
    plan = plan_for(rounds)
    kept, notes = set_aside(records)
    if aim is None:
        lost = len(_blocks(records)) - len(_blocks(kept))
        again = min(BLOCK_ROUNDS * lost, math.floor(_REPLACED * rounds))
        if again:
            plan = plan_for(rounds + again)
            kept, notes = set_aside((yield plan))
        return Settled(plan, kept, notes)
    while (width := widest_interval(cells(plan, kept))) > aim.precision or rounds < FEWEST_ROUNDS:
        passed = time.monotonic() - aim.began
        following = _next_rounds(rounds, width, aim, passed)
        if following <= rounds:
            return Settled(plan, kept, (*notes, _shortfall_note(width, aim, rounds, passed)))
        rounds = following
        plan = plan_for(rounds)
        kept, notes = set_aside((yield plan))
    reached = f"every interval is within {_percent(aim.precision)} after {count(rounds, 'round')}"
    return Settled(plan, kept, (*notes, reached))


def widest_interval(found: Sequence[Cell]) -> float:
    """Return the largest half of an interval, relative: of ratios, or of values without any."""
    compared = [one for one in found if one.configuration != one.baseline]
    halves = [
        (one.ratio_high - one.ratio_low) / 2 / one.ratio for one in compared if one.ratio > 0
    ] or [(one.high - one.low) / 2 / abs(one.value) for one in found if one.value]
    return max((half for half in halves if math.isfinite(half)), default=0.0)


def _next_rounds(rounds: int, width: float, aim: Aim, passed: float) -> int:
    """Return how many rounds to have next; no more than there are if time is up."""
    times = min(width / aim.precision, MOST_ROUNDS)
    needed = max(math.ceil(rounds * times**2 * _MORE_THAN_NEEDED), FEWEST_ROUNDS)
    each = passed / rounds
    affordable = rounds + math.floor((aim.seconds - passed) / each) if each > 0 else needed
    following = min(needed, _GROWTH * rounds, affordable, MOST_ROUNDS)
    return following - following % BLOCK_ROUNDS


def _blocks(records: Sequence[Record]) -> set[tuple[int, int]]:
    return {block_of(one.seed, one.repetition) for one in records}


def _shortfall_note(width: float, aim: Aim, rounds: int, passed: float) -> str:
    why = "no more rounds are measured" if rounds >= MOST_ROUNDS else "time was up"
    return (
        f"{why} after {count(rounds, 'round')} and {passed:.0f} s: the widest interval is"
        f" {_percent(width)}, and {_percent(aim.precision)} was asked for"
    )


def _percent(share: float) -> str:
    return f"+/-{100 * share:.3g} %"
