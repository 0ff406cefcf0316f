"""Do the prices that come with hardcost come out again, and are they what bills say?

    python -m bench.accuracy.prices again --share 0.1 --seed 1
    python -m bench.accuracy.prices bills --number 10 --seed 1
    python -m bench.accuracy.prices speed --number 50 --seed 1

`again` draws a share of the controls of each list of Debian 12's kernel and measures them again, in
guests of Debian 12 on any host. It says what is equal to the digit, and exits with 1 if the
intervals of two prices have nothing in common, or one list alone has one. Not counted are a
setting that is random by design, and, where another root was made, what runs in a Debian guest;
where kernel, QEMU or programs are others than the list's, it says so. `bills` draws controls that
cost something, bills each, and exits with 1 if, on a call of `syscalls`, a price is not what the
bill says, and their intervals have nothing in common. `speed` asks for drawn names and prints what
`hardcost price` takes, in processor time.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess  # noqa: TID251  (a bench starts hardcost as a shell does)
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hardcost.library.price import PriceRequest, names, price
from hardcost.model.finding.price import is_call
from hardcost.model.workload import workload_of
from hardcost.prices.price_list import PriceList, read, shipped_lists
from hardcost.profiles import benchmark_ids

_COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")
_VERSION = "6.1"
_RELEASE = ("--guest", "debian:12")
_CALLS = "syscalls"
_RANDOM = {"randomize_kstack_offset=1"}  # it moves the stack by a random number at each call


def main() -> int:
    """Carry out one of the checks, and return the exit status."""
    parser = argparse.ArgumentParser(description="The price lists, checked.")
    parser.add_argument("check", choices=["again", "bills", "speed"])
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--number", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    drawn = random.Random(chosen.seed)  # noqa: S311  (a draw that repeats)
    if chosen.check == "again":
        faults = sum(measured_again(one, chosen.share, drawn) for one in _lists())
    elif chosen.check == "bills":
        faults = sum(billed(one, chosen.number, drawn) for one in _lists()[:1])
    else:
        faults = 0
        time_answers(chosen.number, drawn)
    return int(faults > 0)


def _lists() -> list[PriceList]:
    """Return the lists of Debian 12's kernel; kernels that are built depend on the compiler."""
    return [one for one in shipped_lists() if one.kernel.startswith(f"{_VERSION}.0-")]


def measured_again(before: PriceList, share: float, drawn: random.Random) -> int:
    """Measure a share of a list's controls; return how many have another price."""
    every = [one.control for one in before.prices if one.why is None]
    chosen = sorted(drawn.sample(every, max(1, round(share * len(every)))))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "again.jsonl"
        words = ("-o", str(file), "--store", f"{folder}/store", *_RELEASE)
        workloads = (word for one in before.head.base for word in ("--workload", one))
        _run("pricelist", "build", *chosen, *words, *workloads)
        now = read(file.read_bytes(), file.name)
    there, whole = before.head, now.head.environment.get("image")
    for name, value in now.head.environment.items():
        if there.environment.get(name) != value:
            print(f"  {name}: {value}; the list's: {there.environment.get(name)}")
    if there.programs != now.head.programs:
        print("  the programs in the guest are others than the list's")
    print(f"  without any: {_compared(_bases(now), _bases(before))}")
    root = whole == there.environment.get("image")
    faults = 0
    for name in chosen:
        ours, theirs = (
            {
                key: span
                for key, span in _spans(of, name).items()
                if root or _in_small_guest(of, key)
            }
            for of in (now, before)
        )
        found = _compared(ours, theirs)
        faults += bool(found.apart) and name not in _RANDOM
        print(f"  {name}: {found}{' (random by design)' if name in _RANDOM else ''}")
    if not root:
        print("  not compared: what runs in a Debian guest, whose root was made here, not there")
    print(
        f"{before.name}: {len(chosen)} of {len(every)} controls again, {faults} with another price"
    )
    return faults


def _in_small_guest(of: PriceList, key: tuple[str, str]) -> bool:
    """Say whether a metric is measured in the small guest, which is the same bytes on all hosts."""
    return is_call(workload_of(key[0])) and not any(
        one.control.startswith("lsm") for one in of.prices
    )


Span = tuple[float, float, float]
Spans = dict[tuple[str, str], Span]


