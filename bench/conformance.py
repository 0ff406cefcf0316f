"""Compare the semantics of audit rules with a kernel: random rule sets, real system calls.

    .venv/bin/python bench/conformance.py --cases 100000 --seed 1

Prints each disagreement whole, as it is found; then cases, disagreements and seconds, and how often
each oddity was exercised. Exits with 1 if there is any disagreement, or if something was never
exercised.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from hardcost.battery import conformance
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot
from hardcost.machines.qemu.argv import Hardware
from hardcost.machines.qemu.vm import VirtualMachine

_SHOWN = 20  # disagreements


def main() -> int:
    """Run the cases that are asked for, and return the exit status."""
    parser = argparse.ArgumentParser(description="Audit semantics against a real kernel.")
    parser.add_argument("--cases", type=int, default=100_000, help="at least so many")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    machine = VirtualMachine(Cache(), Hardware("tcg"))
    asyncio.run(machine.make_ready(Boot()))
    started = time.monotonic()
    counts = conformance.Counter[str]()
    found = []
    for part in conformance.boots(machine, chosen.cases, chosen.seed):
        counts += part.comparison.counts
        for one in part.comparison.disagreements[: max(_SHOWN - len(found), 0)]:
            print(f"{one}\n", flush=True)
        found += part.comparison.disagreements
        seconds = time.monotonic() - started
        told = f"{counts['cases']} cases, {len(found)} disagreements, {seconds:.0f} s"
        print(told, file=sys.stderr)
    seconds = time.monotonic() - started
    rows = {
        "kernel": machine.kernel.release,
        "seed": chosen.seed,
        "cases": counts.pop("cases"),
        "disagreements": len(found),
        "seconds": f"{seconds:.0f}",
        **dict(counts.most_common()),
    }
    for what, figure in rows.items():
        print(f"{what:40}{figure}")
    missing = [fact for fact in conformance.EXERCISED if not counts[fact]]
    if missing:
        print(f"never exercised: {', '.join(missing)}")
    return int(bool(found or missing))


if __name__ == "__main__":
    raise SystemExit(main())
