"""Changes without effect must have no cost: 40 placebos, billed as any control is.

Run by hand: `python -m bench.accuracy.false_alarms [--quick] [--alone] [--first N] [-o FILE.json]
[WORKLOAD…]`. `--first 23` takes other placebos than those from which `chance` in `syscalls.toml`
was made (0 to 19).

Alone: each placebo is billed as the only control of a profile. Its bill's own placebos are drawn
from the others of its kind, many times, which is what a user's bill does once. Mixed: a few
placebos at a time stand amid real audit rules in one bill, measured as `hardcost bill` does.
It counts false alarms: items and totals reported as distinguishable from 0 although nothing was
changed. For each metric the table shows the smallest cost distinguishable from chance (the largest
over all bills), and how many of the real rules were found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from auditrules.model.rule import Rule
from hardcost.analysis.bill import itemise
from hardcost.analysis.estimates.estimates import Estimate, by_metric, shift
from hardcost.analysis.estimates.resolution import placebo_bound
from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control, PlaceboKind, Profile
from hardcost.errors import HardcostError
from hardcost.host.process import run
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.measure import parallel
from hardcost.measure.prepare import Prepared, prepare
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.placebo import Placebo
from hardcost.model.finding.bill import Itemised
from hardcost.model.role import Fired, Named
from hardcost.model.workload import Workload
from hardcost.plan.leave_one_out import bill_plan
from hardcost.plan.placebo import USUAL
from hardcost.plan.plan import Trial
from hardcost.store.record import Record
from hardcost.supply.cache.cache import Cache
from hardcost.workloads import syscalls

_EACH: dict[PlaceboKind, int] = {"boot": 20, "sysctl": 10, "rule": 10}
_RULES = tuple(
    AuditRule(Rule(f"-a always,exit -F arch=b64 -S swapon -F uid={uid} -k real"))
    for uid in range(70_001, 70_007)
)
"""Rules that every call passes and none matches: 19 to 21 instructions each."""
_TOGETHER = 8  # placebos among the rules; more boot words would not fit on the kernel's line
_DRAWS = 50  # bills for each placebo that is billed alone

_PROGRAM = """\
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words) {
    volatile long sum = 0;
    for (long n = atol(words[1]); n > 0; n--) sum += n;
    for (int n = 0; n < 100; n++) close(open("/etc/passwd", O_RDONLY));
    return 0;
}
"""
_TURNS = {"2 million": 150_000, "200 million": 33_000_000}


@dataclass
class Row:
    """One metric: false alarms, out of how many items and totals, and the smallest cost."""

    metric: str
    asked: int = 0
    alarms: int = 0
    largest: float = 0.0
    least: float = 0.0
    value: float = 0.0
    rules: int = 0
    found: int = 0


def main() -> None:
    """Measure, print the table, write the JSON; status 1 if more than 1 % are false alarms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small mixed bill")
    parser.add_argument("--alone", action="store_true", help="no mixed bills")
    parser.add_argument("--first", type=int, default=0, help="the first placebo's number")
    parser.add_argument("--jobs", type=int, default=2, help="parallel guests")
    parser.add_argument("-o", "--output", type=Path, help="a JSON file for the rows")
    parser.add_argument("only", nargs="*", help="syscalls, small, large, build (default: all)")
    chosen = parser.parse_args()
    rows = asyncio.run(_bench(chosen))
    sys.exit(sum(row.alarms for row in rows) > 0.01 * sum(row.asked for row in rows))


async def _bench(chosen: argparse.Namespace) -> list[Row]:
    """Return the rows of all chosen workloads, showing those known so far after each."""
    machine = VirtualMachine(Cache(), Hardware("icount"))
    first = chosen.first
    placebos = [Placebo(kind, first + at) for kind, count in _EACH.items() for at in range(count)]
    rows: list[Row] = []
    for name, workload in _workloads(machine.cache).items():
        if chosen.only and name not in chosen.only:
            continue
        found = _alone_rows(name, await _alone(machine, placebos, workload, chosen.jobs))
        if not chosen.alone:
            profiles = _profiles(placebos, quick=chosen.quick)
            for profile, bill in await _billed(machine, profiles, workload, chosen.jobs):
                _count(found, name, profile, bill)
        rows += found.values()
        _show(rows)
        if chosen.output:
            chosen.output.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return rows


def _workloads(cache: Cache) -> dict[str, Workload]:
    """Return the workloads, by name in the table; the programs are compiled here."""
    folder = cache.root / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    source, program = folder / "placebos.c", folder / "placebos"
    source.write_text(_PROGRAM)
    run(["gcc", "-O1", "-static", "-o", str(program), str(source)], remedy="apt-get install gcc")
    small, large = (
        Workload("command", (("file", str(program)), ("args", str(turns))))
        for turns in _TURNS.values()
    )
    return {
        "syscalls": Workload("syscalls"),
        "small": small,
        "large": large,
        "build": Workload("build"),
    }


def _alone_rows(name: str, alone: Mapping[str, Mapping[str, Sequence[Estimate]]]) -> dict[str, Row]:
    """Return a workload's rows, by metric, for placebos that are billed alone."""
    rows: dict[str, Row] = defaultdict(lambda: Row(""))
    for kind in _EACH:
        for metric, shifts in alone[kind].items():
            _count_alone(rows[metric], f"{name} {metric}", shifts)
    return rows


