"""What spreading trials over workers costs, with a machine whose trials take no time.

Run by hand: `python -m bench.speed.workers [--trials 2000] [--workers 2] [--guests 4]`. It starts a
Dask scheduler and workers on this host, and measures trials of the machine `fake`, without workers
and with them. What a trial takes more with them is their overhead, on this host, under its load:
all processes share its processors, where a lab's have their own. It states the processor time of
each side of a trial, the bytes that a trial sends over the network, and the scheduler's memory.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import socket
import subprocess  # noqa: TID251  (what is run here is hardcost itself, and Dask)
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from auditrules.model.rule import Rule
from hardcost.controls.configuration import Configuration
from hardcost.machines.machine import Machine
from hardcost.machines.options import MachineOptions
from hardcost.measure import parallel
from hardcost.measure.monitor import Silent
from hardcost.measure.prepare import Prepared, prepare
from hardcost.measure.workers import worker
from hardcost.measure.workers.lab import lab_at
from hardcost.measure.workers.machine import spread_trials
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.store.record import Record
from tests.fakes.machine import make

COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")
_RULES = 40  # that a trial loads, so that its job is of a usual size
_LIMIT_SECONDS = 60.0
_START_SECONDS = 120.0


@dataclass(frozen=True)
class Spent:
    """Seconds of the clock and of processors, and the network's bytes, for all trials."""

    clock: float
    submitter: float
    scheduler: float
    workers: float
    sent: int


def main() -> None:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--guests", type=int, default=4, help="of each worker")
    words = parser.parse_args()
    machine = asyncio.run(make(MachineOptions(), Silent()))
    trials = made(machine, words.trials)
    spent_alone = time.process_time()
    alone = timed(trials, machine, words.guests)
    spent_alone = time.process_time() - spent_alone
    with tempfile.TemporaryDirectory() as folder, lab(words, Path(folder)) as (address, processes):
        scheduler = processes[0]
        before = scheduler.memory_info().rss
        with spread_trials(machine, lab_at(address), "insn", Silent(), asyncio.run) as where:
            timed(trials[:50], where, 1)  # first uses
            began = [*map(cpu, processes)]
            wire = loopback()
            spent_here = time.process_time()
            clock = timed(trials, where, 1)
            sent = loopback() - wire
            spent_here = time.process_time() - spent_here
            ended = [*map(cpu, processes)]
        memory = scheduler.memory_info().rss
    spent = [one - other for one, other in zip(ended, began, strict=True)]
    each = len(trials) / 1000
    order = worker.pack_value((machine.order(trials[0].boot), trials[0].job, _LIMIT_SECONDS))
    answers = asyncio.run(machine.execute(trials[0].boot, trials[0].job, _LIMIT_SECONDS))
    rows = (
        ("trials", f"{len(trials)}"),
        ("workers, guests at a time in all", f"{words.workers}, {words.workers * words.guests}"),
        ("a trial without workers", f"{alone / each:.2f} ms"),
        ("a trial with workers", f"{clock / each:.2f} ms"),
        ("overhead of a trial", f"{(clock - alone) / each:.2f} ms"),
        ("processor time of a trial without workers", f"{spent_alone / each:.2f} ms"),
        ("processor time of the submitter, each trial", f"{spent_here / each:.2f} ms"),
        ("processor time of the scheduler, each trial", f"{spent[0] / each:.2f} ms"),
        ("processor time of the workers, each trial", f"{sum(spent[1:]) / each:.2f} ms"),
        ("a trial's order, packed", f"{len(order) / 1e3:.1f} kB"),
        ("a trial's answers, packed", f"{len(worker.pack_value(answers)) / 1e3:.1f} kB"),
        ("sent over the network, each trial", f"{sent / len(trials) / 1e3:.1f} kB"),
        ("the scheduler's memory before, after", f"{before / 1e6:.0f} MB, {memory / 1e6:.0f} MB"),
        ("load of this host, in processes", f"{os.getloadavg()[0]:.1f}"),
    )
    for what, figure in rows:
        print(f"{what:48}{figure}")


def made(machine: Machine, amount: int) -> tuple[Prepared, ...]:
    """Return trials that differ in their repetition, with audit rules and every call."""
    rules = [
        AuditRule(Rule(f"-a always,exit -F arch=b64 -S swapon -F uid={70_000 + n} -k bench"))
        for n in range(_RULES)
    ]
    configuration = Configuration(Named("rules"), (AuditDaemon(), *rules))
    return tuple(
        prepare(Trial(configuration, Workload("syscalls"), "insn", 0, number), machine)
        for number in range(amount)
    )


def timed(trials: Sequence[Prepared], machine: Machine, jobs: int) -> float:
    """Return the seconds that trials take; every one must leave a record."""

    async def measure() -> float:
        started = time.monotonic()
        found = parallel.execute_all(trials, machine, jobs=jobs, limit_seconds=_LIMIT_SECONDS)
        async with contextlib.aclosing(found):
            records = [came async for _, came in found if isinstance(came, Record)]
        if len(records) != len(trials):
            raise SystemExit(f"{len(records)} records of {len(trials)} trials")
        return time.monotonic() - started

    return asyncio.run(measure())


@contextlib.contextmanager
def lab(words: argparse.Namespace, folder: Path) -> Iterator[tuple[str, list[psutil.Process]]]:
    """Give a scheduler's address, and the processes of it and its workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    port = address.rpartition(":")[2]
    dask = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", port]
    commands = [[*dask, "--no-dashboard"]] + [
        [*COMMAND, "worker", address, "--guests", str(words.guests), "--name", f"w{number}"]
        for number in range(words.workers)
    ]
    own = {**os.environ, "HARDCOST_CACHE": str(folder / "cache")}
    started = []
    try:
        for number, command in enumerate(commands):
            with (folder / f"{number}.log").open("w") as log:
                started.append(
                    subprocess.Popen(command, env=own, stdout=log, stderr=log)  # noqa: S603  (ours)
                )
        logs = [folder / f"{number}.log" for number in range(1, len(commands))]
        deadline = time.monotonic() + _START_SECONDS
        while not all("guests at a time" in log.read_text() for log in logs):
            if time.monotonic() > deadline:
                raise SystemExit("\n".join(log.read_text() for log in logs))
            time.sleep(0.2)
        yield address, [psutil.Process(one.pid) for one in started]
    finally:
        for one in reversed(started):
            one.terminate()
            one.wait()


def cpu(process: psutil.Process) -> float:
    """Return the seconds of processor time that a process has used."""
    times = process.cpu_times()
    return float(times.user + times.system)


def loopback() -> int:
    """Return the bytes that went over the loopback network so far, of all programs of this host."""
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


if __name__ == "__main__":
    main()
