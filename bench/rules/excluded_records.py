"""Compare which records a kernel writes with those that the semantics name, under exclude lists.

    .venv/bin/python -m bench.rules.excluded_records [SETS [CALLS [SEED]]]

Each set has random rules and one to three random filters of the list `exclude`; CALLS real calls
are made under each in a guest. Prints each disagreement, and how often what was exercised. Exits
with 1 if there is any disagreement.
"""

from __future__ import annotations

import asyncio
import sys

# Conformance is no package that could be installed.
from conformance import cases
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache

_SHOWN = 20


def main() -> int:
    """Run the sets, print what came, and return the exit status."""
    given = [int(word) for word in sys.argv[1:]]
    sets, calls, seed = (*given, *(300, 30, 1)[len(given) :])
    machine = VirtualMachine(Cache(), Hardware("tcg"))
    asyncio.run(machine.make_ready(Boot()))
    comparison = cases.excluding(machine, sets, calls, seed).comparison
    for one in comparison.disagreements[:_SHOWN]:
        print(one, "\n")
    print(f"{len(comparison.disagreements)} disagreements; {dict(comparison.counts)}")
    return int(bool(comparison.disagreements))


if __name__ == "__main__":
    sys.exit(main())
