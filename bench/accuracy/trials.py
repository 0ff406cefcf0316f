"""How many trials a verified bill takes: by the number of rules, and of those that fire.

Run by hand: `python -m bench.accuracy.trials [--sizes N…] [--fired N…] [--draws N]`. It prints the
table of docs/bills.md, which a test compares with it. Nothing boots: the questions of a weighing
are answered with the costs that were predicted, so that no prediction is wrong. It exits with 1 if
a bill takes more than 15 + 2 log2(rules) + 2 fired, or more than single trials would.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from random import Random

from hardcost.analysis.estimates.estimates import Estimate
from hardcost.analysis.verification.expectations import Savings
from hardcost.analysis.verification.groups import Group
from hardcost.analysis.verification.weighing import (
    GroupQuestion,
    WeighingTask,
    weigh,
)
from hardcost.measure.asking import answer_questions
from hardcost.model.workload import MetricId

SIZES = (10, 30, 100, 300, 1000)
FIRED = (0, 1, 5, 10, 50)

FIRST = 14
"""Baseline, profile, what fires, eight placebos, and what having any rule costs: three."""

_METRIC = MetricId("null")
_EACH = 19.0  # instructions that a rule costs which a call passes


def trials(rules: int, fired: int, seed: int = 0) -> int:
    """Return the trials of a verified bill of so many rules, of which so many fire."""
    measured = FIRST
    firing = frozenset(Random(seed).sample(range(rules), fired))  # noqa: S311  (the same each time)
    everything = frozenset(range(rules))

    def measure(question: GroupQuestion) -> Sequence[Savings]:
        nonlocal measured
        left_out = [group for group in question.left_out if group != everything]
        measured += len(left_out) + len(question.alone)
        return [{_METRIC: _cost(group)} for group in question.left_out]

    task = WeighingTask(
        controls=tuple(range(rules)),
        suspects=firing,
        booting=frozenset(),
        predicted=lambda group: {_METRIC: _cost(group).value},
        least={_METRIC: 0.0},
        seed=str(seed),
    )
    answer_questions(weigh(task), measure)
    return measured


def single_trials(rules: int) -> int:
    """Return the trials of a bill that leaves out each rule, and measures each alone."""
    return FIRST + 2 * rules


def limit(rules: int, fired: int) -> float:
    """Return the most trials that a verified bill may take."""
    return min(15 + 2 * math.log2(rules) + 2 * fired, single_trials(rules))


def table(sizes: Sequence[int], fired: Sequence[int]) -> list[str]:
    """Return the lines of a table in Markdown."""
    heads = ["rules", *(f"{number} fire" for number in fired), "single trials"]
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join('---:' for _ in heads)} |"]
    for rules in sizes:
        cells = [f"{trials(rules, number)}" if number <= rules else "" for number in fired]
        lines.append(f"| {' | '.join([f'{rules:,}', *cells, f'{single_trials(rules):,}'])} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, and return 1 if a bill takes too many trials."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--fired", type=int, nargs="+", default=FIRED)
    parser.add_argument("--draws", type=int, default=5, help="shuffles of each number of rules")
    chosen = parser.parse_args(arguments)
    print("\n".join(table(chosen.sizes, chosen.fired)))
    beyond = [
        (rules, fired, seed, took)
        for rules in chosen.sizes
        for fired in chosen.fired
        for seed in range(chosen.draws)
        if fired <= rules and (took := trials(rules, fired, seed)) > limit(rules, fired)
    ]
    for rules, fired, seed, took in beyond:
        print(f"{rules} rules, {fired} fire, shuffled by {seed}: {took} trials are too many")
    return int(bool(beyond))


def _cost(group: Group) -> Estimate:
    value = _EACH * len(group)
    return Estimate(value, value, value)


if __name__ == "__main__":
    sys.exit(main())
