"""The cost of any choice of controls, predicted from those that were measured.

A metric's cost is taken to be a sum of terms: one for each control; for groups, one that is paid
where all of the group are on (they do more together), and one that is paid where any of it is on
(they share work, such as entering the audit filter). Of all such sums that agree with everything
measured, the one with the least in groups is taken: a linear program (basis pursuit: S. S. Chen,
D. L. Donoho, M. A. Saunders, "Atomic decomposition by basis pursuit", 1998).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import linprog

from hardcost.analysis.choice.tradeoff import Kept, Point, Tradeoff
from hardcost.model.workload import MetricId

_SINGLE = 1e-3
"""The price of a term of one control in the linear program, relative to a group's."""

_TRIPLE = 1.5
"""The price of a term of a larger group, all of which are on, relative to a pair's."""

_CHANCE = 0.1
"""The penalty for chance, for each point: a group that many points show has a lower one."""

_UNEXPLAINED = 1e3
"""The penalty for a rest that neither terms nor chance explain."""

_MOST_PAIRED = 60
"""Of how many interacting controls every pair may be a group; the largest interactions."""

_MOST_TRIPLED = 12  # of the same, for every three: 220 groups, where 60 would have 34,220
_EXACT = 1e-6  # relative to the metric's scale: what is smaller is rounding

TermKind = Literal["all", "any"]


@dataclass(frozen=True)
class Term:
    """A part of a metric's cost: it is paid where `all` or `any` of `controls` are on."""

    controls: Kept
    kind: TermKind = "all"

    def applies(self, kept: Kept) -> bool:
        """Say whether a choice pays it."""
        return self.controls <= kept if self.kind == "all" else bool(self.controls & kept)


@dataclass(frozen=True)
class CostModel:
    """The terms of each metric, each with its cost in the metric's unit."""

    terms: Mapping[MetricId, Mapping[Term, float]]

    def costs(self, kept: Kept) -> dict[MetricId, float]:
        """Return the predicted cost of a choice, by metric."""
        return {
            metric: math.fsum(cost for term, cost in terms.items() if term.applies(kept))
            for metric, terms in self.terms.items()
        }


def fit(problem: Tradeoff, points: Sequence[Point], last: CostModel | None = None) -> CostModel:
    """Return the simplest model of the measured points, and of those that are expected.

    Metrics that the `last` model still explains keep their terms.
    """
    found: dict[MetricId, Mapping[Term, float]] = {}
    every = problem.with_expected(points)
    for metric in problem.limits:
        known = {kept: point.costs[metric] for kept, point in every.items()}
        terms = None if last is None else last.terms.get(metric)
        if terms is None or not _explains(terms, known, _tolerance(problem, metric)):
            terms = _fit_metric(problem, metric, known)
        found[metric] = terms
    return CostModel(found)


def _tolerance(problem: Tradeoff, metric: MetricId) -> float:
    return max(problem.chance.get(metric, 0.0), _EXACT * problem.scale(metric))


def _explains(terms: Mapping[Term, float], known: Mapping[Kept, float], tolerance: float) -> bool:
    return all(
        abs(math.fsum(w for term, w in terms.items() if term.applies(kept)) - cost)
        <= tolerance * 1.001
        for kept, cost in known.items()
    )


def _fit_metric(
    problem: Tradeoff, metric: MetricId, known: Mapping[Kept, float]
) -> Mapping[Term, float]:
    """Return a metric's terms: single controls, then groups, then all groups of few controls."""
    tolerance = _tolerance(problem, metric)
    singles = [Term(frozenset({one})) for one in sorted(problem.controls)]
    sets, pairs, triples = _groups(problem, known, tolerance)
    terms: Mapping[Term, float] = {}
    tried = list(singles)
    for more in (sets, pairs, triples):
        tried += [one for one in more if one not in tried]
        terms, left = _least(tried, known, tolerance, problem.scale(metric))
        if left <= tolerance:
            break
    return terms


def _groups(
    problem: Tradeoff, known: Mapping[Kept, float], tolerance: float
) -> tuple[list[Term], list[Term], list[Term]]:
    """Return the groups that may interact: larger ones, pairs, and triples.

    A control interacts if it costs more or less in company than alone. Those that differ alike may
    do so for one reason.
    """
    differ = _differences(problem, known, tolerance)
    alike: defaultdict[int, set[int]] = defaultdict(set)
    for one, by in differ.items():
        alike[round(by / max(tolerance, 1e-9) / 4)].add(one)
    sets = [*problem.alike, frozenset(differ), *map(frozenset, alike.values())]
    sets += [group & frozenset(differ) for group in problem.alike]
    larger = dict.fromkeys(group for group in sets if len(group) > 1)
    chosen = sorted(differ, key=lambda one: -abs(differ[one]))
    return (
        [Term(group, kind) for group in larger for kind in ("any", "all")],
        _terms_of_size(chosen[:_MOST_PAIRED], 2),
        _terms_of_size(chosen[:_MOST_TRIPLED], 3),
    )


def _terms_of_size(controls: Iterable[int], size: int) -> list[Term]:
    return [Term(frozenset(group)) for group in itertools.combinations(sorted(controls), size)]


def _differences(
    problem: Tradeoff, known: Mapping[Kept, float], tolerance: float
) -> dict[int, float]:
    """Return by how much each control costs more in the whole's company than alone.

    Only those that do; where one of both was not measured, it may.
    """
    everything, found = problem.controls, {}
    whole = known.get(everything)
    for one in sorted(everything):
        without = known.get(problem.without(one))
        alone = known.get(problem.alone(one))
        if whole is None or without is None or alone is None:
            found[one] = 0.0
        elif abs(whole - without - alone) > 2 * tolerance:
            found[one] = whole - without - alone
    return found


def _least(
    terms: Sequence[Term], known: Mapping[Kept, float], tolerance: float, scale: float
) -> tuple[Mapping[Term, float], float]:
    """Return the cheapest weights of terms that explain the known costs, and the largest rest.

    The unknowns are each term's weight above and below 0, and what is left of each point above and
    below 0: as much as may be chance, and what is more.
    """
    points = list(known)
    applied = np.array([[float(term.applies(kept)) for term in terms] for kept in points])
    costs = np.array([known[kept] for kept in points]) / scale
    prices = np.array([_price(term) for term in terms])
    left = np.hstack([np.eye(len(points)), -np.eye(len(points))])
    of_points = np.ones(2 * len(points))
    result = linprog(
        np.concatenate([prices, prices, _CHANCE * of_points, _UNEXPLAINED * of_points]),
        A_eq=np.hstack([applied, -applied, left, left]),
        b_eq=costs,
        bounds=[(0, None)] * (2 * len(terms))
        + [(0, 0.5 * tolerance / scale)] * (2 * len(points))
        + [(0, None)] * (2 * len(points)),
        method="highs",
    )
    if result.x is None:
        return dict.fromkeys(terms, 0.0), math.inf
    number = len(terms)
    weights = (result.x[:number] - result.x[number : 2 * number]) * scale
    off = float(np.max(np.abs(applied @ weights - costs * scale), initial=0.0))
    kept = {
        term: float(weight)
        for term, weight in zip(terms, weights, strict=True)
        if abs(weight) > _EXACT * scale / 10
    }
    return kept, off


def _price(term: Term) -> float:
    if len(term.controls) == 1:
        return _SINGLE
    return 1.0 if term.kind == "any" or len(term.controls) == 2 else _TRIPLE  # noqa: PLR2004
