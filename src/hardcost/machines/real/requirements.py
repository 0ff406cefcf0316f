"""The requirements that a real machine lacks for being measured, and causes of noisy times."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

from hardcost.machines.check import Check, attempt, program
from hardcost.machines.options import MachineOptions
from hardcost.machines.real import probe_command, ssh
from hardcost.machines.real.facts import HostFacts
from hardcost.machines.real.host import HostReach
from hardcost.machines.real.interference import split_readings, surroundings, with_readings
from hardcost.machines.real.machine import Access, reach_machine
from hardcost.machines.real.probe_session import converse
from hardcost.supply.cache.cache import Cache
from hardcost.supply.programs import program_path

_SECONDS = 60.0
_FEW_PROCESSORS = 2  # with one, all else that runs comes between trials
_CLOCKS = frozenset({"tsc", "arch_sys_counter"})


def examine(_cache: Cache, _wanted: MachineOptions) -> Sequence[Check]:
    """Look for the programs that it takes to measure a machine from here."""
    probe = attempt("the probe", lambda: str(program_path(probe_command.PROGRAMS[0])))
    return (probe, program("setpriv", "util-linux"))


async def try_out(_cache: Cache, _wanted: MachineOptions) -> Sequence[Check]:
    """Start the probe on this host, and return what makes its times noisy."""
    return await _try_machine(HostReach())


async def try_out_at(address: str) -> Sequence[Check]:
    """Start the probe on the host at an address, and return what makes its times noisy."""
    return await _try_machine(ssh.SshReach(address))


async def _try_machine(reach: Access) -> Sequence[Check]:
    machine = await reach_machine(reach, probe_command.programs_hash())
    words = functools.partial(reach.words, None, probe_command.scratch(), _SECONDS)
    answers, _ = await converse(words, with_readings((), None), _SECONDS)
    _, texts = split_readings(answers)
    facts = machine.facts
    known = Check(reach.name, ok=True, found=f"{facts.name}, {facts.model}, kernel {facts.kernel}")
    return (known, *noise(facts, surroundings(texts, None)))


def noise(facts: HostFacts, seen: Mapping[str, float]) -> Iterator[Check]:
    """Yield the known causes of noise in a machine's times; none of them forbids measuring."""
    yield _check(
        "processors",
        len(facts.cpus) >= _FEW_PROCESSORS,
        f"{len(facts.cpus)} that we may use",
        "with one, all that the machine does comes between trials",
    )
    yield _check(
        "clock",
        facts.clock in _CLOCKS,
        facts.clock or "not known",
        "reading another clock than the processor's own takes long, and varies",
    )
    yield _check(
        "hypervisor",
        not facts.virtual,
        "yes" if facts.virtual else "none",
        "its other guests take the processor and its caches away; each trial records stolen time",
    )
    yield _check(
        "hyper-threading",
        not facts.siblings,
        "on" if facts.siblings else "off",
        "what runs on a processor's other half slows it; `nosmt` boots without",
    )
    fixed = facts.governor in {"performance", ""} and not facts.boost
    said = f"governor {facts.governor or 'not known'}, boost {'on' if facts.boost else 'off'}"
    yield _check("frequency", fixed, said, "it changes with load and heat; each trial records it")
    counters = ", ".join(facts.counters) or "none"
    said = f"{counters}: {facts.uncounted}" if facts.uncounted else counters
    yield _check(
        "counters",
        not facts.uncounted,
        said,
        "they are not shown beside times, which do not need them",
    )
    load = seen.get("load", 0.0)
    yield _check(
        "load", load < len(facts.cpus) / 2, f"{load:.2f}", "something else runs: end it, or wait"
    )


def _check(name: str, ok: bool, found: str, remedy: str) -> Check:  # noqa: FBT001  (made here alone)
    return Check(name, ok, found, remedy, needed=False)
