"""A limit is of time in which the guest could run; signals stop real processes here."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from hardcost.errors import TrialError
from hardcost.machines.vm.time_limit import (
    Standstill,
    StoodStillError,
    limit_guest_time,
    twice_at_most,
)

WORK = """
import asyncio
from hardcost.machines.vm.time_limit import Standstill, limit_guest_time

async def work():
    still = Standstill()
    async with limit_guest_time(5, still):
        print("begun", flush=True)
        for _ in range(10):
            await asyncio.sleep(0.1)
    print("seen" if still.was_seen else "not seen")

asyncio.run(work())
"""


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process
        process.kill()


def outlasts(seconds: float, limit: float, still: Standstill) -> bool:
    """Say whether a block of `seconds` stays within its limit."""

    async def block() -> None:
        async with limit_guest_time(limit, still):
            await asyncio.sleep(seconds)

    try:
        asyncio.run(block())
    except TimeoutError:
        return False
    return True


def test_what_takes_longer_than_its_limit_is_ended(sleeper: subprocess.Popen[bytes]) -> None:
    still = Standstill(sleeper.pid)
    assert not outlasts(30, 0.5, still)
    assert outlasts(0, 30, still)
    assert not still.was_seen


def test_the_time_in_which_qemu_is_stopped_does_not_count(
    sleeper: subprocess.Popen[bytes],
) -> None:
    still = Standstill(sleeper.pid)
    sleeper.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED | os.WNOWAIT)
    assert outlasts(1.5, 0.5, still)
    assert still.was_seen
    sleeper.send_signal(signal.SIGCONT)
    os.waitid(os.P_PID, sleeper.pid, os.WCONTINUED | os.WNOWAIT)
    assert not outlasts(30, 0.5, still)


def test_the_time_in_which_hardcost_is_stopped_does_not_count() -> None:
    words = [sys.executable, "-c", WORK]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGSTOP)
        time.sleep(5)
        process.send_signal(signal.SIGCONT)
        assert process.stdout.read() == "seen\n"
    assert process.returncode == 0


def test_what_was_late_for_a_standstill_is_tried_once_more() -> None:
    tried: list[type[TrialError]] = []

    async def fail() -> None:
        tried.append(StoodStillError if len(tried) != 1 else TrialError)
        raise tried[-1]("late")

    with pytest.raises(TrialError) as raised:
        asyncio.run(twice_at_most(fail))
    assert raised.type is TrialError
    assert len(tried) == 2