def _profiles(placebos: Sequence[Placebo], *, quick: bool) -> list[Profile]:
    """Return profiles of real rules with a few placebos among them."""
    if quick:
        return [_profile(*_RULES[:3], *placebos[2::13])]
    groups = -(-len(placebos) // _TOGETHER)
    return [_profile(*_RULES, *placebos[at::groups]) for at in range(groups)]


async def _alone(
    machine: VirtualMachine, placebos: Sequence[Placebo], workload: Workload, jobs: int
) -> dict[str, dict[str, list[Estimate]]]:
    """Return each placebo's apparent cost over its baseline, by kind and metric."""
    records: list[Record] = []
    for daemon in ((), (AuditDaemon(),)):
        mine = [one for one in placebos if (one.kind == "rule") == bool(daemon)]
        trials = [
            Trial(Configuration(Named(name), (*daemon, *controls)), workload, "insn", 0)
            for name, controls in (
                (f"baseline {bool(daemon)}", ()),
                *((one.name, (one,)) for one in mine),
            )
        ]
        found = await _measured(machine, [prepare(trial, machine) for trial in trials], jobs)
        records += found.values()
    shifts: dict[str, dict[str, list[Estimate]]] = defaultdict(lambda: defaultdict(list))
    for metric, known in by_metric(records).items():
        for one in placebos:
            against = known[Named(f"baseline {one.kind == 'rule'}")]
            shifts[one.kind][str(metric)].append(shift(known[Named(one.name)], against))
    return shifts


def _count_alone(row: Row, metric: str, shifts: Sequence[Estimate]) -> None:
    """Bill each placebo of a kind alone, with others of the kind as its bill's placebos."""
    chance = random.Random(metric)  # noqa: S311  (the same draws each time)
    row.metric = metric
    call = syscalls.calls().get(metric.removeprefix("syscalls "))
    seen = 0.0 if call is None else call.chance
    for at, one in enumerate(shifts):
        others = [other.value for place, other in enumerate(shifts) if place != at]
        for _ in range(_DRAWS):
            drawn = placebo_bound(chance.sample(others, min(USUAL, len(others))))
            least = max(drawn, seen)
            row.least = max(row.least, least)
            row.asked += 1
            crosses = one.low <= 0 <= one.high and one.low != one.high
            if abs(one.value) > least and not crosses:
                row.alarms += 1
                row.largest = max(row.largest, abs(one.value))


def _profile(*controls: Control) -> Profile:
    """Return a profile of placebos and rules, with a daemon if it has rules."""
    rules = any(
        isinstance(one, AuditRule) or (isinstance(one, Placebo) and one.kind == "rule")
        for one in controls
    )
    daemon = (AuditDaemon(),) if rules else ()
    name = " ".join(control.name for control in controls[:1])
    return Profile(name, name, "bench", (*daemon, *controls))


async def _measured(
    machine: VirtualMachine, trials: Sequence[Prepared], jobs: int
) -> dict[str, Record]:
    """Return the records of trials by identity; identical trials run once."""
    single = {one.identity: one for one in trials}
    known: dict[str, Record] = {}
    coming = parallel.execute_all(list(single.values()), machine, jobs=jobs, limit_seconds=600)
    async for prepared, outcome in coming:
        if isinstance(outcome, HardcostError):
            raise outcome
        known[prepared.identity] = outcome
        print(f"{len(known)} of {len(single)}", end="\r", file=sys.stderr)
    return known


async def _billed(
    machine: VirtualMachine, profiles: Sequence[Profile], workload: Workload, jobs: int
) -> list[tuple[Profile, Itemised]]:
    """Return each profile's bill; trials shared by several run once."""
    plans = [bill_plan(profile, [workload], placebos=USUAL) for profile in profiles]
    ready = [
        [prepare(trial, machine) for trial in plan.trials if trial.configuration.role != Fired()]
        for plan in plans
    ]
    known = await _measured(machine, [one for plan in ready for one in plan], jobs)
    return [
        (
            profile,
            itemise.itemise(
                profile,
                [
                    known[one.identity].model_copy(update={"role": one.trial.configuration.role})
                    for one in plan
                ],
            ),
        )
        for profile, plan in zip(profiles, ready, strict=True)
    ]


def _count(rows: dict[str, Row], name: str, profile: Profile, bill: Itemised) -> None:
    """Add a bill to the rows: every item and total that should not be there is a false alarm."""
    placebos = [one.name for one in profile.controls if isinstance(one, Placebo)]
    rules = [one.name for one in profile.controls if isinstance(one, AuditRule)]
    least = {one.metric: one.cost for one in bill.least}
    for total in bill.totals:
        row = rows[str(total.metric)]
        row.metric = f"{name} {total.metric}"
        row.value = total.baseline
        row.least = max(row.least, least[total.metric])
        items = {item.control: item for item in bill.items if item.metric == total.metric}
        wrong = [one.cost for one in items.values() if one.control in placebos and one.cost]
        row.asked += len(placebos)
        if rules:
            row.rules += len(rules)
            row.found += sum(control in items and items[control].cost > 0 for control in rules)
        else:
            row.asked += 1
            wrong += [total.cost] * total.distinguishable
        row.alarms += len(wrong)
        row.largest = max([row.largest, *map(abs, wrong)])


def _show(rows: Sequence[Row]) -> None:
    form = "{:28}{:>15}{:>8}{:>8}{:>10}{:>10}{:>14}"
    print(form.format("metric", "value", "asked", "alarms", "largest", "least", "rules found"))
    for row in rows:
        found = f"{row.found} of {row.rules}" if row.rules else ""
        numbers = (f"{row.value:,.0f}", row.asked, row.alarms, f"{row.largest:.1f}")
        print(form.format(row.metric, *numbers, f"{row.least:.1f}", found))
    asked, alarms = sum(row.asked for row in rows), sum(row.alarms for row in rows)
    print(f"{alarms} false alarms of {asked}: {alarms / asked:.2%}", flush=True)


if __name__ == "__main__":
    main()
