"""Which controls explain the groups that are off, by the groups in which they are.

A guess, made to measure the right control first: it is measured by itself before it counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_FEW = 2  # columns to be tried together
_MOST_COLUMNS = 64  # of more, no two are tried together, nor one with a control
_MISS = 1 / 20  # of what is explained: three that act together are taken for pairs
_SPARE = 2  # groups beyond the wrong controls: with fewer, any control could be one
_OUTSIDE = 0.1  # of a column, which chance may turn out of the space
_ROUNDING = 1e-9


def explain_by_one(off: Numbers, within: Numbers, tolerance: float) -> list[int]:
    """Return the controls of which one alone could explain what groups are off by.

    `off` is by how much each group is off, `within` has a row for each group and a column for each
    control: 1 where it is in the group. The best explanation comes first.
    """
    members = within.sum(axis=0)
    errors = np.divide(off @ within, members, out=np.zeros(len(members)), where=members > 0)
    misses = np.abs(off[:, None] - within * errors).max(axis=0)
    fitting = np.flatnonzero((misses <= tolerance) & (np.abs(errors) > tolerance))
    return [int(one) for one in fitting[np.argsort(misses[fitting], kind="stable")]]


def explain_by_two(off: Numbers, within: Numbers, tolerance: float) -> tuple[int, int] | None:
    """Return the two controls whose errors best explain what groups are off by; None: no two do."""
    best: tuple[float, int, int] | None = None
    members, total = within.sum(axis=0), off @ within
    for one in range(within.shape[1] - 1):
        rest = slice(one + 1, None)
        shared = within[:, one] @ within[:, rest]
        apart = members[one] * members[rest] - shared * shared
        first = _divide(total[one] * members[rest] - shared * total[rest], apart)
        second = _divide(members[one] * total[rest] - shared * total[one], apart)
        explained = np.outer(within[:, one], first) + within[:, rest] * second
        misses = np.abs(off[:, None] - explained).max(axis=0)
        small = np.minimum(np.abs(first), np.abs(second)) <= tolerance
        misses[(apart == 0) | small] = np.inf
        at = int(np.argmin(misses))
        if misses[at] <= tolerance and (best is None or misses[at] < best[0]):
            best = (float(misses[at]), one, one + 1 + at)
    return None if best is None else best[1:]


def explain_jointly(off: Numbers, within: Numbers) -> list[int]:
    """Return the controls that together could explain what groups are off by, on all metrics.

    `off` has a row for each group and a column for each metric, in units of what chance does there.
    A wrong prediction is mostly wrong on several metrics, and puts each of its groups off by the
    same. So what groups are off by, as columns, spans the space of the wrong controls' columns of
    `within`, and few others lie in it (as in MUSIC: R. O. Schmidt, "Multiple emitter location and
    signal parameter estimation", 1986). Nothing is returned where more controls are wrong than the
    groups can distinguish.
    """
    if not off.any():
        return []
    left, sizes, _ = np.linalg.svd(off, full_matrices=False)
    chance = math.sqrt(off.shape[0]) + math.sqrt(off.shape[1])
    number = int(np.sum(sizes > max(chance, _ROUNDING * float(sizes[0]))))
    if not 0 < number <= len(off) - _SPARE:
        return []
    space = left[:, :number]
    members = within.sum(axis=0)
    inside = np.square(space.T @ within).sum(axis=0)
    outside = 1 - _divide(inside, members)
    likely = [int(one) for one in np.argsort(outside, kind="stable") if members[one]]
    return sorted(one for one in likely[:number] if outside[one] <= _OUTSIDE)


@dataclass(frozen=True)
class SharedSavings:
    """What is shared by controls, and explains what groups are off by, but for a `miss`.

    `taken` are columns, each with the number by which it is taken. If it takes a control beside,
    `control` is its column, and nothing is taken yet.
    """

    taken: Mapping[int, float]
    control: int | None = None
    miss: float = 0.0


def explain_by_few(off: Numbers, shares: Numbers, within: Numbers) -> SharedSavings:
    """Return the one or two columns of `shares` that explain what groups are off by.

    All have a row for each group, in units of what chance does there. There must be more groups
    than columns taken, or any would do. A miss of more than chance is allowed if it is small beside
    what is explained.
    """
    allowed = max(1.0, _MISS * float(np.abs(off).max()))
    most = min(_FEW, len(off) - _SPARE)
    useful = [int(one) for one in np.flatnonzero(np.abs(shares).max(axis=0, initial=0) > 0)]
    for number in range(1, most + 1):
        if number > 1 and len(useful) > _MOST_COLUMNS:
            return SharedSavings({})
        best = SharedSavings({}, miss=math.inf)
        for chosen in itertools.combinations(useful, number):
            columns = shares[:, chosen]
            sizes, _, rank, _ = np.linalg.lstsq(columns, off, rcond=None)
            miss = float(np.abs(off - columns @ sizes).max())
            if rank == number and miss < best.miss:
                best = SharedSavings(dict(zip(chosen, map(float, sizes), strict=True)), miss=miss)
        if best.miss <= allowed:
            return best
    if most < _FEW or len(useful) > _MOST_COLUMNS:
        return SharedSavings({})
    return _explain_with_control(off, shares[:, useful], within)


def _explain_with_control(off: Numbers, shares: Numbers, within: Numbers) -> SharedSavings:
    """Return the control that explains what groups are off by, with one column of `shares`."""
    best = SharedSavings({}, miss=1.0)
    for share in shares.T:
        unit = share / np.linalg.norm(share)
        rest, left = off - unit * (unit @ off), within - np.outer(unit, unit @ within)
        squares = np.square(left).sum(axis=0)
        sizes = _divide(rest @ left, np.where(squares > _ROUNDING, squares, 0.0))
        misses = np.abs(rest[:, None] - left * sizes).max(axis=0)
        misses[np.abs(within * sizes).max(axis=0) <= 1] = math.inf  # no more than chance
        at = int(np.argmin(misses)) if len(misses) else -1
        if at >= 0 and misses[at] <= best.miss:
            best = SharedSavings({}, at, float(misses[at]))
    return best


def explain_by_interaction(off: Numbers, within: Numbers, tolerance: float) -> bool:
    """Say whether two controls that cost something only together could explain all groups."""
    for one in range(within.shape[1] - 1):
        both = within[:, [one]] * within[:, one + 1 :]
        members = both.sum(axis=0)
        costs = _divide(off @ both, members)
        misses = np.abs(off[:, None] - both * costs).max(axis=0)
        if bool(np.any((misses <= tolerance) & (members > 0))):
            return True
    return False


def matrix(groups: Sequence[frozenset[int]], controls: Sequence[int]) -> Numbers:
    """Return a row for each group and a column for each control: 1 where it is in the group."""
    return np.array([[one in group for one in controls] for group in groups], dtype=np.float64)


def _divide(numbers: Numbers, by: Numbers) -> Numbers:
    """Return quotients, 0 where the divisor is 0."""
    return np.divide(numbers, by, out=np.zeros_like(numbers), where=by != 0)
