"""How often intervals of times miss the truth.

Run as `python -m bench.accuracy.time_intervals [--studies 400] [--keep F] [--report]`.

On this machine, as `--machine host` measures it. An A/A study compares a configuration with itself:
a test at 1 % may cry wolf in 1 % of them. A planted study adds a cost to each operation, which
bench/accuracy/planted/calibrate.c times apart from the instrument: an interval of 95 % holds it in
95 %.

Each study is done twice, in turns: in blocks as hardcost does it (A, B, B, A or B, A, A, B), with
hardcost's own estimators; and plainly, all of A before all of B, with the mean of each process and
Student's t (Welch's).

`--keep` appends each study to a file and goes on from there, so that a long bench can be made in
pieces; `--report` prints what the file has and measures nothing. `--seconds` ends a piece.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from scipy import special

from hardcost.analysis.estimates.estimates import (
    Estimate,
    Series,
    SeriesKey,
    mean_of_trials,
    median,
    shift,
)
from hardcost.host.process import run
from hardcost.machines.real import probe_command
from hardcost.machines.real.host import HostReach
from hardcost.machines.real.machine import RealMachine, reach_machine
from hardcost.protocol.answers import CallAnswer, all_of
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import CallPlan, MeasureCalls
from hardcost.supply.programs import program_path

_ROOT = Path(__file__).resolve().parents[2]
_PLACE = _ROOT / "build" / "time-honesty"
_CALL, _BATCH, _SAMPLES = "null", 256, 49
_BLOCKS = 10
_COUNTS = (4, 10, 25, 60)  # multiplications, of 3 cycles each: some 3 to 50 ns
_ROUNDS, _PROCESSES = 60, 8  # of a calibration before a study, and of one after it
_LIMIT_SECONDS = 300.0


@dataclass(frozen=True)
class Study:
    """One study: medians of processes in blocks, and means of processes in plain order, in ns.

    `truth` is what B costs more than A, and `error` its standard error. `a` and `b` have two values
    for each block. `stolen` are the seconds that the hypervisor gave to others, `load` what the
    host's load was.
    """

    truth: float
    a: list[float]
    b: list[float]
    plain_a: list[float]
    plain_b: list[float]
    error: float = 0.0
    stolen: float = 0.0
    load: float = 0.0
    count: int = field(default=0)


def main() -> None:
    """Measure what is missing, and print how often intervals were right."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    words.add_argument("--studies", type=int, default=400)
    words.add_argument("--intervals", type=int, default=200)
    words.add_argument("--keep", type=Path, default=_PLACE / "studies.jsonl")
    words.add_argument("--seconds", type=float, default=math.inf)
    words.add_argument("--report", action="store_true")
    asked = words.parse_args()
    studies = _kept(asked.keep)
    if not asked.report:
        missing = [0] * (asked.studies - sum(not one.count for one in studies))
        planted = sum(bool(one.count) for one in studies)
        missing += [_COUNTS[n % len(_COUNTS)] for n in range(planted, asked.intervals)]
        random.shuffle(missing)  # what the host does must not be one kind's alone
        studies += _measured(missing, asked.keep, asked.seconds)
    _print(studies)


def _kept(file: Path) -> list[Study]:
    if not file.exists():
        return []
    return [Study(**json.loads(line)) for line in file.read_text().splitlines()]


def _measured(counts: Sequence[int], file: Path, seconds: float) -> list[Study]:
    folder = _programs()
    machine = asyncio.run(reach_machine(HostReach(folder), probe_command.programs_hash(folder)))
    until = time.monotonic() + seconds
    file.parent.mkdir(parents=True, exist_ok=True)
    found = []
    with file.open("a") as kept:
        for done, count in enumerate(counts):
            if time.monotonic() > until:
                break
            found.append(asyncio.run(_study(machine, count)))
            kept.write(json.dumps(asdict(found[-1])) + "\n")
            kept.flush()
            if not done % 20:
                print(f"{done} of {len(counts)} studies", file=sys.stderr)
    return found


def _programs() -> Path:
    """Build what is measured with a planted cost, and return the folder with it and the probe."""
    _PLACE.mkdir(parents=True, exist_ok=True)
    for name in probe_command.PROGRAMS:
        shutil.copy(program_path(name), _PLACE / name)
    build = ["cargo", "build", "--release", "--locked", "--package", "hardcost-measured"]
    build += ["--bin", "hardcost-measured", "--features", "alone,planted"]
    said = run([*build, "--message-format", "json"], folder=_ROOT)
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    programs = [one["executable"] for one in lines if one.get("executable")]
    shutil.copy(programs[-1], _PLACE / "hardcost-measured")
    source = _ROOT / "bench" / "planted" / "calibrate.c"
    run(["cc", "-O2", "-o", _PLACE / "calibrate", source])
    return _PLACE


