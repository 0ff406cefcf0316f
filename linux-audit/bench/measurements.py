"""What `costs.py` measures in guests: calls under rules, changes of rules, kernel memory."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import os
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hardcost.controls.configuration import Configuration
from hardcost.errors import HardcostError
from hardcost.host.process import run
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.measure import parallel
from hardcost.measure.prepare import prepare
from hardcost.mechanisms.audit import AUDIT
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.protocol import ask
from hardcost.protocol.answers import RanAnswer, all_of
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.protocol.requests import Audit, Make, Request
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.builder import Kernels
from hardcost.workloads import programs
from rule_sets import RuleSet

_LIMIT_SECONDS = 600.0
_PROGRAM = "/usr/local/bin/flat-guest"
_SOURCE = Path(__file__).with_name("guest.c")
_RULES = "/tmp/hardcost.rules"  # noqa: S108  (in a guest)
_JOBS = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Kernel:
    """A kernel to measure: its name in tables, and how its guest is set up."""

    name: str
    machine: VirtualMachine
    boot: Boot

    def image(self) -> Path:
        """Return its vmlinux."""
        return self.machine.recipe(self.boot).kernel


def kernel(name: str, image: Path | None = None, source: Path | None = None) -> Kernel:
    """Return the kernel `stock` or `flat`, built of `source` if need be, or the one in `image`."""
    if image is None:
        recipe = KernelRecipe("lean", patches=("flat",) if name == "flat" else ())
        image = asyncio.run(Kernels(Cache(), source).build(recipe)).image
    return Kernel(name, VirtualMachine(Cache(), Hardware("icount"), image), Boot(fresh=True))


# Calls ------------------------------------------------------------------------------------------


async def calls(measured: Kernel, sets: Sequence[RuleSet]) -> dict[str, dict[str, float]]:
    """Return the instructions of each call of the workload `syscalls`, by the set's name.

    Each set has a guest of its own, as in a study; a call's figure is the median of its samples.
    """
    trials = [Trial(_state(one), Workload("syscalls"), "insn", 0) for one in sets]
    found = await _levels(measured, trials)
    return {trial.configuration.name: found[trial] for trial in trials}


async def over_seeds(
    measured: Kernel, sets: Sequence[RuleSet], names: Sequence[str], seeds: Sequence[int]
) -> dict[str, dict[str, list[float]]]:
    """Return the instructions of calls, with kernel and program memory laid out by seeds.

    For calls whose figure depends on the memory layout; a seed gives both kernels the same layout.
    """
    workload = Workload("syscalls", (("calls", "+".join(names)),))
    states = {one.name: _state(one) for one in sets}
    trials = {
        (name, seed): Trial(state, workload, "insn", seed)
        for seed in seeds
        for name, state in states.items()
    }
    found = await _levels(measured, list(trials.values()))
    return {
        name: {call: [found[trials[name, seed]][call] for seed in seeds] for call in names}
        for name in states
    }


def _state(rules: RuleSet) -> Configuration:
    return Configuration(Named(rules.name), rules.controls)


async def _levels(measured: Kernel, trials: Sequence[Trial]) -> dict[Trial, dict[str, float]]:
    prepared = []
    for trial in trials:
        ready = prepare(trial, measured.machine)
        boot = dataclasses.replace(
            measured.boot, parameters=ready.boot.parameters, layout_seed=ready.boot.layout_seed
        )
        prepared.append(dataclasses.replace(ready, boot=boot))
    found = {}
    jobs = max(1, _JOBS // 2)  # two kernels at a time
    going = parallel.execute_all(
        prepared, measured.machine, jobs=jobs, limit_seconds=_LIMIT_SECONDS
    )
    async for done, record in going:
        if isinstance(record, HardcostError):
            raise record
        levels = {one.metric: statistics.median(one.samples) for one in record.measured}
        found[done.trial] = levels
    return found


# Changes of rules -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changes:
    """The cost of changing rules, in instructions.

    `requests` has the kernel's work for each request, rule by rule, by kind of change: the caller's
    processor time, without the time that it waits (for an RCU grace period). `deferred` is the
    kernel's later work for all of them, within 40e6 instructions after the last. `auditctl` is the
    processor time of auditctl as a whole, kernel and program: once before auditing starts, then
    with audit on, so that auditctl's own calls pay for the rules loaded so far. `waited` are
    nanoseconds of the guest from start to end, idle time included: not instructions.
    """

    requests: dict[str, list[int]]
    deferred: dict[str, float]
    auditctl: dict[str, int]
    waited: dict[str, int]


async def changes(measured: Kernel, rules: RuleSet) -> Changes:
    """Load rules by auditctl, delete and add them again one by one, and delete all by auditctl."""
    text = "".join(f"{line}\n" for line in rules.lines)
    load = ask.run("load", ["auditctl", "-R", _RULES], clock="tsc")
    alone = [*_before(rules), _install(), ask.install(_RULES, text), load]
    job = [*alone, ask.run("requests", [_PROGRAM, "rules"], limit_seconds=300)]
    together = [*_before(rules), Audit(rules=""), ask.install(_RULES, text), load]
    together.append(ask.run("delete", ["auditctl", "-D"], clock="tsc"))
    answers, daemon = await asyncio.gather(_ran(measured, job), _ran(measured, together))
    ran = {
        "auditctl -R, audit off": answers["load"],
        "auditctl -R, audit on": daemon["load"],
        "auditctl -D, audit on": daemon["delete"],
    }
    found = Changes(
        {},
        {},
        {name: 1000 * (answer.user + answer.system) for name, answer in ran.items()},
        {name: programs.ticks(answer) for name, answer in ran.items()},
    )
    for line in answers["requests"].stdout.splitlines():
        name, whole, later, *each = line.split()
        found.requests[name] = [int(one) for one in each]
        found.deferred[name] = float(later)
        found.waited[name] = int(whole)
    if len(found.requests["add"]) != rules.size:
        raise SystemExit(f"{rules.name}: {len(found.requests['add'])} of {rules.size} were loaded")
    return found


def _before(rules: RuleSet) -> list[Request]:
    """Return the requests that make what rules watch."""
    return [one for one in AUDIT.requests(rules.controls) if isinstance(one, Make)]


_guests = asyncio.Semaphore(_JOBS)


async def _ran(measured: Kernel, job: list[Request]) -> dict[str, RanAnswer]:
    async with _guests:
        execution = await measured.machine.execute(measured.boot, job, _LIMIT_SECONDS)
    return {answer.name: answer for answer in all_of(execution.answers, RanAnswer)}


def _install() -> Request:
    return ask.install(_PROGRAM, _program(), 0o755)


@functools.cache
def _program() -> bytes:
    """Return the program that runs in the guest, compiled."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "program"
        run(["cc", "-static", "-O2", "-o", made, _SOURCE], remedy="apt-get install gcc libc6-dev")
        return made.read_bytes()


