"""Several processors: even shares, a clock that says what queueing says, counts that repeat."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench.accuracy.several_processors import contentions, lengths_of, machine_of, spread_of
from hardcost.instruments.turns import LONG_TURNS, TURNS
from hardcost.machines.vm import snapshot
from hardcost.protocol.answers import ParallelAnswer, only
from hardcost.protocol.boot import Boot
from hardcost.supply.emulators.emulator import HOST, answer
from tests.load import busy
from tests.vm.conftest import Command, bring_qemu

pytestmark = [pytest.mark.vm, pytest.mark.slow]

_LIMIT_SECONDS = 600.0

STUDY = """
workloads = ["filecopy concurrency=2 files=3"]
baseline = "none"
record = ["cpu", "audit"]
perturbations = 1
[[configuration]]
name = "none"
[[configuration]]
name = "audit"
audit.rules = ["-a always,exit -F arch=b64 -S openat,unlinkat,write -F auid>=1000 -k files"]
auditd = true
"""


def test_four_processors_share_the_time_and_their_clock_says_what_queueing_says(
    hardcost: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDCOST_CACHE", str(hardcost.cache))
    machine = machine_of(4, qemu=bring_qemu(hardcost))
    machine.fetch([Boot()], lambda _note: None)
    wanted = ("no waiting", "a lock, held 10 % of the time, 2,000 at a time", "a barrier")
    tried = [one for one in contentions(4) if one.title in wanted]
    assert len(tried) == len(wanted)
    calibrated, lengths = lengths_of(machine, tried, TURNS)
    assert spread_of(calibrated) <= 0.01
    with busy(2):
        assert lengths_of(machine, tried, TURNS) == (calibrated, lengths)
    for turns in (lengths, lengths_of(machine, tried, LONG_TURNS)[1]):
        for one, length in zip(tried, turns, strict=True):
            assert length == pytest.approx(one.expected, rel=0.06), one.title


@pytest.mark.lengthy
def test_a_snapshot_made_beside_load_is_that_of_a_quiet_host(
    hardcost: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # QEMU advances the clock while a guest stops, or does not: by and large as the host is busy.
    monkeypatch.setenv("HARDCOST_CACHE", str(hardcost.cache))
    machine = machine_of(2, qemu=bring_qemu(hardcost))
    machine.fetch([Boot()], lambda _note: None)
    recipe = machine.recipe(Boot())

    async def calibrated() -> ParallelAnswer:
        await snapshot.take(recipe, tmp_path, machine.cache)
        job = [TURNS.request]
        execution = await snapshot.restore(recipe, tmp_path, machine.cache, job, _LIMIT_SECONDS)
        return only(execution.answers, ParallelAnswer)

    quiet = asyncio.run(calibrated())
    with busy(2):
        assert asyncio.run(calibrated()) == quiet


@pytest.mark.lengthy
def test_copies_under_audit_repeat_to_the_digit(hardcost: Command) -> None:
    study = hardcost.write("copies.toml", STUDY)
    words = ("run", study, "--processors", "2", "--qemu", bring_qemu(hardcost))
    found = hardcost(*words, "--format", "json")
    with busy(2):
        assert hardcost(*words, "--format", "json", "--fresh").raw_cells() == found.raw_cells()
    assert found.data()["instrument"] == "parallel"
    assert found.data()["environment"]["processors"] == "2"
    cells = found.data()["cells"]
    assert {one["unit"] for one in cells} == {"parallel insn"}
    assert all(one["long_turns"] > 0 for one in cells)
    assert all(one["ratio"] > 1 for one in cells if one["configuration"] == "audit")
    seen = [one for one in found.data()["observed"] if one["instrument"] == "processors"]
    assert len(seen) == 2
    for one in (each["totals"] for each in seen):
        parts = one["work"] + one["idle"] + one["given away"]
        assert parts == pytest.approx(2 * one["length"], rel=0.02)
    text = hardcost(*words).out
    assert "parallel instructions" in text
    assert "2 processors, while they were measured" in text


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--instrument", "time"), "does not"),
        (("--init", "systemd"), "systemd starts the system"),
        (("--start", "cold"), "each trial is to boot"),
        (("--boot", "lockdown=integrity"), "keep the probe from the timers"),
        (("--machine", "host"), "--processors"),
    ],
)
def test_what_can_t_be_measured_on_several_is_refused(
    hardcost: Command, words: tuple[str, ...], reason: str
) -> None:
    study = hardcost.write("copies.toml", STUDY)
    asked = ("run", study, "--processors", "2", "--dry-run", *words)
    outcome = hardcost.end(hardcost.start(*asked))
    assert outcome.status == 2
    assert reason in outcome.err


def test_a_qemu_that_never_starts_a_second_processor_is_refused(hardcost: Command) -> None:
    study = hardcost.write("copies.toml", STUDY)
    outcome = hardcost.end(
        hardcost.start("run", study, "--processors", "2", "--dry-run", "--qemu", "host")
    )
    if answer(HOST, "--version").startswith("QEMU emulator version 7."):
        assert outcome.status == 2
        assert "can't count instructions on several processors" in outcome.err
        assert "--qemu debian:13" in outcome.err
    else:
        assert outcome.status == 0