async def _study(machine: RealMachine, count: int) -> Study:
    """Measure A, without multiplications, and B, with so many."""
    blocks = [random.choice(("abba", "baab")) for _ in range(_BLOCKS)]  # noqa: S311  (no secret)
    order = "".join(blocks)
    truths = _truths(machine, count)
    inside, seen = await _processes(machine, order, count)
    plain, _ = await _processes(machine, "a" * 2 * _BLOCKS + "b" * 2 * _BLOCKS, count)
    truths += _truths(machine, count)
    medians = [median(each).value for each in inside]
    means = [statistics.fmean(each) for each in plain]
    return Study(
        truth=statistics.fmean(truths),
        error=statistics.stdev(truths) / math.sqrt(len(truths)),
        a=[one for one, name in zip(medians, order, strict=True) if name == "a"],
        b=[one for one, name in zip(medians, order, strict=True) if name == "b"],
        plain_a=means[: 2 * _BLOCKS],
        plain_b=means[2 * _BLOCKS :],
        stolen=seen.get("steal_seconds", 0.0),
        load=seen.get("load", 0.0),
        count=count,
    )


def _truths(machine: RealMachine, count: int) -> list[float]:
    """Return what so many multiplications take, in ns, in each of some processes.

    They run on the processor that is measured, and are another program's.
    """
    if not count:
        return [0.0] * _PROCESSES
    argv = ["taskset", "-c", str(machine.facts.cpu), str(_PLACE / "calibrate")]
    return [float(run([*argv, str(count), str(_ROUNDS)])) for _ in range(_PROCESSES)]


async def _processes(
    machine: RealMachine, order: str, count: int
) -> tuple[list[list[float]], dict[str, float]]:
    """Return the samples of a process for each letter, in ns an operation, and what went on."""
    rows = tuple(
        CallPlan(
            name=_CALL,
            batch=_BATCH,
            samples=_SAMPLES,
            warmup=8,
            apart=count if name == "b" else 0,  # the planted program's own meaning of it
        )
        for name in order
    )
    done = await machine.execute(
        Boot(), [MeasureCalls(clock="monotonic", calls=rows)], _LIMIT_SECONDS
    )
    answers = all_of(done.answers, CallAnswer)
    return [[one / _BATCH for one in answer.samples] for answer in answers], dict(done.surroundings)


def _series(values: Sequence[float]) -> Series:
    samples: dict[SeriesKey, tuple[float, ...]] = {(0, n): (one,) for n, one in enumerate(values)}
    return Series("ns/op", samples, {k: median(one) for k, one in samples.items()}, timed=True)


def _own(study: Study, confidence: float) -> tuple[float, float]:
    """Return hardcost's interval of what B costs more than A."""
    of, against = _series(study.b), _series(study.a)
    found: Estimate = shift(of, against)
    if confidence != 0.95:  # noqa: PLR2004  (what `shift` has)
        differences = {k: of.medians[k].value - against.medians[k].value for k in of.medians}
        found = mean_of_trials(differences, confidence)
    return found.low, found.high


def _plain(study: Study, confidence: float) -> tuple[float, float]:
    """Return Welch's interval of the difference of two means."""
    a, b = study.plain_a, study.plain_b
    parts = [statistics.variance(one) / len(one) for one in (a, b)]
    whole = sum(parts)
    freedom = whole**2 / sum(p**2 / (len(one) - 1) for p, one in zip(parts, (a, b), strict=True))
    half = float(special.stdtrit(freedom, (1 + confidence) / 2)) * math.sqrt(whole)
    middle = statistics.fmean(b) - statistics.fmean(a)
    return middle - half, middle + half


def _print(studies: Sequence[Study]) -> None:
    equal = [one for one in studies if not one.count]
    planted = [one for one in studies if one.count]
    loads = sorted(one.load for one in studies)
    if loads:
        print(f"load of the host: median {statistics.median(loads):.1f}, most {loads[-1]:.1f}")
    for title, interval in (("hardcost", _own), ("plain mean +/- t", _plain)):
        if equal:
            wolf = sum(not low <= 0 <= high for low, high in (interval(one, 0.99) for one in equal))
            print(
                f"{title}: {wolf} of {len(equal)} A/A studies differ at the 1 % level"
                f" ({100 * wolf / len(equal):.2f} %; {_binomial(wolf, len(equal))})"
            )
        for count in (None, *_COUNTS):
            some = [one for one in planted if count in {None, one.count}]
            if some:
                _print_coverage(title, interval, some, count)


def _print_coverage(
    title: str,
    interval: object,
    some: Sequence[Study],
    count: int | None,
) -> None:
    assert callable(interval)  # noqa: S101  (a function of this file)
    found = [(one.truth, *interval(one, 0.95)) for one in some]
    held = sum(low <= truth <= high for truth, low, high in found)
    width = statistics.median((high - low) / 2 for _, low, high in found)
    bias = statistics.median((low + high) / 2 - truth for truth, low, high in found)
    what = "all costs" if count is None else f"{statistics.median(t for t, *_ in found):.1f} ns"
    print(
        f"{title}: {held} of {len(some)} intervals of 95 % hold {what}"
        f" ({100 * held / len(some):.1f} %; {_binomial(held, len(some))}); +/-{width:.2f} ns,"
        f" off by {bias:+.2f} ns"
    )


def _binomial(some: int, of: int) -> str:
    """Return the 95 % interval of a share (C. J. Clopper and E. S. Pearson, 1934)."""
    low = special.betaincinv(some, of - some + 1, 0.025) if some else 0.0
    high = special.betaincinv(some + 1, of - some, 0.975) if some < of else 1.0
    return f"{100 * low:.1f} to {100 * high:.1f} %"


if __name__ == "__main__":
    main()
