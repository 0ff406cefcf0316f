"""A machine with planted culprits, whose answers are computed: for tests and benchmark."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hardcost.plan.search.group_testing import search
from hardcost.plan.search.lattice import Lattice
from hardcost.plan.search.questions import Question, SearchResult, SearchSettings, SearchTask

BASELINE = 1e6
CONTROLS = 64


@dataclass(frozen=True)
class Term:
    """A cost, as a part of the baseline, that arises where all `needs` are on."""

    needs: frozenset[int]
    cost: float


@dataclass(frozen=True)
class Machine:
    """Costs of groups add up; within a group only the largest counts (the others are masked).

    `noise` is the relative standard deviation of a sample.
    """

    groups: tuple[tuple[Term, ...], ...]
    noise: float = 0.0

    @property
    def planted(self) -> frozenset[int]:
        """All that is in any term."""
        return frozenset().union(*(term.needs for group in self.groups for term in group))

    def value(self, on: Iterable[int]) -> float:
        """Return the true value of a configuration."""
        there = frozenset(on)
        costs = (
            max((term.cost for term in group if term.needs <= there), default=0.0)
            for group in self.groups
        )
        return BASELINE * (1 + sum(costs))

    def answer(self, question: Question, generator: np.random.Generator) -> tuple[float, ...]:
        """Return samples."""
        deviations = generator.standard_normal(question.repetitions) * self.noise
        return tuple(float(one) for one in self.value(question.on) * (1 + deviations))

    def guilty(self, lattice: Lattice, least: float) -> frozenset[int]:
        """Return all that make a difference larger than `least` in any configuration there is."""
        return frozenset(
            index for index in self.planted if self._largest(lattice, index) > least * BASELINE
        )

    def _largest(self, lattice: Lattice, index: int) -> float:
        """Return the largest difference that a control makes; only the planted matter."""
        others = sorted(self.planted - {index})
        companies = (
            lattice.closure(some) | lattice.requirements(index)
            for count in range(len(others) + 1)
            for some in itertools.combinations(others, count)
        )
        return max(
            abs(self.value(company | {index}) - self.value(company))
            for company in companies
            if index not in company
        )


@dataclass(frozen=True)
class Run:
    """A search that has ended: what it asked, and what it found."""

    questions: tuple[Question, ...]
    outcome: SearchResult

    @property
    def found(self) -> frozenset[int]:
        """The confirmed culprits."""
        return frozenset(one.index for one in self.outcome.culprits if one.confirmed)


def run(machine: Machine, problem: SearchTask, settings: SearchSettings, seed: int = 0) -> Run:
    """Search a machine to the end."""
    generator = np.random.default_rng(seed)
    asked: list[Question] = []
    searching = search(problem, settings)
    try:
        question = next(searching)
        while True:
            asked.append(question)
            question = searching.send(machine.answer(question, generator))
    except StopIteration as stop:
        return Run(tuple(asked), stop.value)


def problem(count: int = CONTROLS, requires: dict[int, frozenset[int]] | None = None) -> SearchTask:
    """Return a problem whose controls are called c0, c1, ..."""
    return SearchTask(tuple(f"c{index}" for index in range(count)), requires or {})


SHAPES = {
    "no culprit": (),
    "one": (("0",),),
    "two": (("0",), ("1",)),
    "three": (("0",), ("1",), ("2",)),
    "a pair": (("01",),),
    "a pair and one": (("01",), ("2",)),
    "two pairs that share one": (("01",), ("12",)),
    "a pair, one of it by itself": (("01",), ("0",)),
    "three together": (("012",),),
    "two that mask": (("0", "1"),),
    "two that mask, and one": (("0", "1"), ("2",)),
    "three that mask": (("0", "1", "2"),),
    "one masks a pair": (("0", "12"),),
    "one with either of two": (("01", "02"),),
}
"""Groups of terms; a term's digits say which of the planted it needs. Those of a group mask."""


def draw(
    shape: str,
    generator: np.random.Generator,
    *,
    costs: tuple[float, float],
    dependencies: bool = False,
    count: int = CONTROLS,
) -> tuple[Machine, SearchTask]:
    """Return a machine of some shape at random places, its costs drawn between two bounds."""
    places = [int(one) for one in generator.permutation(count)[:3]]
    groups = tuple(
        tuple(
            Term(frozenset(places[int(digit)] for digit in needs), float(generator.uniform(*costs)))
            for needs in group
        )
        for group in SHAPES[shape]
    )
    requires = _dependencies(generator, places, count) if dependencies else {}
    return Machine(groups), problem(count, requires)


def _dependencies(
    generator: np.random.Generator, places: list[int], count: int
) -> dict[int, frozenset[int]]:
    """Return requirements without cycles for a third of the controls, also among `places`."""
    rank = [int(one) for one in generator.permutation(count)]
    by_rank = sorted(range(count), key=lambda index: rank[index])
    requires = {
        index: frozenset(
            by_rank[int(one)]
            for one in generator.integers(rank[index], size=generator.integers(1, 3))
        )
        for index in by_rank[1:]
        if generator.random() < 1 / 3
    }
    for one, other in itertools.pairwise(sorted(places, key=lambda index: rank[index])):
        if generator.random() < 1 / 3:
            requires[other] = requires.get(other, frozenset()) | {one}
    return requires
