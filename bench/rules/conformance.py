"""Compare the semantics of audit rules with a kernel: random rule sets, real system calls.

    .venv/bin/python -m bench.rules.conformance --cases 100000 --seed 1
    .venv/bin/python -m bench.rules.conformance --both --cases 100000
    .venv/bin/python -m bench.rules.conformance --both --source debian:7.3 --cases 20000

A kernel is `debian` (the machine's own), `stock` (the lean kernel that hardcost builds), `flat`
(the same with the patches of that name), or what `--kernel` takes: `debian:7.3`, a package, a
vmlinux or bzImage file. `--source` is the Linux of which stock and flat are built. `--beside` names
a second kernel that gets the same sets and calls: its records are then compared with those of the
first, record by record and key by key, and so are the rules that both list. `--both` is short for
stock beside flat.

Prints each disagreement completely, as it is found; then cases, disagreements and seconds, and how
often each oddity was exercised. Exits with 1 if there is any disagreement or difference, or if
something was never exercised.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from pathlib import Path

# Conformance is no package that could be installed.
from conformance import cases
from conformance.repertoire import CALLS
from conformance.two_kernels import Beside, beside
from hardcost.machines.machine import Machine
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.builder import Kernels

_SHOWN = 20  # disagreements


def main() -> int:
    """Run the requested cases, and return the exit status."""
    chosen = _arguments()
    names = [chosen.kernel, *([chosen.beside] if chosen.beside else [])]
    guests = [guest(name, chosen.source) for name in names]
    for machine, boot in guests:
        asyncio.run(machine.make_ready(boot))
    started = time.monotonic()
    counts = [Counter[str]() for _ in names]
    both = Beside(Counter(), ())
    found = 0
    rounds = cases.on_each(guests, chosen.cases, chosen.seed, listed=len(guests) > 1)
    for parts in rounds:
        for name, part, sums in zip(names, parts, counts, strict=True):
            sums.update(part.comparison.counts)
            found += _shown(f"{name} and the semantics", part.comparison.disagreements, found)
        if len(parts) > 1:
            first, second = parts
            compared = beside(first.battery, second.battery, first.sets, CALLS)
            _shown(" and ".join(names), compared.differences, len(both.differences))
            both += compared
        seconds = time.monotonic() - started
        total = f"{counts[0]['cases']} cases, {found} disagreements, {seconds:.0f} s"
        print(f"{total}, {len(both.differences)} differences", file=sys.stderr)
    missing = [
        f"{fact} ({name})"
        for name, sums in zip(names, counts, strict=True)
        for fact in cases.EXERCISED
        if not sums[fact]
    ]
    _print(chosen, names, counts, (found, both), time.monotonic() - started)
    if missing:
        print(f"never exercised: {', '.join(missing)}")
    return int(bool(found or both.differences or missing))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Audit semantics against a real kernel.")
    parser.add_argument("--cases", type=int, default=100_000, help="the least number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernel", default="debian", help="debian, stock, flat, debian:7.3, FILE")
    parser.add_argument("--beside", default="", help="a second kernel, compared with the first")
    parser.add_argument("--both", action="store_true", help="--kernel stock --beside flat")
    parser.add_argument("--source", type=Path, help="a folder, or debian:7.3")
    chosen = parser.parse_args()
    if chosen.both:
        chosen.kernel, chosen.beside = "stock", "flat"
    return chosen


def guest(name: str, source: Path | None = None) -> tuple[Machine, Boot]:
    """Return the machine and its boot for a kernel's name or file; `source` is what is built."""
    hardware = Hardware("tcg")
    if name == "debian":
        return VirtualMachine(Cache(), hardware), Boot()
    labels = ("security=apparmor",)  # which is on in Debian: some rules ask for labels
    if name in {"stock", "flat"}:
        recipe = KernelRecipe("lean", patches=("flat",) if name == "flat" else ())
        built = Kernels(Cache(), source)
        return VirtualMachine(Cache(), hardware, kernels=built), Boot(labels, kernel=recipe)
    return VirtualMachine(Cache(), hardware, Path(name)), Boot(labels, fresh=True)


def _shown(who: str, found: tuple[object, ...], before: int) -> int:
    """Print findings up to a limit, and return their number."""
    for one in found[: max(_SHOWN - before, 0)]:
        print(f"{who}: {one}\n", flush=True)
    return len(found)


def _print(
    chosen: argparse.Namespace,
    names: list[str],
    counts: list[Counter[str]],
    found: tuple[int, Beside],
    seconds: float,
) -> None:
    """Print the figures: a column for each kernel, then the comparison of the two."""
    disagreements, both = found
    print(f"{'kernel':40}{'  '.join(names)}")
    print(f"{'seed':40}{chosen.seed}")
    print(f"{'disagreements with the semantics':40}{disagreements}")
    print(f"{'seconds':40}{seconds:.0f}")
    for what, _ in counts[0].most_common():
        print(f"{what:40}{''.join(f'{sums[what]:<10}' for sums in counts)}")
    if len(names) > 1:
        print(f"{' beside '.join(names)}:")
        for what, count in both.counts.most_common():
            print(f"  {what:38}{count}")
        print(f"  {'differences':38}{len(both.differences)}")


if __name__ == "__main__":
    raise SystemExit(main())
