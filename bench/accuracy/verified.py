"""Bills that are verified in groups say what single trials say: 20 rule sets, all calls.

Run by hand: `python -m bench.accuracy.verified [--jobs N] [--folder DIR] [SET…]`.
Each set is billed twice in guests, by `--method verify` and by `--method single`, into stores of
their own (in DIR, where a run that was interrupted goes on). The table has the trials and seconds
of both. Compared are all totals, and the cost of each control on each call: those of calls that
stand still have to be equal to the instruction, those of calls that move within what both leave
open. It exits with 1 if one differs by more.

A SET is a name of `SETS`, or whatever `hardcost bill` takes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.rules import published_kind
from bench.rules.sample_rules import sample_rules
from hardcost.library.bill import BillRequest, Method, bill
from hardcost.library.measurement import Measuring
from hardcost.model.finding.bill import Bill, Item
from hardcost.store.store import Store
from hardcost.supply.cache.cache import Cache

_SAMPLES: Mapping[str, tuple[str, ...]] = {
    "create-success": ("30-ospp-v42-1-create-success",),
    "modify-success": ("30-ospp-v42-2-modify-success",),
    "injection": ("42-injection",),
    "installers": ("44-installers",),
    "create-failed": ("30-ospp-v42-1-create-failed",),
    "modify-failed": ("30-ospp-v42-2-modify-failed",),
    "both-failed": ("30-ospp-v42-1-create-failed", "30-ospp-v42-2-modify-failed"),
    "pci-dss": ("30-pci-dss-v31",),
    "pci-dss-injection": ("30-pci-dss-v31", "42-injection"),
    "ospp": ("30-ospp-v42",),
    "stig": ("30-stig",),
    "nispom": ("30-nispom",),
    "nispom-installers": ("30-nispom", "44-installers"),
}
"""Sets of the audit package's sample files."""

_PROFILES = ("cis-audit", "rhel9-cis", "stig-reduced", "rhel9-stig-audit", "rhel9-ospp")
_LARGEST = 300
_LARGE = f"published-kind-{_LARGEST}"

SETS = (*_SAMPLES, *_PROFILES, "rhel9-stig", _LARGE)


@dataclass(frozen=True)
class Billed:
    """A bill, with the number of its trials and the seconds that it took."""

    bill: Bill
    trials: int
    seconds: float


@dataclass
class Agreement:
    """How many numbers of two bills agree, of how many; those that don't, in words."""

    totals: int = 0
    still: int = 0
    moving: int = 0
    differing: tuple[str, ...] = ()


def main(arguments: Sequence[str] | None = None) -> int:
    """Bill the sets, print the table, and return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS), metavar="SET")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args(arguments)
    differing = 0
    print("set                   controls  fired  verify: trials  seconds  single: trials  seconds")
    with _folder(chosen.folder) as folder:
        for name in chosen.sets:
            source = _source(name, folder)
            ours = _bill(source, "verify", folder / f"{name}-verify.sqlite", chosen.jobs)
            theirs = _bill(source, "single", folder / f"{name}-single.sqlite", chosen.jobs)
            found = agreement(ours.bill, theirs.bill)
            differing += len(found.differing)
            fired = {one.control for one in theirs.bill.items if one.fired}
            print(
                f"{name:<20}  {len(ours.bill.controls):8}  {len(fired):5}  {ours.trials:14} "
                f" {ours.seconds:7.0f}  {theirs.trials:14}  {theirs.seconds:7.0f}\n"
                f"    agree: {found.totals} totals, {found.still} still and {found.moving} moving"
                f" items; {len(found.differing)} differ",
                flush=True,
            )
            for one in found.differing:
                print(f"    {one}")
    return int(differing > 0)


def agreement(ours: Bill, theirs: Bill) -> Agreement:
    """Compare a verified bill with one by single trials."""
    found, differing = Agreement(), []
    least = {one.metric: one.cost for one in (*theirs.least, *ours.least)}
    for a, b in zip(ours.totals, theirs.totals, strict=True):
        if abs(a.cost - b.cost) <= least[a.metric]:
            found.totals += 1
        else:
            differing.append(f"total of {a.metric}: {a.cost:+.1f}, single {b.cost:+.1f}")
    mine, its = _items(ours), _items(theirs)
    for control in ours.controls:
        for total in ours.totals:
            key = (control, total.metric)
            a_cost, a_half = _cost(mine.get(key))
            b_cost, b_half = _cost(its.get(key))
            allowed = a_half + b_half + least[total.metric]
            if abs(a_cost - b_cost) > allowed:
                differing.append(
                    f"{control} on {total.metric}: {a_cost:+.1f}, single {b_cost:+.1f}"
                )
            elif allowed:
                found.moving += 1
            else:
                found.still += 1
    found.differing = tuple(differing)
    return found


def _items(of: Bill) -> dict[tuple[str, object], Item]:
    return {(one.control, one.metric): one for one in (*of.items, *of.small)}


def _cost(item: Item | None) -> tuple[float, float]:
    """Return a cost, and half of its interval."""
    return (0.0, 0.0) if item is None else (item.cost, (item.high - item.low) / 2)


def _bill(source: str, method: Method, store: Path, jobs: int) -> Billed:
    before, begun = _records(store), time.monotonic()
    found = bill(BillRequest((source,), how=Measuring(store=store, jobs=jobs), method=method))
    if not isinstance(found, Bill):
        raise TypeError(source)
    seconds = time.monotonic() - begun if not before else float("nan")
    return Billed(found, _records(store), seconds)


def _records(path: Path) -> int:
    if not path.exists():
        return 0
    with Store(path, read_only=True) as store:
        return sum(1 for _ in store.records())


def _source(name: str, folder: Path) -> str:
    """Return what `hardcost bill` takes for a set; made ones are written into the folder."""
    path = folder / f"{name}.rules"
    if name in _SAMPLES:
        samples = sample_rules(Cache())
        path.write_text("".join((samples / f"{one}.rules").read_text() for one in _SAMPLES[name]))
        return str(path)
    if name == _LARGE:
        path.write_text(published_kind.text(_LARGEST))
        return str(path)
    return name


@contextmanager
def _folder(wanted: Path | None) -> Iterator[Path]:
    if wanted is not None:
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted
        return
    with tempfile.TemporaryDirectory(prefix="hardcost-verified-") as made:
        yield Path(made)


if __name__ == "__main__":
    sys.exit(main())
