"""The cost and results of the search for culprits on simulated machines: `--draws N` of each kind.

Run by hand: `python -m bench.accuracy.planted_culprits`. Only the search itself is measured; the
machines are those of its tests (tests/plan/search/simulated_costs.py), with 64 controls.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
from dataclasses import dataclass

import numpy as np

from hardcost.plan.search.group_testing import configurations_bound
from hardcost.plan.search.lattice import Lattice
from hardcost.plan.search.questions import SearchSettings
from tests.plan.search.simulated_costs import CONTROLS, SHAPES, draw, run

_KINDS = ((0.0, (0.03, 0.1)), (0.01, (0.03, 0.1)), (0.05, (0.08, 0.2)))
"""Noise (relative standard deviation), and the range of planted costs (parts of the baseline)."""

_HEAD = ("scenario", "noise", "draws", "found all", "false", "conf. mean", "max", "bound", "rep.")
_FORM = "{:48}{:>6}{:>7}{:>11}{:>7}{:>12}{:>5}{:>7}{:>7}"


@dataclass(frozen=True)
class Draw:
    """The outcome of one search; `repetitions` are all samples, by distinct configurations."""

    found_all: bool
    false_alarm: bool
    configurations: int
    bound: int
    repetitions: float


def main() -> None:
    """Print a line for each shape, with and without dependencies, and each noise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="searches of each kind")
    draws: int = parser.parse_args().draws
    print(_FORM.format(*_HEAD))
    for deviation, costs in _KINDS:
        for dependencies in (False, True):
            for shape in SHAPES:
                line = [
                    one(shape, seed, deviation, costs, dependencies=dependencies)
                    for seed in range(draws)
                ]
                name = f"{shape}, with dependencies" if dependencies else shape
                print(_FORM.format(name, f"{deviation:.0%}", draws, *summary(line)), flush=True)


def one(
    shape: str, seed: int, deviation: float, costs: tuple[float, float], *, dependencies: bool
) -> Draw:
    """Search one machine."""
    generator = np.random.default_rng([seed, dependencies])
    machine, asked = draw(shape, generator, costs=costs, dependencies=dependencies)
    machine = dataclasses.replace(machine, noise=deviation)
    found = run(machine, asked, SearchSettings(noise=deviation), seed)
    lattice, outcome = Lattice(asked), found.outcome
    guilty = machine.guilty(lattice, outcome.resolution)
    return Draw(
        found_all=found.found >= guilty,
        false_alarm=bool(found.found - machine.guilty(lattice, 0.0)),
        configurations=outcome.configurations,
        bound=configurations_bound(CONTROLS, len(guilty)),
        repetitions=sum(question.repetitions for question in found.questions)
        / outcome.configurations,
    )


def summary(line: list[Draw]) -> tuple[str, ...]:
    """Return the figures of one line."""
    return (
        f"{statistics.fmean(draw.found_all for draw in line):.1%}",
        f"{statistics.fmean(draw.false_alarm for draw in line):.1%}",
        f"{statistics.fmean(draw.configurations for draw in line):.1f}",
        f"{max(draw.configurations for draw in line)}",
        f"{max(draw.bound for draw in line)}",
        f"{statistics.fmean(draw.repetitions for draw in line):.0f}",
    )


if __name__ == "__main__":
    main()
