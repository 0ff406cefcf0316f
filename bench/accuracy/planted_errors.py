"""Planted errors: a cost model that is wrong about some rules misleads no verified bill.

Run by hand: `python -m bench.accuracy.planted_errors [--draws 1000] [--guests 20] [--seed N]`.

Each draw makes a bill by `--method verify` from predictions that were made wrong: of one rule by 1
instruction, of two by +50 and -50, of three by +30, +20 and -50, or of ten at random. On calls that
move, errors are multiplied until the least is three times what chance does. The bill is compared
with one by single trials, control by control. `--draws` are made on the tests' machine, which
computes its answers, with 40 rules; `--guests` in guests, with the profile `audit-samples`.

It exits with 1 if the cost of a rule is wrong after one, two or three errors. Ten may escape, in
the share of bills that the bill itself states, and are counted.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import unittest.mock
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from auditrules.cost.constants import Constants
from bench.accuracy.verified import agreement
from hardcost.analysis.verification.groups import Group, Predictions
from hardcost.controls.control import Profile
from hardcost.library.bill import BillRequest, Method, bill
from hardcost.library.bills import verification
from hardcost.library.measurement import Measuring, workloads_of
from hardcost.mechanisms.audit import AuditRule
from hardcost.model.finding.bill import Bill
from hardcost.model.workload import MetricId
from tests import fakes

KINDS: Mapping[str, tuple[float, ...]] = {
    "one": (1,),
    "two": (50, -50),
    "three": (30, 20, -50),
    "ten": (),
}
"""The errors of each kind, in instructions; ten are drawn."""

_TEN = 10
_LARGEST = 100  # of a drawn error, in instructions
_BEYOND_CHANCE = 3.0
_EACH = 20.0  # instructions of a rule on the tests' machine
_DRAWS_IN_A_STORE = 25  # whose runs are listed for each bill
_FAKE_RULES = tuple(
    f"-a always,exit -F arch=b64 -S swapon -F uid={uid} -k none" for uid in range(70_001, 70_041)
)

Planted = Mapping[str, float]
"""The errors of a draw, in instructions, by the control's name."""


@dataclass
class Model:
    """Predictions with planted errors, in the form of `PredictedSavings`.

    `least` are the smallest errors that show, which make those on calls that move larger.
    """

    predicted: Callable[[Group], Predictions]
    controls: set[int]
    planted: Mapping[int, float]
    least: Mapping[MetricId, float]

    def __call__(self, group: Group) -> Predictions:
        """Return the wrong prediction of what leaving out a group saves."""
        found = dict(self.predicted(group))
        for metric, least in self.least.items():
            errors = math.fsum(by for one, by in self.planted.items() if one in group)
            found[metric] = found.get(metric, 0.0) + errors * self._factor(least)
        return found

    def alone(self, control: int) -> Predictions:
        """Return the wrong prediction of a control by itself; no bill rests on it."""
        return self(frozenset({control}))

    def _factor(self, least: float) -> float:
        smallest = min(map(abs, self.planted.values()))
        return max(1.0, math.ceil(_BEYOND_CHANCE * least / smallest))


@dataclass(frozen=True)
class Bench:
    """Where bills are made, and of which rules; the errors are planted among `plantable`."""

    sources: tuple[str, ...]
    how: Callable[[Path], Measuring]
    plantable: Callable[[Bill], Sequence[str]]
    truth: Bill

    @classmethod
    def of(
        cls,
        sources: tuple[str, ...],
        how: Callable[[Path], Measuring],
        plantable: Callable[[Bill], Sequence[str]],
        store: Path,
    ) -> Bench:
        """Bill the rules by single trials first."""
        return cls(sources, how, plantable, _bill(sources, how(store), "single"))

    def draw(self, planted: Planted, store: Path) -> tuple[tuple[str, ...], Bill]:
        """Make a bill with planted errors; return the costs that are wrong, in words."""
        least = _resolutions(self.truth)
        real = verification.predicted_savings

        def wrong(profile: Profile, constants: Constants | None) -> Model:
            known = real(profile, constants)
            numbers = {it.name: at for at, it in enumerate(profile.controls)}
            by_number = {numbers[name]: by for name, by in planted.items()}
            if known is None:  # of the tests' machine
                rules = {at for at, it in enumerate(profile.controls) if isinstance(it, AuditRule)}
                return Model(lambda group: _fake(group & rules, least), rules, by_number, least)
            return Model(known, known.controls, by_number, least)

        with (
            unittest.mock.patch.object(verification, "predicted_savings", side_effect=wrong),
            unittest.mock.patch.object(verification, "earlier_costs", return_value={}),
        ):
            found = _bill(self.sources, self.how(store), "verify")
        return agreement(found, self.truth).differing, found


