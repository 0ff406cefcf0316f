"""What became of the time of several processors, out of the guest's answers."""

from __future__ import annotations

from typing import Any

import pytest

from hardcost.errors import TrialError
from hardcost.instruments.processors import observation_of
from hardcost.instruments.turns import LONG_TURNS, TURNS, with_long_turns
from hardcost.protocol.requests import DropCaches
from tests.protocol.json_messages import typed

STARTED = {"event": "parallel", "clock": 900, "counts": [1000, 1100], "ticks": 1_500_000}
ENDED = {
    "event": "ran",
    "status": 0,
    "signal": None,
    "user": 0,
    "system": 0,
    "stdout": "",
    "stdout_bytes": 0,
    "stderr": "",
    "stderr_bytes": 0,
    "begin": None,
    "end": None,
    "audit": None,
}


def ran(name: str, ticks: int | None, executed: int = 0, idle: tuple[int, ...] = ()) -> Any:  # noqa: ANN401
    span = (
        {"parallel": {"ticks": executed, "executed": executed, "idle": list(idle)}} if idle else {}
    )
    return {**ENDED, "name": name, "ticks": ticks, **span}


def test_what_was_measured_is_summed_and_adds_up() -> None:
    answers = typed(
        (
            STARTED,
            ran("copy", 1000, 1900, (300, 100)),
            ran("compare", None),
            ran("remove", 500, 900, (50, 50)),
        )
    )
    totals = observation_of(answers, TURNS, 64).totals
    assert totals == {
        "length": 1500,
        "work": 2300,
        "idle": 500,
        "given away": 200,
        "turn": 1562,
        "busy 1": 1150,
        "busy 2": 1350,
        "share 1": pytest.approx(1000 / 3000),
        "share 2": pytest.approx(1100 / 3000),
    }
    assert totals["work"] + totals["idle"] + totals["given away"] == 2 * totals["length"]


@pytest.mark.parametrize("answers", [(STARTED,), (STARTED, ran("copy", 5, 9, (1, 2, 3)))])
def test_a_guest_that_does_not_say_it_fails_the_trial(answers: tuple[Any, ...]) -> None:
    with pytest.raises(TrialError, match="processors' time"):
        observation_of(typed(answers), TURNS, 64)


def test_a_job_is_repeated_with_long_turns_and_is_else_the_same() -> None:
    job = (TURNS.request, DropCaches())
    assert with_long_turns(job) == (LONG_TURNS.request, DropCaches())
