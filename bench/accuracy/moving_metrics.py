"""Which metrics depend on perturbations.

Run as `python -m bench.accuracy.moving_metrics [--draws 12] [--keep FILE] [WORKLOAD…]`.

Each workload (by default `syscalls`) is measured unperturbed and under so many perturbations, which
change nothing that means anything. A metric whose values are all within a few instructions of each
other does not move; any other does. What workloads say of themselves (`moves` in `syscalls.toml`,
the `resolution` of a whole system's) is compared with that: status 1 where they differ.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hardcost.analysis.estimates.estimates import series_of
from hardcost.controls.configuration import Configuration
from hardcost.errors import HardcostError
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.measure import parallel
from hardcost.measure.prepare import FIXED_LAYOUT_SEED, Prepared, prepare
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.perturbations import UNPERTURBED, USUAL, perturbations_by_trial
from hardcost.plan.plan import Trial
from hardcost.store.record import Record
from hardcost.study.read import workload_from_words
from hardcost.supply.cache.cache import Cache
from hardcost.workloads import syscalls

FEW = 16
"""Instructions within which values agree: a name that collides with another in a cache costs 6."""

_LIMIT_SECONDS = 1200.0
_BASELINE = Configuration(Named("baseline"), (AuditDaemon(),))


def trials(
    asked: Workload, configuration: Configuration, draws: int, machine: VirtualMachine
) -> list[Prepared]:
    """Return the trials of a configuration: one that is not perturbed, and so many draws.

    The repetition of each is the number of its first perturbation.
    """
    most = USUAL if asked.name == syscalls.NAME else 1  # in one trial
    each: list[tuple[int, ...]] = [UNPERTURBED]
    each += [tuple(range(n, min(n + most, draws + 1))) for n in range(1, draws + 1, most)]
    return [
        prepare(
            Trial(configuration, asked, "insn", FIXED_LAYOUT_SEED, numbers[0], numbers), machine
        )
        for numbers in each
    ]


def perturb_all() -> None:
    """Have each call of `syscalls` measured as one that moves."""
    for name, call in list(syscalls.calls().items()):
        syscalls.calls()[name] = dataclasses.replace(call, moves=True)


def _known(kept: Path | None) -> dict[str, Record]:
    """Return the records in a file, by identity."""
    lines = kept.read_text().splitlines() if kept is not None and kept.exists() else []
    return {one.identity: one for one in map(Record.model_validate_json, lines)}


async def records(
    prepared: Sequence[Prepared], machine: VirtualMachine, jobs: int, kept: Path | None
) -> list[Record]:
    """Carry out the trials that are not `kept`, keep their records there, and return all.

    Raises:
        HardcostError: One failed.
    """
    known = _known(kept)
    missing = [one for one in prepared if one.identity not in known]
    boots = tuple(dict.fromkeys(one.boot for one in missing))
    machine.fetch(boots, print)
    for boot in boots:
        await machine.make_ready(boot)
    coming = parallel.execute_all(missing, machine, jobs=jobs, limit_seconds=_LIMIT_SECONDS)
    async for trial, one in coming:
        if isinstance(one, HardcostError):
            raise one
        known[trial.identity] = one
        if kept is not None:
            with kept.open("a") as file:
                file.write(f"{one.model_dump_json()}\n")
        print(f"{len(known)} known, {len(prepared)} wanted", end="\r", file=sys.stderr)
    return [known[one.identity] for one in prepared]


def show(asked: Workload, values: Mapping[str, Sequence[float]], says: Mapping[str, bool]) -> bool:
    """Print how each metric of a workload moves; say whether that is what the workload says."""
    print(f"{asked}\n{'metric':16}{'least':>16}{'spread':>12}{'sd':>10}{'sd %':>8}  moves  says")
    agrees = True
    for metric, own in values.items():
        spread, deviation = max(own) - min(own), statistics.pstdev(own)
        found, said = spread > FEW, says.get(metric, says[""])
        agrees &= found == said
        words = ("no", "yes")
        print(
            f"{metric:16}{min(own):16,.0f}{spread:12,.1f}{deviation:10,.1f}"
            f"{100 * deviation / statistics.fmean(own):8.3f}  {words[found]:5}  {words[said]}"
        )
    return agrees


def main() -> int:
    """Measure and compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=12, help="perturbations beside none")
    parser.add_argument("--jobs", type=int, default=2, help="parallel guests")
    parser.add_argument("--keep", type=Path, help="a file for records, for the next time")
    parser.add_argument("workloads", nargs="*", default=["syscalls"])
    given = parser.parse_args()
    machine = VirtualMachine(Cache(), Hardware("icount"))
    says = {name: call.moves for name, call in syscalls.calls().items()}
    perturb_all()
    agrees = True
    for text in given.workloads:
        asked = workload_from_words(text, "insn")
        says[""] = len(perturbations_by_trial(asked, "insn")) > 1
        todo = trials(asked, _BASELINE, given.draws, machine)
        found = asyncio.run(records(todo, machine, given.jobs, given.keep))
        values = {
            metric: [one.value for one in of.medians.values()]
            for (_, _, metric), of in series_of(found).items()
        }
        agrees &= show(asked, values, says)
    return int(not agrees)


if __name__ == "__main__":
    sys.exit(main())
