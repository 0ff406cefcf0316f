"""The choice that is worth most under a model of costs: a mixed integer program, solved by HiGHS.

The unknowns are 0 or 1 for each control, and for each group that interacts a number that says
whether its term is paid. Among choices of the same value the one that keeps most controls is
taken, and among those the cheapest.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from hardcost.analysis.choice.cost_model import CostModel, Term
from hardcost.analysis.choice.tradeoff import Kept, Tradeoff
from hardcost.model.workload import MetricId

_Numbers = NDArray[np.float64]

SECONDS = 20.0
"""The solver's time limit for one program."""

_GAP = 1e-7  # relative to values, which are scaled to a sum of 1
_ON = 0.5  # the solver's 0 and 1 are floating-point numbers, which may be off by a little
_ROUNDING = 1e-6  # relative to the excess: sums of costs are rounded
_STDOUT = 1  # the file descriptor
_COUNT = 1e-6  # what keeping one more control adds to the value of a choice


@dataclass(frozen=True)
class Over:
    """A choice that is over a limit, by `excess` in the metric's unit.

    `saves` is the most that switching a control may save of it, for each control: off if it is
    kept, on if it is not. A choice within the limit makes up for the excess by such switches.
    """

    kept: Kept
    excess: float
    saves: Mapping[int, float]


@dataclass(frozen=True)
class Requirement:
    """Requirements on a choice, beside being cheap enough.

    It is worth at least `least`, none of `tried`, and makes up for each excess of `over`. `slack`
    is added to the limits, relative to each metric's scale: to look for choices that may cost less
    than predicted.
    """

    least: float = 0.0
    tried: Iterable[Kept] = ()
    slack: float = 0.0
    over: Iterable[Over] = ()


@dataclass
class _Rows:
    """The rows of a program, as they are gathered."""

    columns: int
    weights: list[dict[int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, weights: Mapping[int, float], low: float, high: float) -> None:
        self.weights.append(dict(weights))
        self.low.append(low)
        self.high.append(high)

    def constraint(self) -> LinearConstraint:
        matrix = np.zeros((len(self.weights), self.columns))
        for row, weights in enumerate(self.weights):
            for column, weight in weights.items():
                matrix[row, column] = weight
        return LinearConstraint(matrix, np.array(self.low), np.array(self.high))


def solve(problem: Tradeoff, model: CostModel, wanted: Requirement | None = None) -> Kept | None:
    """Return the best choice under a model; None if none fits, or the solver finds none in time."""
    wanted = wanted or Requirement()
    number = len(problem.values)
    terms = dict.fromkeys(
        term for metric in problem.limits for term in model.terms[metric] if len(term.controls) > 1
    )
    columns = {term: number + at for at, term in enumerate(terms)}
    whole = _scale(problem)
    worth = np.array([_worth(value) / whole for value in problem.values])
    rows = _Rows(number + len(terms))
    costs = _costs(problem, model, columns)
    for metric, weights in costs.items():
        scale = problem.scale(metric)
        limit = problem.limits[metric] / scale + wanted.slack
        if math.isfinite(limit):
            rows.add(weights, -math.inf, limit + 1e-9)
    _link(rows, columns)
    for one, need in problem.needs:
        rows.add({one: 1.0, need: -1.0}, -math.inf, 0.0)
    for tried in wanted.tried:
        off = problem.controls - tried
        rows.add(dict.fromkeys(tried, -1.0) | dict.fromkeys(off, 1.0), 1.0 - len(tried), math.inf)
    for over in wanted.over:
        signed = {it: save if it in over.kept else -save for it, save in over.saves.items()}
        all_off = math.fsum(over.saves[it] for it in over.kept)
        rows.add(
            {it: save / over.excess for it, save in signed.items()},
            -math.inf,
            all_off / over.excess - 1.0 + _ROUNDING,
        )
    if wanted.least:
        rows.add(dict(enumerate(worth)), wanted.least / whole, math.inf)
    none = np.zeros(len(terms))
    best = _minimise(rows, np.concatenate([-worth - _COUNT / (number + 1), none]), problem)
    if best is None:
        return None
    gained = float(worth @ best[:number])
    rows.add(dict(enumerate(worth)), gained - _GAP, math.inf)
    rows.add(dict.fromkeys(range(number), 1.0), round(best[:number].sum()), math.inf)
    price = np.zeros(rows.columns)
    for weights in costs.values():
        for column, weight in weights.items():
            price[column] += weight
    cheapest = _minimise(rows, price, problem)
    chosen = best if cheapest is None else cheapest
    return frozenset(int(one) for one in np.flatnonzero(chosen[:number] > _ON))


def _scale(problem: Tradeoff) -> float:
    return math.fsum(_worth(value) for value in problem.values) or 1.0


def _worth(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _costs(
    problem: Tradeoff, model: CostModel, columns: Mapping[Term, int]
) -> dict[MetricId, dict[int, float]]:
    """Return each metric's cost by column, relative to its scale."""
    found: dict[MetricId, dict[int, float]] = {}
    for metric in problem.limits:
        scale, weights = problem.scale(metric), dict[int, float]()
        for term, cost in model.terms[metric].items():
            column = columns[term] if term in columns else next(iter(term.controls))
            weights[column] = weights.get(column, 0.0) + cost / scale
        found[metric] = weights
    return found


def _link(rows: _Rows, columns: Mapping[Term, int]) -> None:
    """Tie each group's column to its controls, in both directions."""
    for term, column in columns.items():
        size = len(term.controls)
        several = dict.fromkeys(term.controls, 1.0) | {column: -1.0}
        for one in sorted(term.controls):
            if term.kind == "all":
                rows.add({column: 1.0, one: -1.0}, -math.inf, 0.0)
            else:
                rows.add({column: 1.0, one: -1.0}, 0.0, math.inf)
        if term.kind == "all":
            rows.add(several, -math.inf, size - 1.0)
        else:
            rows.add(several, 0.0, math.inf)


@contextlib.contextmanager
def _silence_stdout() -> Iterator[None]:
    """Let nothing reach the process's stdout, where results go: HiGHS writes remarks there."""
    try:
        stdout = os.dup(_STDOUT)
    except OSError:  # it is closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDOUT)
        yield
    finally:
        os.dup2(stdout, _STDOUT)
        os.close(stdout)
        os.close(nowhere)


def _minimise(rows: _Rows, objective: _Numbers, problem: Tradeoff) -> _Numbers | None:
    """Return the unknowns that make the objective least; None if there are none."""
    low = np.zeros(rows.columns)
    low[list(problem.bound)] = 1.0
    integral = np.zeros(rows.columns, dtype=np.int64)
    integral[: len(problem.values)] = 1
    with _silence_stdout():
        result = milp(
            objective,
            integrality=integral,
            bounds=Bounds(low, np.ones(rows.columns)),
            constraints=rows.constraint(),
            options={"time_limit": SECONDS, "mip_rel_gap": 0.0},
        )
    return None if result.x is None else np.asarray(result.x, dtype=np.float64)
