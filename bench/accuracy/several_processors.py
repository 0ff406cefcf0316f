"""Whether counts on several processors repeat, are shared evenly, and say what queueing says.

Run as `python -m bench.accuracy.several_processors WHAT [--processors 2,4,8] [--kernel NAME]
[--executions 20]`, WHAT being one of

- `repeats`: copies of files under auditd and rules, again and again, a third of the executions
  beside two busy loops: every answer has to be the same each time.
- `shares`: what each processor could execute while all only count.
- `contention`: processes that wait for each other, beside what queueing says, at two lengths of
  turn.

Status 1 if something differs, or is further off than docs/processors.md says.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from auditrules.model.rule import Rule
from conformance.program import built
from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Profile
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.turns import LONG_TURNS, TURNS, Turns
from hardcost.machines.options import MachineOptions
from hardcost.machines.vm.argv import PROCESSORS_IN_TURN
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.machines.vm.make import make
from hardcost.machines.vm.repeat import difference
from hardcost.measure.monitor import Silent
from hardcost.measure.prepare import FIXED_LAYOUT_SEED, prepare
from hardcost.mechanisms.audit import AuditRule
from hardcost.mechanisms.auditd import Auditd
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.protocol.answers import CommandAnswer, ParallelAnswer, all_of, only
from hardcost.protocol.ask import install
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Command, Request
from tests.load import busy

_LIMIT_SECONDS = 3600.0
_BUSY = 3  # every third execution has company
_PROGRAM = "/contention"
_MOST_SPREAD = {2: 0.01, 4: 0.01, 8: 0.015, 16: 0.03}
_WITHIN = 0.05
_RULES = (
    "-a always,exit -F arch=b64 -S open,openat,unlink,unlinkat,chmod -F auid>=1000 -k file",
    "-a always,exit -F arch=b64 -S creat,rename,renameat,mkdir,mkdirat -k made",
)


@dataclass(frozen=True)
class Contention:
    """Processes that wait for each other, and the length that queueing gives them."""

    words: tuple[str, ...]
    expected: int
    title: str


def contentions(processors: int) -> Iterator[Contention]:
    """Yield what is tried on so many processors."""

    def one(title: str, expected: float, *words: object) -> Contention:
        return Contention(tuple(map(str, words)), round(expected), title)

    yield one("no waiting", 20e6, "count", processors, 20_000_000)
    for percent in (5, 10, 25, 50):
        inside = 200 * percent
        outside = 20_000 - inside
        length = max(inside + outside, processors * inside)
        title = f"a lock, held {percent} % of the time, {inside:,} at a time"
        yield one(title, 500 * length, "lock", processors, inside, outside, 500)
    for inside in (200, 500):
        length = max(2_000, processors * inside)
        title = f"a lock, held {inside / 20:.0f} % of the time, {inside:,} at a time"
        yield one(title, 2_000 * length, "lock", processors, inside, 2_000 - inside, 2_000)
    yield one("a barrier", 60 * 100_000, "barrier", processors, 100_000, 60)
    for producers in range(1, processors):
        paced = max(100_000, 300_000 / producers)
        title = f"a daemon, {producers} producers"
        events = 180 // producers
        yield one(title, events * producers * paced, "daemon", producers, 100_000, 300_000, events)
    yield one("a pipe between two", 50 * 2 * 200_000, "pipe", 200_000, 50)


def machine_of(
    processors: int, kernel: str | None = None, qemu: str | None = None
) -> VirtualMachine:
    """Return a machine whose guests have so many measured processors."""
    wanted = MachineOptions(
        instrument=PARALLEL.name,
        processors=processors,
        kernel=None if kernel is None else Path(kernel),
        qemu=qemu,
    )
    return asyncio.run(make(wanted, Silent()))


def lengths_of(
    machine: VirtualMachine, tried: Sequence[Contention], turns: Turns
) -> tuple[ParallelAnswer, list[int]]:
    """Return how the clock was calibrated, and how long each of `tried` took by it."""
    program = built("hardcost-contention").read_bytes()
    job: list[Request] = [
        turns.request,
        install(_PROGRAM, program, 0o755),
        *(Command(clock="parallel", argv=(_PROGRAM, *one.words)) for one in tried),
    ]
    done = asyncio.run(machine.execute(Boot(), job, _LIMIT_SECONDS))
    ran = all_of(done.answers, CommandAnswer)
    return only(done.answers, ParallelAnswer), [int(one.stdout) for one in ran]


def spread_of(answer: ParallelAnswer) -> float:
    """Return by what share the processors' counts differ at most."""
    return max(answer.counts) / min(answer.counts) - 1


