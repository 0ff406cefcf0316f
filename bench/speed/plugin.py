"""By how much QEMU takes longer where it counts by function, in processor time.

Run as `python -m bench.speed.plugin [ROUNDS]`. A row for each load: the processor seconds of
QEMU without a plugin, with one that does nothing, and with ours, the least of some rounds, and the
ratios to the first. It is processor time, since other programs on the host take from time itself.

`python -m bench.speed.plugin copy [ROUNDS]` does the same with `hardcost hotspots stig-full` of
a copy in the Debian guest: a row for each of the two configurations and one for both, without and
with our plugin. Each round's ratio of both is printed as it ends.

QEMU translates and executes more slowly as soon as any plugin wants to hear of translations; what
the one that does nothing takes is QEMU's own share, which ours can't avoid. It takes gcc.
"""

from __future__ import annotations

import asyncio
import functools
import os
import resource
import subprocess  # noqa: TID251  (gcc, for a file of this bench alone)
import sys
import tempfile
import unittest.mock
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from hardcost.cli.command import hardcost
from hardcost.instruments.insn import INSN
from hardcost.machines.machine import Execution
from hardcost.machines.vm.argv import Hardware, Recipe
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.machines.vm.plugin import counting
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from hardcost.supply.cache.cache import Cache
from hardcost.workloads import command, syscalls

_ROUNDS = 3
_LIMIT_SECONDS = 1800.0
_API = {"7.2": 1, "10.0": 4, "11.1": 7}
"""The version of the plugin API that a plugin claims under each QEMU."""
_NOTHING = """\
#include <stdint.h>
#include <stdio.h>
#include <string.h>
int qemu_plugin_version = API;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(void), void *);
static void translated(void) {}
int qemu_plugin_install(uint64_t id, const void *about, int count, char **words)
{
    for (int word = 0; word < count; word++)
        if (!strncmp(words[word], "out=", 4)) {
            FILE *out = fopen(words[word] + 4, "w");
            fputs("profile 1\\nend\\n", out);
            fclose(out);
        }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated, 0);
    return 0;
}
"""
_COPY = (
    *("hotspots", "stig-full", "--workload", "filecopy concurrency=1"),
    *("--fresh", "--jobs", "1", "--repetitions", "1", "--format", "json", "-o", os.devnull),
)
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


def spent() -> float:
    """Return the processor seconds of all QEMUs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def measured(machine: VirtualMachine, recipe: Recipe, job: Sequence[Request]) -> float:
    """Return the processor seconds of one QEMU that carries out a job."""
    before = spent()
    await machine._once(recipe, job, _LIMIT_SECONDS)  # noqa: SLF001  (just one, and not another)
    return spent() - before


def copied() -> list[float]:
    """Return the processor seconds of each QEMU of a copy with hotspots, in their order."""
    seconds: list[float] = []
    once = VirtualMachine._once  # noqa: SLF001  (as above)

    async def timed(
        machine: VirtualMachine, recipe: Recipe, job: Sequence[Request], limit: float
    ) -> Execution:
        before = spent()
        execution = await once(machine, recipe, job, limit)
        seconds.append(spent() - before)
        return execution

    with unittest.mock.patch.object(VirtualMachine, "_once", timed):
        hardcost.main(_COPY, prog_name="hardcost", standalone_mode=False)
    return seconds


def copies(rounds: int) -> None:
    """Print a row for each configuration of a copy with hotspots."""
    all_seconds = []
    for number in range(1, rounds + 1):
        all_seconds.append(seconds := copied())
        print(f"round {number}: {sum(seconds[1::2]) / sum(seconds[::2]):.2f}", flush=True)
    least = [min(one) for one in zip(*all_seconds, strict=True)]
    print(f"{'a copy in the Debian guest':34}{'without':>10}{'by function':>17}")
    rows = [*zip(least[::2], least[1::2], strict=True), (sum(least[::2]), sum(least[1::2]))]
    for name, (plain, seen) in zip(("baseline", "stig-full", "both"), rows, strict=True):
        print(f"{name:34}{plain:8.2f} s{seen:8.2f} s{seen / plain:6.2f}")


def nothing(folder: Path, qemu: str) -> Path:
    """Return a plugin that hears of translations, and does nothing."""
    built = folder / "nothing.so"
    version = ".".join(qemu.split(".")[:2])
    words = ["gcc", "-shared", "-fPIC", f"-DAPI={_API[version]}", "-xc", "-", "-o", str(built)]
    subprocess.run(words, input=_NOTHING, text=True, check=True)  # noqa: S603
    return built


async def slowdown(
    machine: VirtualMachine, job: Sequence[Request], rounds: int, plugins: Sequence[Path]
) -> str:
    """Return a row: the least processor seconds without and with each plugin, and the ratios."""
    plain = machine.recipe(Boot())
    symbols = await machine._symbols(plain)  # noqa: SLF001  (as above)
    watched = replace(plain, symbols=symbols, qemu=machine.qemu_version)
    seconds: list[list[float]] = []
    for _ in range(rounds):
        row = [await measured(machine, plain, job)]
        for plugin in plugins:
            counting.plugin = functools.partial(Path, plugin)
            row.append(await measured(machine, watched, job))
        seconds.append(row)
    least, *others = (min(column) for column in zip(*seconds, strict=True))
    return f"{least:8.2f} s" + "".join(f"{one:8.2f} s {one / least:6.2f}" for one in others)


def main() -> None:
    """Print a row for each load."""
    numbers = [one for one in sys.argv[1:] if one != "copy"]
    rounds = int(numbers[0]) if numbers else _ROUNDS
    if "copy" in sys.argv[1:]:
        copies(rounds)
        return
    machine = VirtualMachine(Cache(), Hardware("icount"))
    asyncio.run(machine.make_ready(Boot()))
    print(f"{'load':34}{'without':>10}{'a plugin that does nothing':>28}{'by function':>17}")
    with tempfile.TemporaryDirectory() as folder:
        plugins = (nothing(Path(folder), machine.qemu_version), counting.plugin())
        for name, job in loads().items():
            row = asyncio.run(slowdown(machine, job, rounds, plugins))
            print(f"{name:34}{row}", flush=True)


if __name__ == "__main__":
    main()
