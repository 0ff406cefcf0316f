"""Whether one execution is exact.

Run as `python -m bench.accuracy.one_execution [--executions 300] [--jobs 2]`.

All 26 calls are measured again and again under four sets of audit rules, each from its snapshot, a
third of the executions beside two busy loops, on so many jobs at once. Every sample has to be the
same in each execution of a set. Status 1 if one differs.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from auditrules.model.rule import Rule
from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Profile
from hardcost.machines.machine import Execution
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.machines.vm.repeat import difference
from hardcost.measure.prepare import FIXED_LAYOUT_SEED, Prepared, prepare
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.supply.cache.cache import Cache
from tests.load import busy

_LIMIT_SECONDS = 600.0
_BUSY = 3  # every third execution has company
_SETS = {
    "no rules": (),
    "a rule that matches nothing": ("-a always,exit -F arch=b64 -S swapon -F uid=70001",),
    "calls that are recorded": (
        "-a always,exit -F arch=b64 -S open,openat,execve,rename,link,mkdir,connect -k some",
        "-w /etc/passwd -p wa -k passwd",
    ),
    "every call is recorded": ("-a always,exit -S all -F auid=1000 -k all",),
}


def trial(machine: VirtualMachine, name: str) -> Prepared:
    """Return the trial of all calls under the rules of that name."""
    rules = (AuditRule(Rule(line)) for line in _SETS[name])
    profile = Profile(name, name, "bench", (AuditDaemon(), *rules))
    configuration = Configuration(Named(name), profile.controls)
    return prepare(Trial(configuration, Workload("syscalls"), "insn", FIXED_LAYOUT_SEED), machine)


async def executions(machine: VirtualMachine, one: Prepared, number: int) -> list[Execution]:
    """Carry a trial out so many times, one after another."""
    found = []
    for at in range(number):
        with busy(2 if at % _BUSY == 0 else 0):
            found.append(await machine.execute(one.boot, one.job, _LIMIT_SECONDS))
        print(f"{at + 1} of {number}", end="\r", file=sys.stderr)
    return found


async def measured(machine: VirtualMachine, one: Prepared, number: int, jobs: int) -> bool:
    """Print and say whether all executions of a trial are equal."""
    await machine.make_ready(one.boot)
    each = [number // jobs + (at < number % jobs) for at in range(jobs)]
    began = time.monotonic()
    lists = await asyncio.gather(*(executions(machine, one, some) for some in each))
    seconds = time.monotonic() - began
    first, *others = [found for some in lists for found in some]
    differ = [other for other in others if other.answers != first.answers]
    name = one.trial.configuration.name
    print(f"{name}: {number} executions in {seconds:.0f} s, {len(differ)} differ from the first")
    for other in differ[:5]:
        print(f"  {difference(first, other)}")
    return not differ


def main() -> int:
    """Execute and compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=300, help="of all sets together")
    parser.add_argument("--jobs", type=int, default=2, help="parallel guests")
    given = parser.parse_args()
    machine = VirtualMachine(Cache(), Hardware("icount"))
    each = max(2, given.executions // len(_SETS))
    equal = [
        asyncio.run(measured(machine, trial(machine, name), each, given.jobs)) for name in _SETS
    ]
    return int(not all(equal))


if __name__ == "__main__":
    sys.exit(main())
