"""Does the prover list every assumption that it relies on?

Run by hand: `python -m bench.rules.violated_assumptions --sets 60`.

First each assumption that a proof can list is violated by itself: two sets that the prover calls
equal under it are loaded in a guest where it does not hold, and must record different events. Then
random sets and their optimised versions, proved equal, are loaded in guests that violate some
assumptions: if they record different events, the proof must list the assumption. If nothing is
violated they must record the same.

With --later KERNEL (Linux 6.12.75 or later) the assumption about the kernel is violated too, and a
rule that is narrowed by the kernel's own class of calls must record what the rule itself does.

Status 1 if an assumption can't be shown, or one is missing from a proof.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

# Conformance is no package that could be installed.
from auditrules.auditctl.translate import Target
from auditrules.optimize.optimize import OptimizeOptions
from conformance import watches
from conformance.battery import Battery, WantedRules, run_battery
from conformance.calls import Call, file, remove
from conformance.repertoire import CALLS
from conformance.violations import LATER, NARROWED, SCENARIOS, Scenario, proof, recorded
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache


def main() -> int:
    """Print the results, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=60, help="drawn sets for each violation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--later", type=Path, help="a kernel of Linux 6.12.75 or later")
    arguments = parser.parse_args()
    machine = VirtualMachine(Cache(), Hardware("tcg"))
    good = all(list(map(partial(shown, machine), SCENARIOS)))
    if arguments.later:
        later = VirtualMachine(Cache(), Hardware("tcg"), arguments.later)
        good &= shown(later, LATER) and narrowed(later)
    chance = random.Random(arguments.seed)  # noqa: S311  (no secret)
    good &= explored(machine, chance, arguments.sets)
    return int(not good)


def shown(machine: VirtualMachine, one: Scenario) -> bool:
    """Violate one assumption, and say whether that made a difference."""
    result = proof(one)
    listed = one.code in {found.code for found in result.assumptions}
    a, b = recorded(machine, one)
    good = bool(result.equal) and listed and a != b
    print(
        f"{one.code}: {'equal' if result.equal else 'NOT EQUAL'},"
        f" {'listed' if listed else 'NOT LISTED'}; violated, A records {dict(a)}, B {dict(b)}"
        f"{'' if good else '  <-- NOT SHOWN'}",
        flush=True,
    )
    return good


def narrowed(machine: VirtualMachine) -> bool:
    """Say whether a rule narrowed by class records on a later kernel what the rule itself does."""
    battery = run_battery(machine, [WantedRules(f"{line}\n") for line in NARROWED], LATER.calls)
    whole, by_class, by_name = (bool(one.recorded) for one in battery.sets)
    print(f"fchmodat2 on the later kernel: {whole=}, {by_class=}, {by_name=}")
    return whole and by_class and not by_name


# Drawn sets ---------------------------------------------------------------------------------------


def explored(machine: VirtualMachine, chance: random.Random, sets: int) -> bool:
    """Load random pairs with one or no assumption violated; say whether all are listed."""
    battery = watches.learned(machine)
    plain = drawn(chance, battery, sets)
    files = drawn(chance, battery, sets, target=watches.FILES)
    no_b32 = drawn(chance, battery, sets, OptimizeOptions(b32=False))
    never = drawn(chance, battery, sets, OptimizeOptions(never_first=True))
    replaced = tuple(
        replace(call, before=(remove(path), file(path, 0o666)))
        for call in watches.EVERY_CALL[len(CALLS) :]
        for path in watches.WATCHED
        if any(getattr(argument, "text", "") == path for argument in call.arguments)
    )
    calls = (*CALLS, *replaced)
    tries = [
        ((), plain, "directory", watches.EVERY_CALL),
        ((), plain, "file", watches.EVERY_CALL),
        (("kinds",), files, "directory", watches.EVERY_CALL),
        ((), files, "file", watches.EVERY_CALL),
        (("b32",), no_b32, "file", watches.EVERY_CALL),
        (("raised",), never, "file", watches.EVERY_CALL),
        *(((code,), plain, code, watches.EVERY_CALL) for code in watches.VIOLATED),
        # In two of these worlds, supposed files are directories.
        *(((code, "kinds"), files, code, watches.EVERY_CALL) for code in watches.VIOLATED),
        (("replaced",), [within(one, len(calls)) for one in plain], "file", calls),
    ]
    found = [tried(machine, *one) for one in tries]
    return all(found)


def within(pair: watches.Pair, count: int) -> watches.Pair:
    """Return a pair restricted to `count` calls."""
    return replace(pair, calls=tuple(sorted({at % count for at in pair.calls})))


def drawn(
    chance: random.Random,
    battery: Battery,
    sets: int,
    options: OptimizeOptions | None = None,
    target: Target = watches.TARGET,
) -> list[watches.Pair]:
    """Return so many pairs that were proved equal."""
    pairs: list[watches.Pair] = []
    number = 0
    while len(pairs) < sets:
        pair = watches.draw(chance, battery, number, options, target)
        number += 1
        if pair is not None:
            pairs.append(pair)
    return pairs


def tried(
    machine: VirtualMachine,
    codes: tuple[str, ...],
    pairs: list[watches.Pair],
    world: str,
    calls: tuple[Call, ...],
) -> bool:
    """Load pairs in a guest that violates assumptions; say whether each difference is listed."""
    counts: Counter[str] = Counter()
    for one in watches.compare(machine, pairs, world, calls):
        counts["pairs"] += 1
        counts["different"] += bool(one.differ)
        if one.differ and one.pair.assumed.isdisjoint(codes):
            counts["NOT LISTED"] += 1
            print(f"original:\n{one.pair.original}made:\n{one.pair.made}")
            print(*(calls[at] for at in one.differ), sep="\n")
    shown_counts = ", ".join(f"{amount} {what}" for what, amount in counts.items())
    print(f"{' and '.join(codes) or 'nothing'} violated ({world}): {shown_counts}", flush=True)
    return not counts["NOT LISTED"]


if __name__ == "__main__":
    sys.exit(main())
