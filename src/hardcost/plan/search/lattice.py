"""Which sets of controls can be on: the order, the requirements, and mistakes in both."""

from __future__ import annotations

import graphlib
import heapq
from collections.abc import Iterable, Iterator

from hardcost.errors import InputError, Problem
from hardcost.plan.search.questions import SearchTask


class Lattice:
    """The closed sets of a problem: a closed set holds, with each control, all that it requires.

    `order` has requirements first and otherwise keeps the given order as far as it can, so that
    the first k controls are a closed set for every k. `marks` are the problem's marks that still
    end the same first controls in this order.

    Raises:
        InputError: The problem makes no sense (see `_mistakes`), or controls require each other.
    """

    def __init__(self, problem: SearchTask) -> None:
        mistakes = tuple(_mistakes(problem))
        if mistakes:
            raise InputError.of(mistakes)
        self.names = problem.names
        self.order = _topological_order(problem)
        self.everything = frozenset(self.order)
        self.marks = frozenset(
            mark for mark in problem.marks if set(self.order[:mark]) == set(range(mark))
        )
        self._position = {index: position for position, index in enumerate(self.order)}
        self._requirements: dict[int, frozenset[int]] = {}
        dependents: dict[int, set[int]] = {index: set() for index in self.order}
        for index in self.order:
            direct = problem.requires.get(index, frozenset())
            self._requirements[index] = direct.union(*(self._requirements[one] for one in direct))
            for one in self._requirements[index]:
                dependents[one].add(index)
        self._dependents = {one: frozenset(others) for one, others in dependents.items()}

    def requirements(self, index: int) -> frozenset[int]:
        """Return all other controls that must be on for control `index`."""
        return self._requirements[index]

    def dependents(self, index: int) -> frozenset[int]:
        """Return all other controls that cannot be on without control `index`."""
        return self._dependents[index]

    def closure(self, indices: Iterable[int]) -> frozenset[int]:
        """Return the smallest closed set with all `indices`."""
        wanted = frozenset(indices)
        return wanted.union(*(self._requirements[index] for index in wanted))

    def without(self, indices: Iterable[int], among: frozenset[int]) -> frozenset[int]:
        """Return the largest closed set within the closed set `among` that has no `indices`."""
        unwanted = frozenset(indices)
        return among.difference(unwanted, *(self._dependents[index] for index in unwanted))

    def in_order(self, indices: Iterable[int]) -> tuple[int, ...]:
        """Return `indices` in the order in which they are switched on."""
        return tuple(sorted(indices, key=self._position.__getitem__))

    def position(self, index: int) -> int:
        """Return the place of a control in the order, from 0."""
        return self._position[index]


def _topological_order(problem: SearchTask) -> tuple[int, ...]:
    """Return the indices with requirements first; among candidates, the lowest index."""
    sorter = graphlib.TopologicalSorter(
        {index: problem.requires.get(index, ()) for index in range(len(problem.names))}
    )
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        raise _cycle(problem, error.args[1]) from None
    order: list[int] = []
    ready: list[int] = []
    while sorter.is_active():
        for index in sorter.get_ready():
            heapq.heappush(ready, index)
        order.append(heapq.heappop(ready))
        sorter.done(order[-1])
    return tuple(order)


def _cycle(problem: SearchTask, indices: list[int]) -> InputError:
    """Return the error for controls that require each other: their costs are inseparable."""
    names = " and ".join(repr(problem.names[index]) for index in dict.fromkeys(indices))
    return InputError(
        f"{names} cannot be on without each other",
        hint="give them as one control, since neither can be measured without the other",
    )


def _mistakes(problem: SearchTask) -> Iterator[Problem]:
    """Yield what is wrong; indices first, since the rest depends on them."""
    count = len(problem.names)
    pairs = [(one, other) for one, others in problem.requires.items() for other in others]
    strangers = sorted({i for pair in (*pairs, *problem.excludes) for i in pair} - {*range(count)})
    if strangers:
        yield Problem(
            f"there are {count} controls, and none has the index {strangers[0]}",
            hint="the profile lacks a control that another requires or excludes: add it",
        )
        return
    yield from _names_and_marks(problem)
    for one, other in sorted(problem.excludes):
        yield Problem(
            f"{problem.names[one]!r} and {problem.names[other]!r} cannot both be on",
            hint="leave one of them out of the profile",
        )


def _names_and_marks(problem: SearchTask) -> Iterator[Problem]:
    """Yield names that occur twice, and marks that are not a number of controls."""
    seen: set[str] = set()
    for name in problem.names:
        if name in seen:
            yield Problem(f"two controls are called {name!r}", hint="list each control once")
        seen.add(name)
    for mark in problem.marks:
        if not 0 <= mark <= len(problem.names):
            yield Problem(f"a group ends after {mark} of {len(problem.names)} controls")
