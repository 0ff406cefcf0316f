"""Groups of controls to be left out together, so that errors of predictions can't hide.

Controls get shuffled numbers with at least two binary digits 1. Each digit is a group: the controls
whose number has a 1 there. Any two controls are apart in one group at least, and each is in two. A
few random halves are added. So the errors of up to three controls, of any size, never cancel in
all groups; those of four or more may, in the rare case that they do in each group.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random

from hardcost.model.workload import MetricId

HALVES = 2
"""Random halves beside the groups by digits, of six controls and more."""

HALF = 0.5
"""The least error of a prediction that counts: predictions are of whole instructions."""

_LEAST_ONES = 2  # of a number: a control is in so many groups at least

_CANCEL = 3 / 8
"""How often two errors of +e and two of -e cancel in a group that each is in by a toss of a coin:
none of either, one of each, or both, (1 + 4 + 1) of 16."""

Group = frozenset[int]

Predictions = Mapping[MetricId, float]
"""The predicted saving of a group, by metric; a missing one is 0."""


def separating_groups(controls: Sequence[int], booting: Collection[int], seed: str) -> list[Group]:
    """Return groups such that each control is in two, and any two are apart in one at least.

    Those that change the boot line (`booting`) are in the first groups alone, as few as keep them
    apart, and in no random half: each such group boots by itself. The same `seed` shuffles alike.
    """
    random = Random(seed)  # noqa: S311  (no secret)
    first = [one for one in controls if one in booting]
    others = [one for one in controls if one not in booting]
    random.shuffle(first)
    random.shuffle(others)
    numbered = dict(zip([*first, *others], _numbers(), strict=False))
    digits = max(numbered.values(), default=0).bit_length()
    found = [
        frozenset(one for one, number in numbered.items() if number >> digit & 1)
        for digit in range(digits)
    ]
    # With the group of all, there are never more groups than controls.
    halves = min(HALVES, max(len(numbered) - digits - 1, 0))
    found += [frozenset(random.sample(others, len(others) // 2)) for _ in range(halves)]
    return [one for one in dict.fromkeys(found) if one]


def escaping_share(groups: int) -> float:
    """Return in what share of bills errors of +e, +e, -e, -e of four controls cancel everywhere.

    It is the likeliest pattern that can, if each control is in each group by a toss of a coin.
    """
    return math.pow(_CANCEL, groups)


def _numbers() -> Iterator[int]:
    """Yield the numbers with enough binary digits 1, ascending."""
    return (one for one in itertools.count(1) if one.bit_count() >= _LEAST_ONES)
