"""Benchmarks of hardcost itself: the overhead of a trial, and a whole study.

Run by `make bench`. Everything is measured with a cache that holds kernel, guest and packages.
Boots are shown beside restores, since avoiding a boot for each trial is the point of snapshots.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

from hardcost.analysis.estimates.estimates import cells
from hardcost.machines.vm import snapshot
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.measure import parallel
from hardcost.measure.prepare import Prepared, prepare
from hardcost.plan import factorial
from hardcost.protocol.boot import Boot
from hardcost.store.record import Record
from hardcost.study.read import read
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.debian import package_root

_ROUNDS = 10
_LIMIT_SECONDS = 120.0
_STUDY = Path(__file__).resolve().parents[2] / "tests" / "vm" / "rules.toml"


def main() -> None:
    """Print one line for each benchmark."""
    machine = VirtualMachine(Cache(), Hardware("icount"))
    asyncio.run(machine.make_ready(Boot()))
    start, whole = empty_trials(machine)
    booted = fresh_boots(machine)
    trials, seconds = study(machine)
    booting = rebooted(trials, booted, seconds)
    rows = (
        ("from trial start to workload start", f"{start:.3f} s"),
        ("a trial without a workload (the overhead)", f"{whole:.3f} s"),
        ("the same, with a cold boot", f"{booted:.3f} s ({booted / whole:.0f} times as long)"),
        ("trials in a study of audit rules", f"{trials}"),
        ("all of them, with --fresh", f"{seconds:.1f} s"),
        ("trials per second", f"{trials / seconds:.2f}"),
        (
            "the study, had each trial booted (computed)",
            f"{booting:.0f} s",
        ),
    )
    for what, figure in rows:
        print(f"{what:48}{figure}")


def empty_trials(machine: VirtualMachine) -> tuple[float, float]:
    """Return the medians of the seconds to the workload's start, and of a whole empty trial."""
    runs = [asyncio.run(machine.execute(Boot(), (), _LIMIT_SECONDS)) for _ in range(_ROUNDS)]
    return (
        statistics.median(run.start_seconds for run in runs),
        statistics.median(run.host_seconds for run in runs),
    )


def fresh_boots(machine: VirtualMachine) -> float:
    """Return the median of the seconds of a boot up to the start of a trial."""
    recipe = machine.recipe(Boot())
    seconds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            asyncio.run(snapshot.boot_and_save(recipe, Path(folder), machine.cache))
            seconds.append(time.monotonic() - started)
    return statistics.median(seconds)


def study(machine: VirtualMachine) -> tuple[int, float]:
    """Return the number of trials of the study and the seconds that all of them took."""
    plan = factorial.plan(read(str(_STUDY), package_root), factorial.Overrides())
    prepared = [prepare(trial, machine) for trial in factorial.start_order(plan)]
    for boot in {trial.boot for trial in prepared}:
        asyncio.run(machine.make_ready(boot))
    started = time.monotonic()
    records = asyncio.run(collect(prepared, machine))
    seconds = time.monotonic() - started
    if len(cells(plan, records)) < len(plan.trials):
        raise SystemExit("the study did not measure all its trials")
    return len(records), seconds


async def collect(prepared: list[Prepared], machine: VirtualMachine) -> list[Record]:
    """Return the records of all trials, with one guest at a time for each core."""
    jobs = len(os.sched_getaffinity(0))
    found = parallel.execute_all(
        prepared, machine, jobs=jobs, limit_seconds=_LIMIT_SECONDS, keep_going=False
    )
    return [came async for _, came in found if isinstance(came, Record)]


def rebooted(trials: int, booted: float, seconds: float) -> float:
    """Return the seconds that `trials` would take if each booted: computed, not measured."""
    return seconds + trials * booted / len(os.sched_getaffinity(0))


if __name__ == "__main__":
    main()
