"""`stig-filecopy` on two processors: what the model of a trace says, and what a guest takes.

Run as `python -m bench.accuracy.copies_on_two_processors [--copies 2] [--files 20] [--rounds 5]` on
a quiet machine with two processors. Each configuration is traced once, on one processor, and
replayed on one and two (docs/trace.md). Then it runs under `time`, in a guest with one processor
and in one with two, whose instructions QEMU executes on two processors of this machine (MTTCG),
rounds interleaved.

The model is in instructions, and a guest's instruction does not always take the same time. So it
predicts the time on two processors from that on one: times what two take by the model, divided by
what one takes. The error is by how much that is above what was measured; medians of the rounds,
with the least and the most.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from bench.accuracy.copies_modelled import lengths, trials
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.measure.execute import execute
from hardcost.measure.prepare import prepare
from hardcost.plan.plan import Trial
from hardcost.supply.cache.cache import Cache

_ONE, _TWO = 1, 2
_LIMIT_SECONDS = 3600.0
_PER_MS = 1e6
_METRIC = "wall"
_HEAD = (
    "| configuration | model, 1 | model, 2 | time, 1 | time, 2 | model predicts | error"
    " | penalty, model | penalty, time |"
)


def main() -> None:
    """Print a row for each configuration, and how busy this machine was."""
    words = argparse.ArgumentParser(description="stig-filecopy on two processors, measured.")
    words.add_argument("--copies", default="2")
    words.add_argument("--files", default="20")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--configurations", default="none,audit,stig-full")
    chosen = words.parse_args()
    wanted = chosen.configurations.split(",")
    modelled = {
        trial.configuration.name: [done for _, done, _, _ in lengths(trial, (_ONE, _TWO))]
        for trial in trials(chosen.copies, chosen.files, wanted)
    }
    timed = [*trials(chosen.copies, chosen.files, wanted, "time")]
    loads = [_load()]
    taken: dict[tuple[str, int], list[float]] = {}
    for _ in range(chosen.rounds):
        for trial in timed:
            for number in (_ONE, _TWO):
                took = taken.setdefault((trial.configuration.name, number), [])
                took.append(_nanoseconds(trial, number))
        loads.append(_load())
    print(_HEAD)
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    base: Sequence[float] = ()
    for trial in timed:
        name = trial.configuration.name
        base = base or (modelled[name][1], median(taken[name, _TWO]))
        print(f"| {' | '.join(_cells(name, modelled[name], taken, base))} |")
    print(f"\nThe host's load before the first round and after each: {', '.join(loads)}.")


def _cells(
    name: str,
    modelled: Sequence[int],
    taken: dict[tuple[str, int], list[float]],
    base: Sequence[float],
) -> Iterator[str]:
    """Yield a row's cells."""
    one, two = modelled
    on_one, on_two = taken[name, _ONE], taken[name, _TWO]
    predicted = median(on_one) * two / one
    yield f"`{name}`"
    yield from (f"{one:,}", f"{two:,}")
    yield from (_time(on_one), _time(on_two))
    yield f"{predicted / _PER_MS:,.0f} ms"
    yield f"{predicted / median(on_two) - 1:+.0%}"
    yield from (f"x{two / base[0]:.2f}", f"x{median(on_two) / base[1]:.2f}")


def _time(taken: Sequence[float]) -> str:
    low, middle, high = (one / _PER_MS for one in (min(taken), median(taken), max(taken)))
    return f"{middle:,.0f} ms ({low:,.0f} to {high:,.0f})"


def _nanoseconds(trial: Trial, processors: int) -> float:
    """Return how long copying and removing take in a guest with so many processors."""
    machine = VirtualMachine(Cache(), Hardware("tcg", processors=processors))
    record = asyncio.run(execute(prepare(trial, machine), machine, _LIMIT_SECONDS))
    (wall,) = (one for one in record.measured if one.metric == _METRIC)
    return sum(wall.samples)


def _load() -> str:
    """Return how many processes of this machine wanted to run in the last minute, on average."""
    return Path("/proc/loadavg").read_text(encoding="ascii").partition(" ")[0]


if __name__ == "__main__":
    main()