# Memory -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Memory:
    """The kernel's memory: bytes of used objects by slab cache, and beyond slabs.

    `large` are allocations too large for a slab, `mapped` those of vmalloc.
    """

    slabs: dict[str, int]
    large: int
    mapped: int


async def memory(measured: Kernel, rules: RuleSet) -> Memory:
    """Return the kernel's memory use under rules."""
    job = [
        *AUDIT.requests(rules.controls),
        _install(),
        ask.run("slabs", [_PROGRAM, "slabs"]),
    ]
    return _memory((await _ran(measured, job))["slabs"].stdout)


def _memory(text: str) -> Memory:
    parts = {part.partition("\n")[0]: part.partition("\n")[2] for part in text.split("== ")[1:]}
    page = 4096
    slabs, in_slabs = {}, 0
    for line in parts["/proc/slabinfo"].splitlines()[2:]:
        words = line.split()
        name, active, size = words[0], int(words[1]), int(words[3])
        slabs[name] = active * size
        in_slabs += int(words[14]) * int(words[5]) * page
    counts = dict(line.split() for line in parts["/proc/vmstat"].splitlines())
    pages = int(counts["nr_slab_unreclaimable"]) + int(counts["nr_slab_reclaimable"])
    mapped = sum(int(line.split()[1]) for line in parts["/proc/vmallocinfo"].splitlines())
    return Memory(slabs, pages * page - in_slabs, mapped)


def sections(measured: Kernel) -> dict[str, int]:
    """Return the sizes of the kernel's code, data and zeroed data, in bytes."""
    lines = run(["size", measured.image()], remedy="apt-get install binutils").splitlines()
    return dict(zip(("text", "data", "bss"), map(int, lines[1].split()), strict=False))
