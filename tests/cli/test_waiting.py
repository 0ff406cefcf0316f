"""Waiting for guests: a signal ends the work in its own order, a second one does not break that."""

import asyncio
import os
import signal

import pytest

from hardcost.cli.waiting import until_done
from hardcost.errors import TrialError


def test_the_result_of_the_work_comes_back() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert until_done(work()) == 7


def test_an_error_of_the_work_comes_back_as_it_is() -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        raise TrialError("it died")

    with pytest.raises(TrialError, match="died"):
        until_done(work())


@pytest.mark.parametrize("signals", [1, 2, 5])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_work_once_and_let_it_clean_up(
    number: signal.Signals, signals: int
) -> None:
    happened = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(60)
            happened.append("went on")
        finally:
            for _ in range(signals - 1):
                os.kill(os.getpid(), number)
                await asyncio.sleep(0.01)
            happened.append("cleaned up")

    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        until_done(work())
    assert happened == ["cleaned up"]
    assert signal.getsignal(number) is before
