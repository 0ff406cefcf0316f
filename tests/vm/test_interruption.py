"""Whatever ends hardcost ends its guests, and a run that was cut short goes on where it was."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from dataclasses import replace

import pytest

from tests.studies import of_rules
from tests.vm.conftest import Command

pytestmark = pytest.mark.vm

STUDY = of_rules("a few trials", "null+open", range(8))
FEW = of_rules("fewer trials", "null+open", range(3))
MOMENTS = 6
BOOTS_AT = range(0, MOMENTS, 3)  # the moments that a run without a snapshot is given
LATEST = {True: 7.0, False: 3.5}  # seconds in which a run with and without a boot is killed at most
WORDS = ("run", "study.toml", "--jobs", "2", "--format", "json")


def killed_after(command: Command, process: subprocess.Popen[str], seconds: float) -> str | None:
    """Kill a run at a moment; return what it printed if it had ended well before, else None."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    finished = process.poll() is not None
    process.kill()
    out, err = process.communicate()
    assert not command.outlived(process)
    assert process.returncode == (0 if finished else -signal.SIGKILL), err
    return out if finished else None


@pytest.mark.slow
def test_killed_at_any_moment_it_leaves_no_guest_and_can_go_on(hardcost_apart: Command) -> None:
    hardcost_apart.write("study.toml", STUDY)
    began = time.monotonic()
    undisturbed = hardcost_apart(*WORDS).raw_cells()
    booted = time.monotonic()
    assert hardcost_apart(*WORDS, "--fresh").raw_cells() == undisturbed
    longest = {True: booted - began, False: time.monotonic() - booted}
    longest = {boots: min(seconds, LATEST[boots]) for boots, seconds in longest.items()}
    moments = random.Random(20)  # noqa: S311  (no secret)
    command, ended = apart_store(hardcost_apart, "first"), 0
    way = "--fresh"
    for number in range(MOMENTS):
        boots = number in BOOTS_AT
        if boots:
            shutil.rmtree(command.cache / "snapshots", ignore_errors=True)
        process = command.start(*WORDS, way)
        printed = killed_after(command, process, moments.uniform(0.3, longest[boots]))
        way = "--resume"
        if printed is not None:
            assert undisturbed in printed
            command, way = apart_store(hardcost_apart, f"after {number}"), "--fresh"
            ended += 1
    assert command(*WORDS, "--resume").raw_cells() == undisturbed
    assert ended <= MOMENTS // 2  # else the moments come too late to cut a run short
    assert not list((command.cache / "scratch").iterdir())


def apart_store(command: Command, name: str) -> Command:
    """Return the command with another store."""
    return replace(command, extra={"HARDCOST_STORE": str(command.folder / f"{name}.sqlite")})


@pytest.mark.parametrize(
    "sent",
    [
        [signal.SIGINT],
        pytest.param([signal.SIGTERM], marks=pytest.mark.slow),
        pytest.param([signal.SIGINT] * 3, marks=pytest.mark.slow),
        pytest.param([signal.SIGTERM, signal.SIGINT], marks=pytest.mark.slow),
    ],
)
def test_interrupted_it_ends_its_guests_and_says_how_to_go_on(
    hardcost: Command, sent: list[signal.Signals]
) -> None:
    hardcost.write("study.toml", FEW)
    hardcost("run", "study.toml", "--workload", "syscalls calls=null")  # makes the snapshot
    process = hardcost.start(*WORDS, "--fresh")
    hardcost.await_guest(process)
    for number in sent:
        process.send_signal(number)
        time.sleep(0.01)
    outcome = hardcost.end(process)
    assert outcome.status == 130
    assert outcome.err.count("--resume") == 1
    assert not outcome.out
    assert not hardcost.outlived(process)
    assert "continuing study-" in hardcost(*WORDS, "--resume").err


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_ended_while_a_guest_boots_it_leaves_nothing(
    hardcost_apart: Command, sent: signal.Signals
) -> None:
    hardcost_apart.write("study.toml", STUDY)
    process = hardcost_apart.start(*WORDS)
    hardcost_apart.await_guest(process)
    time.sleep(0.5)
    os.kill(process.pid, sent)
    process.communicate()
    assert process.returncode == (130 if sent == signal.SIGINT else -signal.SIGKILL)
    assert not hardcost_apart.outlived(process)
    entries = hardcost_apart("image", "list", "--format", "json").data()
    assert "snapshots" not in {entry["kind"] for entry in entries}


@pytest.mark.slow
def test_a_killed_bill_leaves_no_guest_and_the_next_bills_the_same(hardcost: Command) -> None:
    rules = hardcost.write("few.rules", "-a always,exit -F arch=b64 -S swapon -F uid=70001\n")
    words = ("bill", rules, "--workload", "syscalls calls=null", "--format", "json", "--jobs", "1")
    undisturbed = hardcost(*words).data()
    for guests in range(3):
        process = hardcost.start(*words, "--fresh")
        hardcost.await_guest(process)
        time.sleep(guests / 2)
        assert killed_after(hardcost, process, 0) is None
    again = hardcost(*words, "--fresh").data()
    for part in ("totals", "items", "rest"):
        assert again[part] == undisturbed[part]


@pytest.mark.slow
@pytest.mark.lengthy
def test_two_runs_that_need_the_same_snapshots_end_both(hardcost_apart: Command) -> None:
    """Each makes first what the other makes second; neither may wait for the other for ever."""
    boots = [["hardcost.placebo=1"], ["hardcost.placebo=2"]]
    found = []
    for name, order in (("a", boots), ("b", boots[::-1])):
        study = 'title = "two"\nworkloads = ["syscalls calls=null"]\nbaseline = "0"\n'
        for number, words in enumerate(order):
            study += f'[[configuration]]\nname = "{number}"\nboot = {words}\n'
        hardcost_apart.write(f"{name}.toml", study)
        found.append(hardcost_apart.start("run", f"{name}.toml", "--jobs", "2", "--format", "json"))
    cells = [hardcost_apart.end(process).values("null") for process in found]
    assert cells[0] == cells[1]
