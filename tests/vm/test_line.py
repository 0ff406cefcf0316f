"""How a guest stops for its snapshot, and answers: by ports, or else by its serial port."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hardcost.instruments.names import INSTRUMENTS
from hardcost.machines.vm import cold_boot, snapshot
from hardcost.machines.vm.argv import Hardware, Recipe
from hardcost.machines.vm.content import initramfs
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.answers import Answer, CallAnswer, HelloAnswer, all_of, only
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.builder import Kernels
from hardcost.workloads import syscalls
from tests.vm.conftest import Outcome

pytestmark = pytest.mark.vm

ICOUNT = Hardware("icount")
QUICK = {"calls": "null+open"}
JOB = syscalls.requests(syscalls.KIND.read_parameters(QUICK), INSTRUMENTS["insn"])


def medians(answers: tuple[Answer, ...]) -> dict[str, int]:
    """Return the median of each call's samples."""
    calls = all_of(answers, CallAnswer)
    return {call.name: sorted(call.samples)[len(call.samples) // 2] for call in calls}


@pytest.mark.slow
def test_stopping_moves_no_clock(cache_root: Path, tmp_path: Path) -> None:
    # QEMU pushes the clock to the next timer as luck has it, so one clean stop shows little.
    cache = Cache(cache_root)
    recipe = VirtualMachine(cache, ICOUNT).recipe(Boot())

    async def gap() -> int | None:
        await snapshot.boot_and_save(recipe, tmp_path, cache)
        execution = await snapshot.restore(recipe, tmp_path, cache, (), 60)
        return only(execution.answers, HelloAnswer).gap

    gaps = [asyncio.run(gap()) for _ in range(3)]
    assert all(one is not None and one <= snapshot.CLEAN_GAP for one in gaps), gaps


def test_answers_by_the_serial_port_are_those_by_the_debug_console(cache_root: Path) -> None:
    machine = VirtualMachine(Cache(cache_root), ICOUNT)
    plain, serial = (
        medians(asyncio.run(machine.execute(Boot(words), JOB, 60)).answers)
        for words in ((), ("hardcost.serial",))
    )
    assert plain.keys() == serial.keys() == {"null", "open"}
    assert plain["null"] == serial["null"]
    assert plain["open"] == pytest.approx(serial["open"], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["lockdown=integrity", "lockdown=confidentiality", "nolapic"])
def test_a_kernel_that_takes_no_snapshot_counts_what_others_count(
    cache_root: Path, word: str
) -> None:
    machine = VirtualMachine(Cache(cache_root), ICOUNT)
    plain, cold = (
        medians(asyncio.run(machine.execute(Boot(words), JOB, 60)).answers)
        for words in ((), (word,))
    )
    assert cold.keys() == plain.keys() == {"null", "open"}
    assert cold["null"] == plain["null"]
    assert cold["open"] == pytest.approx(plain["open"], abs=10)  # nolapic has another tick


@pytest.mark.slow
@pytest.mark.lengthy
def test_fresh_boots_agree_and_job_and_answers_need_no_port(
    lean: Outcome, cache_root: Path
) -> None:
    assert lean.status == 0
    cache = Cache(cache_root)
    built = Kernels(cache).find(KernelRecipe())
    assert built is not None

    def run(*words: str) -> tuple[Answer, ...]:
        boot = Boot(words, kernel=KernelRecipe())
        recipe = Recipe(ICOUNT, boot, built.image, initramfs.initramfs(cache))
        return asyncio.run(cold_boot.execute(recipe, cache, JOB, 60)).answers

    first = run()
    assert first == run()
    assert only(first, HelloAnswer).gap is None
    assert medians(first) == medians(run("hardcost.serial"))
