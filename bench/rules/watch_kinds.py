"""Sets with watches of unknown kind, optimised, on a kernel: `python -m bench.rules.watch_kinds`.

auditctl asks the file system whether the path of a watch (-w) is a directory; the optimiser does
not know. Each random set is optimised once, and loaded beside the original in worlds where the
watched paths are files, directories, or missing. Prints how many calls were made and recorded in
each world, and every difference. Status 1 if an optimised set records anything else, or has a line
refused that the original has not.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter

# Conformance is no package that could be installed.
from conformance.watches import EVERY_CALL, WORLDS, Compared, Pair, compare, draw, learned
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache

_SETS_A_BOOT = 125


def main() -> int:
    """Print the comparison, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)  # noqa: S311  (no secret)
    machine = VirtualMachine(Cache(), Hardware("tcg"))
    started = time.monotonic()
    battery = learned(machine)
    pairs: list[Pair] = []
    number = 0
    while len(pairs) < arguments.sets:
        pair = draw(chance, battery, number)
        number += 1
        if pair is not None:
            pairs.append(pair)
    print(f"{len(pairs)} sets of {number} drawn were changed, {time.monotonic() - started:.0f} s")
    good = True
    for world in WORLDS:
        counts: Counter[str] = Counter()
        for start in range(0, len(pairs), _SETS_A_BOOT):
            for one in compare(machine, pairs[start : start + _SETS_A_BOOT], world):
                counts["calls"] += 2 * len(one.pair.calls)
                counts["recorded"] += one.recorded
                counts["sets refused in part"] += bool(one.refused[0])
                counts["different"] += not one.same
                if not one.same:
                    show(one)
        said = ", ".join(f"{amount:,} {what}" for what, amount in counts.items())
        print(f"{world}: {said}; {time.monotonic() - started:.0f} s", flush=True)
        good &= not counts["different"]
    return int(not good)


def show(one: Compared) -> None:
    """Print a pair that differs."""
    print(f"DIFFERENT, {one.world}; refused lines {list(map(sorted, one.refused))}")
    for at in one.differ:
        print(f"  {EVERY_CALL[at]}")
    print(f"original:\n{one.pair.original}made:\n{one.pair.made}")


if __name__ == "__main__":
    sys.exit(main())
