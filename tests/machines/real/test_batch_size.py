"""Windows are as long as the clock needs, on any machine, and otherwise as everywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hardcost.machines.real.batch_size import LEAST_READINGS, batch_factors, lengthen_windows, trial
from hardcost.protocol.answers import CallAnswer, ClockAnswer
from tests.machines.real.stand_ins import calls


def answers(window: int, reading: int) -> list[ClockAnswer | CallAnswer]:
    call = CallAnswer(
        name="null",
        clock="monotonic",
        batch=64,
        samples=(window,) * 5,
        uid=1000,
        loginuid=None,
        audit=None,
        output="",
    )
    return [ClockAnswer(clock="monotonic", overhead=(reading,)), call]


def test_a_window_that_is_long_enough_stays() -> None:
    assert batch_factors(answers(27_000, 20)) == {"null": 1}
    assert lengthen_windows(calls("null"), {"null": 1}) == calls("null")


def test_a_slow_clock_gets_longer_windows() -> None:
    times = batch_factors(answers(27_000, 1000))
    assert times == {"null": 32}
    assert [one.batch for one in lengthen_windows(calls("null", "stat"), times).calls] == [2048, 64]


def test_a_trial_is_short_and_of_the_same_calls() -> None:
    short = trial(calls("null", samples=99).model_copy(update={"copies": 2}))
    (row,) = short.calls
    assert (row.name, row.batch, row.samples, short.copies) == ("null", 64, 5, None)


@given(st.integers(0, 2**63), st.integers(0, 2**63))
def test_windows_are_long_enough_or_as_long_as_allowed(window: int, reading: int) -> None:
    times = batch_factors(answers(window, reading))["null"]
    assert times == 1024 or max(window, 1) * times >= 0.999 * LEAST_READINGS * reading
    assert times & (times - 1) == 0
