"""How precise times have to be, and rounds until they are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from hardcost.errors import RequestError
from hardcost.instruments.names import instrument_named
from hardcost.measure.asking import answer_questions
from hardcost.measure.precision import Aim, Settled, settle_rounds
from hardcost.measure.run import Run, TrialResults
from hardcost.plan.plan import Plan

_TIME_LIMIT = 600.0  # seconds, for a precision


def aim(precision: float | None, time_limit: float | None) -> Aim | None:
    """Return the aim of a precision, as a share, to be reached in so many seconds; None: no aim.

    Raises:
        InputError: There is nothing that the time limits, or it is no number.
    """
    if precision is None:
        if time_limit is not None:
            raise RequestError("`time_limit` limits `precision`, which is missing")
        return None
    if time_limit is not None and math.isnan(time_limit):
        raise RequestError("`time_limit`: nan is no number of seconds")  # no range refuses it
    return Aim(precision, time_limit or _TIME_LIMIT, time.monotonic())


def check_none(wanted: Aim | None, of: str) -> None:
    """Check that nothing is wanted where rounds are not added.

    Raises:
        RequestError: It is.
    """
    if wanted is not None:
        raise RequestError(
            f"`precision`: {of} adds no trials until it is precise enough",
            hint="bill one profile with `method` single, or leave `precision` out",
        )


def check_inexact(wanted: Aim | None, instrument: str) -> None:
    """Check that nothing is wanted of an instrument that is exact.

    Raises:
        InputError: It is.
    """
    if wanted is not None and instrument_named(instrument).exact:
        raise RequestError(
            f"`precision`: {instrument} is exact and needs no repeated trials",
            hint="it is for `instrument` time",
        )


def measure_to_aim(
    plan: Plan,
    begun: Run,
    wanted: Aim | None,
    rounds: Callable[[int], Plan],
    first: TrialResults,
) -> Settled:
    """Return the plan that was measured in the end, its records, and notes on their number.

    `first` is what the run has measured of the plan; `rounds` returns the plan of so many.
    """
    if instrument_named(plan.instrument).exact or first.failures:
        return Settled(plan, first.records, ())
    number = 1 + max(trial.repetition for trial in plan.trials)
    return answer_questions(
        settle_rounds(first.records, number, rounds, wanted),
        lambda plan: begun.measure_plan(plan).records,
    )
