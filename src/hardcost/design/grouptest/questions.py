"""What a search for culprits is asked, asks, and finds: plain values.

A control is meant by its index in `Problem.names`. Values are of the guide metric, in its own unit
(instructions, say), and lower is better: a positive difference is a cost, a negative one a saving.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

Answer: TypeAlias = tuple[float, ...]
"""Samples of the guide metric, as many as were asked for."""


@dataclass(frozen=True)
class Problem:
    """The controls of a profile, in the order in which they are to be switched on.

    `requires`: a control can be on only if those are on. `excludes`: the two cannot both be on.
    `marks`: numbers of controls, from the first, with which a group ends; good points to split at.
    """

    names: tuple[str, ...]
    requires: Mapping[int, frozenset[int]] = field(default_factory=dict)
    excludes: frozenset[tuple[int, int]] = frozenset()
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Settings:
    """How well to look.

    `threshold` is the least cost that matters, as a part of the baseline's value. `most` bounds the
    number of distinct configurations, baseline and profile included. `noise` is the instrument's
    relative standard deviation as far as it is known beforehand, and None or 0 if it is exact; what
    counts is the one that the search itself finds. `level` bounds the chance that any control at
    all is wrongly confirmed under a noisy instrument.
    """

    threshold: float = 0.01
    most: int | None = None
    noise: float | None = None
    level: float = 0.05


@dataclass(frozen=True)
class Question:
    """A configuration to be measured: the controls that are on, ascending; the others are off."""

    on: tuple[int, ...]
    repetitions: int
    why: str


T = TypeVar("T")
Asking: TypeAlias = Generator[Question, Answer, T]
"""A part of the search: asks questions, is sent answers, and returns what it found."""


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval, in the metric's unit; all equal under an exact instrument."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Step:
    """One measurement: `repetitions` new samples, the estimate, and what follows from it."""

    number: int
    on: tuple[int, ...]
    repetitions: int
    value: Estimate
    why: str
    conclusion: str


@dataclass(frozen=True)
class Culprit:
    """A control that the search blames; costs are positive, savings negative, None: not measured.

    `saved` is what the profile costs less without it and without `dropped`, which require it; `own`
    is how much of that is due to the control itself, the others being dropped anyway. `alone` is
    what it costs over the baseline or, if it has requirements, over these. `together` is what it
    costs over its `partners`, without which it costs (nearly) nothing, and their requirements; it
    equals `alone` if there are none. `confirmed`: `own` or `together` is above the threshold or,
    under a noisy instrument, above nothing by a test on samples of its own. `shown` says so.
    """

    index: int
    saved: Estimate | None
    dropped: tuple[int, ...]
    own: Estimate | None
    alone: Estimate | None
    partners: tuple[int, ...]
    together: Estimate | None
    confirmed: bool
    shown: str


@dataclass(frozen=True)
class Stretch:
    """Neighbours that together cost more than the threshold, with no culprit named among them.

    `start` and `stop` (not included) are positions in `Outcome.order`; `controls` are those meant,
    which may be fewer if the stretch was looked at without the culprits. `spread`: split further
    it would be below the threshold on both sides; otherwise `Settings.most` was reached.
    """

    start: int
    stop: int
    controls: tuple[int, ...]
    cost: Estimate
    spread: bool


@dataclass(frozen=True)
class Outcome:
    """What a search found.

    `order` is the order in which controls were switched on, requirements first. `remains` is what
    the profile still costs over the baseline without all that was blamed (confirmed, if the
    instrument is noisy), and without what requires it; None if that could not be measured within
    `Settings.most`. `remains_below`: it is below the threshold, up or down. `adds_up`: what each
    culprit saves by itself and what remains make up the whole cost, within the resolution;
    `explanation` says what that means. `resolution` is the least cost that was looked for, as
    a part of the baseline's value: the threshold, or more if noise does not allow it.
    """

    order: tuple[int, ...]
    baseline: Estimate
    profile: Estimate
    culprits: tuple[Culprit, ...]
    unresolved: tuple[Stretch, ...]
    remains: Estimate | None
    remains_below: bool
    adds_up: bool
    explanation: str
    resolution: float
    repetitions: int
    configurations: int
    steps: tuple[Step, ...]
