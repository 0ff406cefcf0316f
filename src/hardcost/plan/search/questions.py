"""The input, questions and results of a search for culprits, as plain values.

Controls are named by their index in `Problem.names`. Values are of the guide metric, in its own
unit (such as instructions), and lower is better: a positive difference is a cost, a negative one a
saving.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

Samples: TypeAlias = tuple[float, ...]
"""The requested number of samples of the guide metric."""


@dataclass(frozen=True)
class SearchTask:
    """The controls of a profile, in the order in which to switch them on.

    `requires`: a control can be on only if those are on. `excludes`: the two cannot both be on.
    `marks`: numbers of controls, from the first, at which a group ends; good points to split at.
    """

    names: tuple[str, ...]
    requires: Mapping[int, frozenset[int]] = field(default_factory=dict)
    excludes: frozenset[tuple[int, int]] = frozenset()
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class SearchSettings:
    """How closely to look.

    `threshold` is the smallest cost that matters, relative to the baseline's value. `most` bounds
    the number of distinct configurations, baseline and profile included. `noise` is the
    instrument's relative standard deviation as far as it is known beforehand, None or 0 if it is
    exact; the search then uses the noise that it finds. `level` bounds the chance that any control
    at all is wrongly confirmed under a noisy instrument.
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
Asking: TypeAlias = Generator[Question, Samples, T]
"""A part of the search: asks questions, is sent answers, and returns what it found."""


@dataclass(frozen=True)
class CostShift:
    """A value and its 95 % interval, in the metric's unit; all equal under an exact instrument."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SearchStep:
    """One measurement: `repetitions` new samples, the estimate, and the conclusion drawn."""

    number: int
    on: tuple[int, ...]
    repetitions: int
    value: CostShift
    why: str
    conclusion: str


@dataclass(frozen=True)
class Culprit:
    """A control that the search blames; costs are positive, savings negative, None: not measured.

    `saved` is the saving from leaving it out together with `dropped`, which require it; `own` is
    the part of the saving due to the control itself, given that the others are dropped. `alone` is
    its cost over the baseline or, if it has requirements, over these. `together` is its cost over
    its `partners`, without which it costs (nearly) nothing, and their requirements; without
    partners it equals `alone`. `confirmed`: `own` or `together` is above the threshold or, under a
    noisy instrument, above nothing by a test on samples of its own. `shown` says so.
    """

    index: int
    saved: CostShift | None
    dropped: tuple[int, ...]
    own: CostShift | None
    alone: CostShift | None
    partners: tuple[int, ...]
    together: CostShift | None
    confirmed: bool
    shown: str


@dataclass(frozen=True)
class Segment:
    """Neighbours that together cost more than the threshold, with no culprit named among them.

    `start` and `stop` (not included) are positions in `SearchResult.order`; `controls` are the
    controls concerned, fewer if the segment was examined without the culprits. `spread`: a further
    split would be below the threshold on both sides; otherwise `SearchSettings.most` was reached.
    """

    start: int
    stop: int
    controls: tuple[int, ...]
    cost: CostShift
    spread: bool


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    `order` is the order in which controls were switched on, requirements first. `remains` is the
    cost of the profile over the baseline without all that was blamed (confirmed, if the instrument
    is noisy) and without what requires it; None if `SearchSettings.most` did not allow measuring
    it.
    `remains_below`: it is below the threshold, up or down. `adds_up`: the saving of each culprit
    by itself plus what remains make up the whole cost, within the resolution; `explanation` says
    what that means. `resolution` is the smallest cost that was sought, relative to the baseline's
    value: the threshold, or more if the noise requires it.
    """

    order: tuple[int, ...]
    baseline: CostShift
    profile: CostShift
    culprits: tuple[Culprit, ...]
    unresolved: tuple[Segment, ...]
    remains: CostShift | None
    remains_below: bool
    adds_up: bool
    explanation: str
    resolution: float
    repetitions: int
    configurations: int
    steps: tuple[SearchStep, ...]