def errors(kind: str, among: Sequence[str], random: Random) -> Planted:
    """Return errors of a kind, of controls drawn from some."""
    sizes = [1.0 * by for by in KINDS[kind]]
    if not sizes:
        sizes = [random.choice((-1, 1)) * random.randint(1, _LARGEST) for _ in range(_TEN)]
    return dict(zip(random.sample(list(among), len(sizes)), sizes, strict=True))


def fake_bench(store: Path) -> Bench:
    """Return the bench of the tests' machine; no prediction is right but for what is planted."""
    sys.path.append(str(Path(fakes.__path__[0]) / "installed"))  # its entry point
    calls = workloads_of("syscalls calls=null+chmod+fork")

    def how(path: Path) -> Measuring:
        return Measuring(machine="fake", jobs=1, workloads=calls, store=path)

    rules = store.with_name("ours.rules")
    rules.write_text("\n".join(_FAKE_RULES) + "\n")
    return Bench.of((str(rules),), how, lambda of: of.controls, store)


def guest_bench(store: Path) -> Bench:
    """Return the bench of guests: rules that don't fire are planted."""

    def quiet(of: Bill) -> Sequence[str]:
        fired = {item.control for item in of.items if item.fired}
        return [name for name in of.controls if name not in fired]

    return Bench.of(("audit-samples",), lambda path: Measuring(store=path), quiet, store)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print for each kind how many costs were wrong, and return 1 if one should not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--guests", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    bad = 0
    for name, number, make, several in (
        ("the tests' machine", chosen.draws, fake_bench, True),
        ("guests", chosen.guests, guest_bench, False),
    ):
        if number:
            print(f"{name}: {number} draws")
            bad += _run(number, make, chosen.seed, several=several)
    return int(bad > 0)


def _run(number: int, make: Callable[[Path], Bench], seed: int, *, several: bool) -> int:
    """Make draws, print a line for each kind, and return how many draws of few errors failed."""
    missed, made, unfound = Counter[str](), Counter[str](), Counter[str]()
    escaping = 0.0
    with tempfile.TemporaryDirectory(prefix="hardcost-planted-") as folder:
        bench = make(Path(folder) / "truth.sqlite")
        among = bench.plantable(bench.truth)
        for nth in range(number):
            kind = list(KINDS)[nth % len(KINDS)]
            planted = errors(kind, among, Random(f"{seed} {nth}"))  # noqa: S311  (drawn again alike)
            of_store = nth // _DRAWS_IN_A_STORE if several else 0
            wrong, found = bench.draw(planted, Path(folder) / f"{of_store}.sqlite")
            made[kind] += 1
            missed[kind] += bool(wrong)
            made_how = found.verification
            if made_how is not None:
                escaping = max(escaping, made_how.escaping)
                unfound[kind] += not planted.keys() <= set(made_how.wrong)
            if wrong:
                print(f"  draw {nth}: {kind} errors {dict(planted)}: wrong: {wrong[:3]}")
    for kind in KINDS:
        print(
            f"  {kind:<6} {made[kind]:5} draws, {missed[kind]:3} with a wrong cost,"
            f" {unfound[kind]:3} whose wrong rules were not all named",
            flush=True,
        )
    print(f"  the bills say that four errors escape in one of {1 / (escaping or 1):,.0f}")
    return sum(missed[kind] for kind in KINDS if kind != "ten")


def _resolutions(of: Bill) -> dict[MetricId, float]:
    """Return by metric how large an error has to be for single trials to show it."""
    found = {one.metric: one.cost for one in of.least}
    for item in (*of.items, *of.small):
        found[item.metric] = max(found[item.metric], (item.high - item.low) / 2)
    return found


def _fake(group: Group, metrics: Mapping[MetricId, float]) -> Predictions:
    return dict.fromkeys(metrics, _EACH * len(group))


def _bill(sources: tuple[str, ...], how: Measuring, method: Method) -> Bill:
    found = bill(BillRequest(sources, how=how, method=method))
    if not isinstance(found, Bill):
        raise TypeError(sources)
    return found


if __name__ == "__main__":
    sys.exit(main())
