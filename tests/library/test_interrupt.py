"""Waiting for guests: a signal ends the work in its own order, a second one does not break that."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.host.process import run
from hardcost.library.interrupt import until_done

Verb = subprocess.Popen[str]
WAITING = """
import asyncio, os, sys
from pathlib import Path
from hardcost.cli.verbs import list_
from hardcost.cli.main import main
from hardcost.library.interrupt import until_done

async def work():
    try:
        Path(os.environ["BEGUN"]).write_text("")
        await asyncio.sleep(float(os.environ["SECONDS"]))
    finally:
        print("ending in order", file=sys.stderr, flush=True)
        await asyncio.sleep(0.01)
        Path(os.environ["ENDED"]).write_text("")
    return []

list_._entries = lambda *_: until_done(work())
sys.argv[1:] = ["list", "studies"]
main()
"""


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
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("in_thread", [False, True])
def test_a_signal_ends_a_program_that_the_work_waits_for(
    number: signal.Signals, *, in_thread: bool
) -> None:
    """Such as `tar` with Linux's source, which the terminal's Ctrl-C does not reach."""

    async def work() -> None:
        if in_thread:
            await asyncio.to_thread(run, ["sleep", "60"])
        run(["sleep", "60"])

    timer = threading.Timer(0.5, os.kill, (os.getpid(), number))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        until_done(work())
    assert time.monotonic() - begun < 30
    timer.join()


def started(folder: Path, *before: str, seconds: float = 60, output: int = subprocess.PIPE) -> Verb:
    """Start a verb that waits for so long, and return it when it does."""
    begun = folder / "begun"
    os.mkfifo(begun)
    places = {"BEGUN": str(begun), "ENDED": str(folder / "ended"), "SECONDS": str(seconds)}
    process = subprocess.Popen(
        [*before, sys.executable, "-c", WAITING],
        env={**os.environ, **places},
        stdin=output if output >= 0 else None,
        stdout=output,
        stderr=output,
        text=True,
    )
    begun.read_text()
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_verb_that_is_ended_ends_in_order_with_the_status_of_an_interruption(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = started(tmp_path)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.split() == ["ending", "in", "order", "interrupted"]
    assert (tmp_path / "ended").exists()


def test_a_verb_whose_terminal_is_closed_ends_in_order(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = started(tmp_path, "setsid", "--ctty", "--wait", output=theirs)
    os.close(theirs)
    os.close(ours)
    assert process.wait(timeout=60) == 130
    assert (tmp_path / "ended").exists()


def test_below_nohup_a_hangup_changes_nothing(tmp_path: Path) -> None:
    process = started(tmp_path, "nohup", seconds=0.5)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert (tmp_path / "ended").exists()


def test_in_a_loop_that_runs_an_interrupt_cancels_the_work_in_its_thread() -> None:
    happened = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            happened.append("cleaned up")

    async def cell() -> None:
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            until_done(work())
        timer.join()

    loop = asyncio.new_event_loop()  # as a notebook's, which leaves Ctrl-C to Python
    try:
        loop.run_until_complete(cell())
    finally:
        loop.close()
    assert happened == ["cleaned up"]
