"""The flat audit filter beside the stock one: the cost of calls, loading and memory.

    .venv/bin/python linux-audit/bench/costs.py
    .venv/bin/python linux-audit/bench/costs.py --only calls --only loading --json costs.json
    .venv/bin/python linux-audit/bench/costs.py --source debian:7.3

Builds the lean kernel and the same with the patches `flat`, unless they are in the cache, and
measures both in guests whose clock counts instructions. Prints Markdown: the tables, and for each
line of the acceptance list whether it holds. Exits with 1 if one does not.

The parts: `calls` (under about thirty rule sets), `layouts` (operations that vary with the memory
layout, in several layouts), `stig` (published sets, all calls), `loading` (480 rules of several
kinds, loaded and deleted), `memory`. `--source` is the Linux that both are built from; `--stock`
and `--flat` select other kernels by file, a vmlinux or bzImage each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import measurements
import rule_sets
from hardcost.errors import MachineError
from measurements import Kernel
from report import (
    VARYING,
    Line,
    Pair,
    calls_lines,
    calls_text,
    loading_lines,
    loading_text,
    memory_text,
    profiles_text,
    seeded_lines,
    seeded_text,
)

T = TypeVar("T")

PARTS = ("calls", "layouts", "stig", "loading", "memory")
SEEDS = range(1, 9)


def main() -> int:
    """Measure the selected parts, print them, and return the exit status."""
    parser = argparse.ArgumentParser(description="The flat audit filter beside the stock one.")
    parser.add_argument("--only", action="append", choices=PARTS, help="may be given again")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    parser.add_argument("--stock", type=Path, help="another kernel instead of stock")
    parser.add_argument("--flat", type=Path, help="another kernel instead of flat")
    parser.add_argument("--source", type=Path, help="a folder, or debian:7.3")
    chosen = parser.parse_args()
    kernels = Pair(
        measurements.kernel("stock", chosen.stock, chosen.source),
        measurements.kernel("flat", chosen.flat, chosen.source),
    )
    environment = kernels.flat.machine.environment(kernels.flat.boot)
    print(f"{environment['kernel']}, QEMU {environment['qemu']}, cpu {environment['cpu_model']}\n")
    try:
        lines, figures = asyncio.run(measure(kernels, chosen.only or PARTS))
    except MachineError as error:
        print(f"{error}\n{error.console}", file=sys.stderr)
        return 3
    print("\n### Acceptance\n")
    for line in lines:
        print(line)
    if chosen.json:
        record = {"environment": environment, **figures, "lines": [asdict(one) for one in lines]}
        chosen.json.write_text(json.dumps(record, indent=1))
    return int(not all(line.holds for line in lines))


async def measure(kernels: Pair[Kernel], parts: Iterable[str]) -> tuple[list[Line], dict[str, Any]]:
    """Measure and print the parts; return lines of the acceptance list, and all figures."""
    lines: list[Line] = []
    figures: dict[str, Any] = {}
    for part in PARTS:
        if part in parts:
            started = time.monotonic()
            found, of_part = await {
                "calls": calls,
                "layouts": layouts,
                "stig": stig,
                "loading": loading,
                "memory": memory,
            }[part](kernels)
            lines += found
            figures[part] = of_part
            print(f"{part}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    return lines, figures


async def of_both(kernels: Pair[Kernel], measured: Callable[[Kernel], Awaitable[T]]) -> Pair[T]:
    """Return the same measurement of both kernels; their guests run side by side."""
    return Pair(*await asyncio.gather(measured(kernels.stock), measured(kernels.flat)))


async def calls(kernels: Pair[Kernel]) -> tuple[list[Line], dict[str, Any]]:
    """Calls under rule sets."""
    sets = rule_sets.of_calls()
    found = await of_both(kernels, lambda kernel: measurements.calls(kernel, sets))
    print(*calls_text(found), sep="", flush=True)
    return list(calls_lines(found)), asdict(found)


async def layouts(kernels: Pair[Kernel]) -> tuple[list[Line], dict[str, Any]]:
    """Operations that vary with the memory layout."""
    sets = rule_sets.of_seeds()
    found = await of_both(
        kernels, lambda kernel: measurements.over_seeds(kernel, sets, VARYING, SEEDS)
    )
    print(*seeded_text(found), sep="", flush=True)
    return list(seeded_lines(found)), asdict(found)


async def stig(kernels: Pair[Kernel]) -> tuple[list[Line], dict[str, Any]]:
    """Published rule sets."""
    none, *_ = (one for one in rule_sets.of_calls() if one.name == "no rules")
    sets = rule_sets.profiles()
    found = await of_both(kernels, lambda kernel: measurements.calls(kernel, (none, *sets)))
    print(*profiles_text(found, {one.name: one.size for one in sets}), sep="", flush=True)
    return [], asdict(found)


async def loading(kernels: Pair[Kernel]) -> tuple[list[Line], dict[str, Any]]:
    """Loading and deleting rules."""

    async def of(kernel: Kernel) -> dict[str, measurements.Changes]:
        kinds = rule_sets.of_loading()
        sets = [rule_sets.of_lines(kind, lines) for kind, lines in kinds.items()]
        found = await asyncio.gather(*(measurements.changes(kernel, one) for one in sets))
        return dict(zip(kinds, found, strict=True))

    found = await of_both(kernels, of)
    print(*loading_text(found), sep="", flush=True)
    return list(loading_lines(found)), asdict(found)


async def memory(kernels: Pair[Kernel]) -> tuple[list[Line], dict[str, Any]]:
    """The kernel's memory use."""
    sets = rule_sets.of_memory()

    async def of(kernel: Kernel) -> dict[str, measurements.Memory]:
        found = await asyncio.gather(*(measurements.memory(kernel, one) for one in sets))
        return {one.name: held for one, held in zip(sets, found, strict=True)}

    found = await of_both(kernels, of)
    sizes = {one.name: one.size for one in sets}
    sections = Pair(*map(measurements.sections, (kernels.stock, kernels.flat)))
    print(*memory_text(found, sizes, sections), sep="", flush=True)
    return [], {**asdict(found), "sections": asdict(sections)}


if __name__ == "__main__":
    raise SystemExit(main())
