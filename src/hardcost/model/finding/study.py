"""The finding of a study: its cells, and the tables beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hardcost.model.document import IfAny, IfKnown, Internal, Number
from hardcost.model.finding.calls import Hotspots
from hardcost.model.finding.failure import Failure
from hardcost.model.finding.head import Found, Score
from hardcost.model.finding.observation import ObservedIn
from hardcost.model.role import AxisLevel, Role
from hardcost.model.workload import Workload


@dataclass(frozen=True, kw_only=True)
class LevelChange:
    """A metric in one state, at a level of the study's successive axis and at the next.

    `before` and `after` are the levels, `state` is all else that a configuration is made of.
    """

    state: str
    workload: Workload
    metric: str
    unit: str
    before: str
    after: str
    difference: Number
    ratio: Number
    least: IfAny[Number] = 0.0

    @property
    def may_be_chance(self) -> bool:
        """Whether the difference is no more than chance could produce, or none."""
        return abs(self.difference) <= self.least


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One published figure, and ours of the same configurations.

    `value` is in the source's `unit`; `ratio` is its cost as a multiple of the source's baseline,
    [ratio_low, ratio_high] if the source gave a range. [ours_low, ours_high] are our ratios between
    the same two configurations, over all workloads that correspond to the source's table;
    `workload` names it if there is only one. `source` names the published figures. Values not
    published or not measured are None.
    """

    source: str
    table: str
    configuration: str
    metric: str | None = None
    unit: str | None = None
    value: Number | None = None
    ratio: Number | None = None
    ratio_low: Number | None = None
    ratio_high: Number | None = None
    workload: Workload | None = None
    ours_low: Number | None = None
    ours_high: Number | None = None


@dataclass(frozen=True)
class MeanPenalty:
    """The geometric mean of a configuration's costs, as a multiple of the baseline's.

    If a workload has metrics for each operation, only these count: the others are their sums.
    `workload` None stands for all workloads together. `metrics` is the number included, each once;
    `unknown` could not be, since the baseline or the metric has no value. NaN if none was included.
    [low, high] is the 95 % interval of the mean over perturbations or repetitions, which are paired
    between configurations; None where nothing was measured more than once.
    """

    configuration: Role
    workload: Workload | None
    baseline: Role
    ratio: Number
    metrics: int
    unknown: int
    low: IfKnown[Number | None] = None
    high: IfKnown[Number | None] = None

    @property
    def percent(self) -> float:
        """Return by how many per cent it is worse than the baseline."""
        return 100 * (self.ratio - 1)


@dataclass(frozen=True, kw_only=True)
class StudyFinding(Found):
    """The finding of a study, or of the two states of a gate.

    `levels` maps a configuration's name to the levels of axes that span it.
    `successive` names the axis whose levels are shown one after the other, such as versions of a
    kernel; `changes` are then those from one to the next. `profiles` say where costs arise,
    `observed` what the recorders saw; `failures` are the trials without cells. `source` names
    published figures, which `published` has beside ours, and `means` the mean penalties if that
    source has some. `asked` is the configuration whose cost the study is about, if it names one,
    and `about` says in prose what it compares. `scale` is the study's size if one was given; the
    study's name then ends in it. `unexercised` names configurations of which no metric reaches
    anything in which they differ from their baselines.
    """

    kind: Literal["study"] = "study"
    scores: IfAny[dict[Role, Score]] = field(default_factory=dict)
    changes: IfKnown[tuple[LevelChange, ...] | None] = None
    hotspots: IfAny[tuple[Hotspots, ...]] = ()
    failures: IfAny[tuple[Failure, ...]] = ()
    observed: IfAny[tuple[ObservedIn, ...]] = ()
    published: IfAny[tuple[Figure, ...]] = ()
    means: IfAny[tuple[MeanPenalty, ...]] = ()
    levels: Internal[dict[Role, tuple[AxisLevel, ...]]] = field(default_factory=dict)
    successive: Internal[str | None] = None
    source: Internal[str | None] = None
    asked: Internal[Role | None] = None
    about: Internal[str] = ""
    scale: Internal[str | None] = None
    unexercised: Internal[tuple[Role, ...]] = ()


def levels_of(finding: Found) -> Mapping[Role, tuple[AxisLevel, ...]]:
    """Return the axes of a study's configurations by name; nothing of other findings."""
    return finding.levels if isinstance(finding, StudyFinding) else {}


def failures_of(finding: Found) -> tuple[Failure, ...]:
    """Return a study's failed trials; other findings have none."""
    return finding.failures if isinstance(finding, StudyFinding) else ()