def _bases(prices: PriceList) -> Spans:
    """Return what calls, boot and memory take without any control."""
    return {
        (workload, metric): (base, base - least.get(metric, 0.0), base + least.get(metric, 0.0))
        for workload, metrics in prices.head.base.items()
        if (least := prices.head.least.get(workload))
        for metric, base in metrics.items()
    }


def _spans(prices: PriceList, name: str) -> Spans:
    """Return a control's cost on each metric; what is not distinguishable from 0 has its bound."""
    found = prices.price_of(name)
    if found is None or found.why is not None:
        return {}
    spans = {}
    for workload, metrics in prices.head.base.items():
        if workload in found.missing:
            continue
        costs, least = found.costs.get(workload, {}), prices.head.least.get(workload, {})
        for metric in metrics:
            bound = least.get(metric, 0.0)
            spans[workload, metric] = costs.get(metric, (0.0, -bound, bound))
    return spans


@dataclass(frozen=True)
class Comparison:
    """How many numbers of two lists are equal, or have intervals in common; and the others."""

    equal: int
    within: int
    apart: tuple[str, ...]

    def __str__(self) -> str:
        others = f", ANOTHER: {'; '.join(self.apart)}" if self.apart else ""
        return f"{self.equal} the same, {self.within} within both intervals{others}"


def _compared(ours: Spans, theirs: Spans) -> Comparison:
    both = ours.keys() & theirs.keys()
    apart = [key for key in both if ours[key][1] > theirs[key][2] or theirs[key][1] > ours[key][2]]
    said = [f"{' '.join(key)} {ours[key][0]:,.0f}, {theirs[key][0]:,.0f}" for key in sorted(apart)]
    said += [f"{' '.join(key)} in one alone" for key in sorted(ours.keys() ^ theirs.keys())]
    equal = sum(ours[key][0] == theirs[key][0] for key in both)
    return Comparison(equal, len(both) - equal - len(apart), tuple(said))


def billed(prices: PriceList, number: int, drawn: random.Random) -> int:
    """Bill controls that cost something; return how many prices are not what their bills say."""
    costly = [one for one in prices.prices if _CALLS in one.costs and one.without is None]
    faults = 0
    for one in drawn.sample(costly, min(number, len(costly))):
        words = ["--boot", one.control] if "." not in one.control.partition("=")[0] else []
        named = [] if words else [one.control]
        bill = json.loads(
            _run(
                "bill",
                *named,
                *words,
                "--method",
                "single",
                "--workload",
                _CALLS,
                "--format",
                "json",
            )
        )
        items = {item["metric"]: item for item in bill["items"]}
        known = {metric: span for metric, span in one.costs[_CALLS].items() if metric in items}
        off = [
            f"{metric} {cost:g} ({low:g} to {high:g}), billed {item['alone']:g}"
            f" ({item['low']:g} to {item['high']:g})"
            for metric, (cost, low, high) in known.items()
            if (item := items[metric])["alone"] != cost
            and (item["low"] > high or item["high"] < low)
        ]
        faults += bool(off)
        below = len(one.costs[_CALLS]) - len(known)  # not distinguishable in the bill
        print(f"{one.control}: {len(known) - len(off)} agree, {below} below; {'; '.join(off)}")
    return faults


def time_answers(number: int, drawn: random.Random) -> None:
    """Print what answers to drawn names take."""
    every = [*names(), *(one for it in benchmark_ids.PRODUCTS for one in _named(it))]
    took = []
    for name in drawn.sample(every, number):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _run("price", name)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"{number} answers: median {statistics.median(took):.2f} s, longest {max(took):.2f} s")


def _named(product: str) -> Iterator[str]:
    """Yield the names of a product's controls that `price` takes as they stand."""
    for name in benchmark_ids.controls(product):
        asked = f"{product}:{name}" if name[0].isdigit() else name
        if price(PriceRequest((asked,))).controls:
            yield asked


def _run(*words: str) -> str:
    done = subprocess.run([*_COMMAND, *words], check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode not in {0, 3}:
        raise SystemExit(f"hardcost {_said(words)}: {done.stderr}")
    return done.stdout


def _said(words: Sequence[str]) -> str:
    return " ".join(words)


if __name__ == "__main__":
    sys.exit(main())
