"""Prices of audit rules in nanoseconds on this machine, and what they are worth.

Run by hand, as root, on a machine not in use otherwise: `python -m bench.rules.nanosecond_prices`.
It loads audit rules into this machine's own kernel, as `bench/accuracy/real_machine.py` does, and
compares what was there with what is there after it.

The sets of `hardcost rules cost --fit` are timed, together with published ones that no price is
fitted from: all of more than 20 rules among the audit package's samples, the catalogue's, and the
RHEL 9 profiles STIG, CIS and OSPP. For each set and operation it prints what the rules add to a
call in ns, predicted and measured, and by how much the prediction is off; beside it, by how much
one that multiplies instructions by a single factor is off. `--keep FOLDER` keeps what was measured,
and takes it from there.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import hardcost.calibration.nanoseconds.rounds
from auditrules.cost.constants import Constants
from auditrules.cost.measurement import PriceCheck
from auditrules.kernel import semantics
from bench.accuracy import real_machine
from bench.rules import cost
from hardcost.calibration import check
from hardcost.calibration.nanoseconds import validation
from hardcost.calibration.nanoseconds.prices import prices_of_rounds, sets_to_time
from hardcost.calibration.nanoseconds.rounds import Timed
from hardcost.calibration.nanoseconds.rule_sets import NONE, ONE, timed_sets
from hardcost.calibration.nanoseconds.validation import HeldOut
from hardcost.cli.console.progress import monitor_of
from hardcost.machines import names
from hardcost.machines.options import MachineOptions

_FEWEST_RULES = 20
_NEXT_WORD_SECONDS = 60.0


def main() -> None:
    """Measure, fit, and print predictions beside what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path)
    parser.add_argument(
        "--rounds", type=int, default=hardcost.calibration.nanoseconds.rounds.ROUNDS
    )
    chosen = parser.parse_args()
    sets = (*validation.held_out(), *published())
    with contextlib.ExitStack() as opened:
        folder = chosen.keep or Path(opened.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        timed = measured(folder, sets, chosen.rounds)
    prices = prices_of_rounds(timed, sets, {"unit": "ns"})
    factor = per_instruction(timed)
    own = {one.name for one in validation.held_out()}
    print(f"{len(timed.rounds)} rounds, {timed.disturbed} of {timed.trials} trials measured again")
    show([one for one in prices.checked if one.set in own], sets, factor, "sets of hardcost's own")
    show([one for one in prices.checked if one.set not in own], sets, factor, "published sets")


def published() -> tuple[HeldOut, ...]:
    """Return the published sets."""
    with contextlib.redirect_stdout(io.StringIO()):  # what can't be loaded bench/rules/cost.py says
        every = chain(cost.of_files(cost.standard()), cost.of_profiles())
        found = [HeldOut(name, cost.loadable(name, rules)) for name, rules in every]
    return tuple(one for one in found if len(one.rules) > _FEWEST_RULES)


def measured(folder: Path, sets: Sequence[HeldOut], rounds: int) -> Timed:
    """Return what rounds show on this machine, kept in the folder."""
    kept = folder / "rounds.json"
    if not kept.exists():
        path = real_machine.auditctl(folder)
        os.environ["PATH"] = os.pathsep.join((str(path.parent), os.environ["PATH"]))
        with real_machine.unchanged():
            found = asyncio.run(_timed(sets, rounds))
        kept.write_text(json.dumps([found.rounds, found.trials, found.disturbed]))
    levels, trials, disturbed = json.loads(kept.read_text())
    return Timed(tuple(levels), trials, disturbed)


async def _timed(sets: Sequence[HeldOut], rounds: int) -> Timed:
    machine = await names.make(
        "host", MachineOptions(yes=True, instrument="time"), monitor_of("plain")
    )
    said = began = time.monotonic()

    def hear(done: int, trials: int) -> None:
        nonlocal said
        if time.monotonic() - said > _NEXT_WORD_SECONDS:
            said = time.monotonic()
            left = (said - began) / done * (trials - done)
            print(f"trial {done} of {trials}; {left:.0f} s left", file=sys.stderr)

    return await hardcost.calibration.nanoseconds.rounds.time_rounds(
        machine, sets_to_time(sets), rounds, hear
    )


def per_instruction(timed: Timed) -> float:
    """Return the one factor of a model that is linear in instructions, from what one rule adds."""
    counted = Constants.of_debian()
    (rule,) = (one for one in timed_sets() if one.name == ONE)
    (held,) = (HeldOut(ONE, validation.rules_of_lines(rule.rules)),)
    loaded = semantics.load(held.rules)
    return statistics.median(
        statistics.fmean(level[ONE][operation] - level[NONE][operation] for level in timed.rounds)
        / check.predict_typical(counted, loaded, operation)
        for operation in validation.OPERATIONS
    )


def show(rows: Sequence[PriceCheck], sets: Sequence[HeldOut], factor: float, title: str) -> None:
    """Print predictions beside measurements, and how far they are off."""
    counted = Constants.of_debian()
    loaded = {one.name: semantics.load(one.rules) for one in sets}
    linear = [
        factor * check.predict_typical(counted, loaded[row.set], row.operation) / row.measured - 1
        for row in rows
    ]
    print(f"\n{title:<34}{'rules':>5}  {'call':<8}{'predicted':>10}{'measured':>10}", end="")
    print(f"{'interval':>18}{'off':>8}{'by insn':>9}")
    for row, other in zip(rows, linear, strict=True):
        interval = f"{row.low:,.0f}..{row.high:,.0f}"
        print(
            f"{row.set:<34}{row.rules:>5}  {row.operation:<8}{row.predicted:>10,.0f}"
            f"{row.measured:>10,.0f}{interval:>18}{row.off:>+8.1%}{other:>+9.1%}"
        )
    for what, offs in (("prices", [row.off for row in rows]), ("instructions", linear)):
        print(
            f"by {what}: half are within {statistics.median(map(abs, offs)):.1%}, "
            f"all within {max(map(abs, offs)):.1%}"
        )


if __name__ == "__main__":
    main()
