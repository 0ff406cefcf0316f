"""What an audited call executes, function by function.

Run as `python -m bench.rules.audit_functions [TABLE]`.

`getppid`, an open and its close, and a recorded `chmod`, with no rule, one rule, and the sample of
the STIG's rules, on the stock kernel and on the flat one. TABLE is `null`, `open` or `chmod`, which
has a row for each function that audit adds to; or `patches`, which has a row for each patch of the
series, and needs a kernel for each (two minutes each the first time). Without TABLE, all.

The numbers are instructions, and a column of a call adds up to what the call takes.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from hardcost.host.process import run
from hardcost.protocol.boot import KernelRecipe
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.builder import Kernels

_CALLS = ("null", "open", "chmod")
_RULE = "-a always,exit -F arch=b64 -S swapon -F uid=70001 -k one\n"
_STATES = ("no rules", "1 rule", "STIG")
_SHOWN = 16  # functions of a table

Own = dict[str, float]


@cache
def image(patches: tuple[str, ...]) -> Path:
    """Return the kernel `lean` with these patches, built if necessary."""
    return asyncio.run(Kernels(Cache()).build(KernelRecipe("lean", patches=patches))).image


@cache
def counted(patches: tuple[str, ...]) -> dict[str, dict[str, Own]]:
    """Return the instructions of each function's own, by call and by state."""
    with tempfile.TemporaryDirectory() as folder:
        one = Path(folder) / "one.rules"
        one.write_text(_RULE)
        single = _hotspots(patches, str(one), folder)
        whole = _hotspots(patches, "audit-samples", folder)
    found: dict[str, dict[str, Own]] = {}
    for call in _CALLS:
        sides = ((single, "own_before"), (single, "own_after"), (whole, "own_after"))
        found[call] = {
            state: {one["function"]: one[side] for one in profile[call]["functions"]}
            for state, (profile, side) in zip(_STATES, sides, strict=True)
        }
    return found


def _hotspots(patches: tuple[str, ...], rules: str, folder: str) -> dict[str, dict[str, Any]]:
    """Return the profile of each call, without rules and with `rules`."""
    words = [sys.executable, "-c", "from hardcost.cli.main import main; main()"]
    words += ["hotspots", rules, "--kernel", str(image(patches)), "--format", "json"]
    words += ["--workload", f"syscalls calls={'+'.join(_CALLS)}"]
    words += ["--store", f"{folder}/store.sqlite"]
    return {one["metric"]: one for one in json.loads(run(words))["hotspots"]}


def functions(call: str) -> None:
    """Print a call's table: a row for each function that rules make execute more."""
    columns = {
        f"{kernel}, {state}": own
        for kernel, patches in (("stock", ()), ("flat", ("flat",)))
        for state, own in counted(patches)[call].items()
        if (kernel, state) != ("flat", "no rules")
    }
    base = columns["stock, no rules"]
    growth = {
        name: max(abs(own.get(name, 0.0) - base.get(name, 0.0)) for own in columns.values())
        for own in columns.values()
        for name in own
    }
    shown = sorted((name for name in growth if growth[name]), key=lambda name: -growth[name])
    row("function", columns)
    print("|", " | ".join(["---", *("---:" for _ in columns)]), "|")
    named = shown[:_SHOWN]
    for name in named:
        row(f"`{name}`", [cell(own.get(name, 0.0)) for own in columns.values()])
    rest = [sum(own.values()) - sum(own.get(n, 0.0) for n in named) for own in columns.values()]
    row("all others", map(cell, rest))
    row("the call", [cell(sum(own.values())) for own in columns.values()])


def patches() -> None:
    """Print what the calls take after each patch of the series."""
    root = resources.files("hardcost.supply.kernels") / "series" / "flat" / "6.1"
    files = sorted(str(one) for one in root.iterdir() if one.name[:4] > "0000")
    row("patches", [f"{call}, {state}" for call in _CALLS for state in _STATES[1:]])
    print("|", " | ".join(["---", *("---:" for _ in range(2 * len(_CALLS)))]), "|")
    for count in range(len(files) + 1):
        found = counted(tuple(files[:count]))
        name = Path(files[count - 1]).name[:4].lstrip("0") if count else "none"
        row(name, [cell(sum(found[c][s].values())) for c in _CALLS for s in _STATES[1:]])


def row(first: str, rest: Any) -> None:  # noqa: ANN401 - texts, in any collection
    """Print a row."""
    print("|", " | ".join([first, *rest]), "|", flush=True)


def cell(number: float) -> str:
    """Return a number of a table."""
    return f"{number:,.0f}" if number == round(number) else f"{number:,.1f}"


if __name__ == "__main__":
    for table in sys.argv[1:] or [*_CALLS, "patches"]:
        if table == "patches":
            patches()
        else:
            functions(table)