def shares(processors: int, kernel: str | None) -> bool:
    """Print and say whether the shares of the processors are as even as they should be."""
    machine = machine_of(processors, kernel)
    machine.fetch([Boot()], print)
    right = True
    for loops in (0, 2):
        with busy(loops):
            began = time.monotonic()
            answer, _ = lengths_of(machine, list(contentions(processors))[:1], TURNS)
        spread = spread_of(answer)
        right &= spread <= _MOST_SPREAD.get(processors, max(_MOST_SPREAD.values()))
        each = " ".join(
            f"{100 * one / (answer.clock + sum(answer.counts)):.2f}" for one in answer.counts
        )
        print(
            f"| {processors} | {loops} | {each} | {100 * spread:.2f} % |"
            f" {time.monotonic() - began:.0f} s |",
            flush=True,
        )
    return right


def contention(processors: int, kernel: str | None) -> bool:
    """Print and say whether one length of turn, or two that differ, say what queueing says."""
    machine = machine_of(processors, kernel)
    machine.fetch([Boot()], print)
    tried = list(contentions(processors))
    usual = lengths_of(machine, tried, TURNS)[1]
    longer = lengths_of(machine, tried, LONG_TURNS)[1]
    right = True
    for one, at_usual, at_long in zip(tried, usual, longer, strict=True):
        flagged = abs(at_long / at_usual - 1) > _WITHIN
        is_right = abs(at_usual / one.expected - 1) <= _WITHIN or flagged
        right &= is_right
        print(
            f"| {processors} | {one.title} | {one.expected / 1e6:.2f} |"
            f" {at_usual / one.expected:.2f} | {at_long / one.expected:.2f} |"
            f" {'flagged' if flagged else 'agree' if is_right else 'WRONG'} |",
            flush=True,
        )
    return right


def repeats(processors: int, kernel: str | None, executions: int) -> bool:
    """Print and say whether so many executions of copies under audit are equal."""
    machine = machine_of(processors, kernel)
    profile = Profile(
        "rules", "rules", "bench", (Auditd(), *(AuditRule(Rule(one)) for one in _RULES))
    )
    configuration = Configuration(Named("rules"), profile.controls)
    workload = Workload("filecopy", (("concurrency", str(processors)), ("files", "10")))
    trial = Trial(configuration, workload, PARALLEL.name, FIXED_LAYOUT_SEED)
    one = prepare(trial, machine)
    machine.fetch([one.boot], print)

    async def all_of_them() -> int:
        first, differ = None, 0
        for at in range(executions):
            with busy(2 if at % _BUSY == 0 else 0):
                done = await machine.execute(one.boot, one.job, _LIMIT_SECONDS)
            first = first or done
            if done.answers != first.answers:
                differ += 1
                print(f"  {at}: {difference(first, done)}", flush=True)
            print(f"{at + 1} of {executions}", end="\r", file=sys.stderr)
        return differ

    began = time.monotonic()
    differ = asyncio.run(all_of_them())
    print(
        f"| {machine.kernel.release} | {processors} | {executions} | {differ} |"
        f" {(time.monotonic() - began) / executions:.0f} s |",
        flush=True,
    )
    return not differ


def main() -> int:
    """Try what is asked for; return the exit status."""
    words = argparse.ArgumentParser(description="Counts on several processors.")
    words.add_argument("what", choices=["repeats", "shares", "contention"])
    words.add_argument("--processors", default="2,4,8")
    words.add_argument("--kernel", default=None)
    words.add_argument("--executions", type=int, default=20)
    chosen = words.parse_args()
    print(f"turns of {TURNS.nanoseconds // PROCESSORS_IN_TURN:,} instructions", flush=True)
    right = True
    for number in map(int, chosen.processors.split(",")):
        if chosen.what == "repeats":
            right &= repeats(number, chosen.kernel, chosen.executions)
        elif chosen.what == "shares":
            right &= shares(number, chosen.kernel)
        else:
            right &= contention(number, chosen.kernel)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
