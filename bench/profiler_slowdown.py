"""By how much QEMU takes longer where functions are profiled, in processor time.

Run as `python bench/profiler_slowdown.py [ROUNDS]`. A row for each load: the processor seconds of
QEMU without the plugin and with it, the least of some rounds, and their ratio. It is processor
time, since other programs on the host take from time itself.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.instruments.insn import INSN
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot
from hardcost.machines.qemu.argv import Hardware
from hardcost.machines.qemu.vm import VirtualMachine
from hardcost.workloads import command, syscalls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.machines.qemu.argv import Recipe
    from hardcost.protocol.requests import Request

_ROUNDS = 3
_LIMIT_SECONDS = 1800.0
_UNIXBENCH = Path(str(resources.files("hardcost"))) / "bin" / "hardcost-unixbench"


def loads() -> dict[str, Sequence[Request]]:
    """Return what is run: calls, and programs that call the kernel or compute."""
    every = syscalls.requests(syscalls.Parameters(), INSN)
    some = syscalls.requests(syscalls.Parameters(calls=("null", "open", "chmod")), INSN)
    return {
        "syscalls": every,
        "syscalls calls=null+open+chmod": some,
        "unixbench system-call": _program("system-call", "300000"),
        "unixbench dhrystone": _program("dhrystone", "600000"),
        "unixbench process": _program("process", "1500"),
        "unixbench pipe": _program("pipe", "100000"),
    }


def _program(test: str, loops: str) -> Sequence[Request]:
    words = (test, "--loops", loops)
    parameters = command.Parameters(file=str(_UNIXBENCH), args=words, runs=2)
    return command.requests(parameters, INSN)


async def measured(machine: VirtualMachine, recipe: Recipe, job: Sequence[Request]) -> float:
    """Return the processor seconds of one QEMU that carries out a job."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    await machine._once(recipe, job, _LIMIT_SECONDS)  # noqa: SLF001  (just one, and not another)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def slowdown(machine: VirtualMachine, job: Sequence[Request], rounds: int) -> str:
    """Return a row: the least processor seconds without and with the plugin, and their ratio."""
    plain = machine.recipe(Boot())
    symbols = await machine._symbols(plain)  # noqa: SLF001  (as above)
    watched = replace(plain, symbols=symbols, qemu=machine.qemu_version)
    seconds = [
        [await measured(machine, recipe, job) for recipe in (plain, watched)] for _ in range(rounds)
    ]
    without, seen = (min(column) for column in zip(*seconds, strict=True))
    return f"{without:8.2f} s {seen:8.2f} s {seen / without:6.2f}"


def main() -> None:
    """Print a row for each load."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else _ROUNDS
    machine = VirtualMachine(Cache(), Hardware("icount"))
    asyncio.run(machine.make_ready(Boot()))
    print(f"{'load':34}{'without':>8}   {'profiled':>8}   {'ratio':>6}")
    for name, job in loads().items():
        print(f"{name:34}{asyncio.run(slowdown(machine, job, rounds))}", flush=True)


if __name__ == "__main__":
    main()
