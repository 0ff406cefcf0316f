"""`--precision` and `--time-limit`: how precise times have to be, and rounds until they are."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from hardcost.cli import percentages
from hardcost.errors import InputError
from hardcost.instruments.names import instrument as instrument_named
from hardcost.run import precise

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardcost.design.plan import Plan
    from hardcost.run.session import Measured, Run

_TIME_LIMIT = 600.0  # seconds, of --precision


def aim(precision: str | None, time_limit: float | None) -> precise.Aim | None:
    """Return what `--precision` and `--time-limit` ask for; None: nothing.

    Raises:
        InputError: One is no share, or there is nothing that the other limits.
    """
    if precision is None:
        if time_limit is not None:
            raise InputError("--time-limit limits --precision, which is missing")
        return None
    if time_limit is not None and math.isnan(time_limit):
        raise InputError("--time-limit: nan is no number of seconds")  # no range refuses it
    share = percentages.above_zero("--precision", precision)
    return precise.Aim(share, time_limit or _TIME_LIMIT, time.monotonic())


def check_none(wanted: precise.Aim | None, of: str) -> None:
    """Check that nothing is wanted where rounds are not added.

    Raises:
        InputError: It is.
    """
    if wanted is not None:
        raise InputError(
            f"--precision: {of} adds no trials until it is precise enough",
            hint="bill one profile with --method single, or leave --precision out",
        )


def check_inexact(wanted: precise.Aim | None, instrument: str) -> None:
    """Check that nothing is wanted of an instrument that is exact.

    Raises:
        InputError: It is.
    """
    if wanted is not None and instrument_named(instrument).exact:
        raise InputError(
            f"--precision: {instrument} is exact and needs no repeated trials",
            hint="it is for --instrument time",
        )


def measured(
    plan: Plan,
    begun: Run,
    wanted: precise.Aim | None,
    rounds: Callable[[int], Plan],
    first: Measured,
) -> precise.Settled:
    """Return the plan that was measured in the end, its records, and notes on their number.

    `first` is what the run has measured of the plan; `rounds` returns the plan of so many.
    """
    if instrument_named(plan.instrument).exact or first.failures:
        return precise.Settled(plan, first.records, ())
    number = 1 + max(trial.repetition for trial in plan.trials)
    more = precise.Rounds(rounds, begun.measure_more)
    return precise.settled(first.records, number, more, wanted)
