"""The keys of a finding's JSON, in their order: what each entry holds.

An entry is read from the value that it shows. Numbers that JSON doesn't know (infinite, not a
number) are null. What stands in parentheses behind a key below is left out where it says nothing.
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer


def _finite(value: float) -> float | None:
    """Return `value` as a float that JSON can hold; adding 0 turns -0 into 0."""
    return float(value) + 0.0 if math.isfinite(value) else None


def _is_unknown(value: object) -> bool:
    return value is None


def says_nothing(value: object) -> bool:
    """Say whether an entry leaves a key out that has this value."""
    return not value


def _is_one(values: tuple[float, ...]) -> bool:
    return len(values) <= 1


Number = Annotated[float, PlainSerializer(_finite, return_type=float | None)]
"""A number that is null where it is infinite or none."""


class Entry(BaseModel):
    """An object of the JSON."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class CellEntry(Entry):
    """A cell of `cells`: (each) holds its trials' values, (resolution) where one is one draw.

    (least) is the size up to which a difference can't be distinguished from chance.
    """

    configuration: str
    workload: str
    metric: str
    unit: str
    value: Number
    low: Number
    high: Number
    trials: int
    baseline: str
    ratio: Number
    ratio_low: Number
    ratio_high: Number
    minimum: Number
    difference: Number
    each: tuple[Number, ...] = Field((), exclude_if=_is_one)
    resolution: float = Field(0.0, exclude_if=says_nothing)
    least: float = Field(0.0, exclude_if=says_nothing)


class ChangeEntry(Entry):
    """A change from one level of the study's successive axis to the next, in one state."""

    state: str
    workload: str
    metric: str
    unit: str
    before: str
    after: str
    difference: Number
    ratio: Number
    least: float = Field(0.0, exclude_if=says_nothing)


class BeforeEntry(Entry):
    """A cell's value in the run that another is compared to."""

    value: Number
    low: Number
    high: Number
    trials: int


class PairEntry(CellEntry):
    """A cell of a comparison: `before` is its value in the earlier run."""

    before: BeforeEntry


class TotalEntry(Entry):
    """What a whole profile costs on a metric: (low) and (high) where it has an interval."""

    metric: str
    unit: str
    baseline: Number
    with_profile: Number
    cost: Number
    distinguishable: bool
    low: Number | None = Field(None, exclude_if=_is_unknown)
    high: Number | None = Field(None, exclude_if=_is_unknown)


class ItemEntry(Entry):
    """What a control costs on a metric: (predicted), (findings), (ids), (severity), (caveat)."""

    control: str
    metric: str
    cost: Number
    low: Number
    high: Number
    share: Number
    alone: Number
    fired: int | None
    place: str
    exercised: bool | None
    predicted: Number | None = Field(None, exclude_if=_is_unknown)
    findings: tuple[str, ...] = Field((), exclude_if=says_nothing)
    ids: tuple[str, ...] = Field((), exclude_if=says_nothing)
    severity: str = Field("", exclude_if=says_nothing)
    default: str | None = None
    caveat: str = Field("", exclude_if=says_nothing)


class SumEntry(Entry):
    """A part of a bill on a metric that is no single control's."""

    metric: str
    cost: Number


class LeastEntry(Entry):
    """The least cost on a metric that is distinguishable from chance."""

    metric: str
    cost: Number
    placebos: int


class AdviceEntry(Entry):
    """What to leave out to keep a budget: (budgets) where metrics have one of their own."""

    budget: float | None
    budgets: dict[str, float] = Field({}, exclude_if=says_nothing)
    within: bool
    kept: int
    leave_out: tuple[str, ...]
    totals: tuple[TotalEntry, ...]


class CostsEntry(Entry):
    """What a choice costs on a metric: (limit) is the most that it may."""

    metric: str
    unit: str
    baseline: Number
    cost: Number
    share: Number
    limit: Number | None = Field(None, exclude_if=_is_unknown)


class AbandonedEntry(Entry):
    """A control that is given up: (stands_for) where it is an equivalent of others."""

    control: str
    ids: tuple[str, ...]
    severity: str
    value: Number
    metric: str
    unit: str
    baseline: Number
    cost: Number
    low: Number
    high: Number
    place: str
    stands_for: tuple[str, ...] = Field((), exclude_if=says_nothing)


class LevelEntry(Entry):
    """A level of the frontier; `value` is a part of the profile's."""

    factor: float
    kept: int
    value: Number
    measured: bool
    costs: tuple[CostsEntry, ...]
    given_up: tuple[str, ...]


class OfferEntry(Entry):
    """What a larger budget keeps."""

    budget: float | None
    budgets: dict[str, float]
    kept: tuple[str, ...]
    costs: tuple[CostsEntry, ...]
    measured: bool


class UnkeepableEntry(Entry):
    """Controls not one of which can be kept: what the least budget keeps, and a round one."""

    kind: str
    controls: tuple[str, ...]
    offers: tuple[OfferEntry, ...]


class ChoiceEntry(Entry):
    """What to give up for a budget: (rewritten), (equivalent), (unkeepable) where there are any."""

    budget: float | None
    budgets: dict[str, float]
    found: bool
    controls: int
    kept: int
    value: Number
    worth: str
    given_up: tuple[AbandonedEntry, ...]
    before: tuple[CostsEntry, ...]
    after: tuple[CostsEntry, ...]
    proposals: int
    put_back: int
    error: Number
    frontier: tuple[LevelEntry, ...]
    rewritten: tuple[str, ...] = Field((), exclude_if=says_nothing)
    equivalent: tuple[CostsEntry, ...] = Field((), exclude_if=says_nothing)
    fixed: tuple[CostsEntry, ...]
    rules: tuple[str, ...]
    unkeepable: UnkeepableEntry | None = Field(None, exclude_if=_is_unknown)


class SearchEntry(Entry):
    """How a search came to its bill."""

    statement: str
    steps: tuple[str, ...]
    conclusions: tuple[str, ...]
    configurations: int
    resolution: float
    adds_up: bool


class ScoreEntry(Entry):
    """How many of the catalogue's kernel options a kernel has as recommended."""

    met: int
    of: int


class FailureEntry(Entry):
    """A trial that has no cells."""

    configuration: str
    workload: str
    seed: int
    repetition: int
    reason: str
    hint: str | None
    log: str


class StepEntry(Entry):
    """A step of a trial that was observed."""

    name: str
    begin: Number
    end: Number
    measured: bool = Field(validation_alias="is_measured")
    operations: int | None


class ObservedEntry(Entry):
    """What an instrument that rode along saw in a trial."""

    configuration: str
    workload: str
    seed: int
    repetition: int
    instrument: str
    unit: str
    totals: dict[str, Number]
    times: tuple[Number, ...]
    series: dict[str, tuple[Number, ...]]
    steps: tuple[StepEntry, ...]
    own_ticks: Number


class FigureEntry(Entry):
    """A published figure, with ours of the same configurations."""

    source: str | None
    table: str
    configuration: str
    metric: str | None
    unit: str | None
    value: Number | None
    ratio: Number | None
    ratio_low: Number | None
    ratio_high: Number | None
    workload: str | None
    ours_low: Number | None
    ours_high: Number | None


class MeanEntry(Entry):
    """The mean penalty of a configuration in a workload, null for all: (low) and (high)."""

    configuration: str
    workload: str | None
    baseline: str
    ratio: Number
    metrics: int
    unknown: int
    low: Number | None = Field(None, exclude_if=_is_unknown)
    high: Number | None = Field(None, exclude_if=_is_unknown)


class Head(Entry):
    """What a run is."""

    run: str
    study: str
    machine: str
    instrument: str
    environment: dict[str, str]


class ComparisonDocument(Head):
    """A run with an earlier one as its baseline."""

    cells: tuple[PairEntry, ...]
    notes: tuple[str, ...]
    compared_to: Head
    only_before: tuple[CellEntry, ...]
    only_after: tuple[CellEntry, ...]
    warnings: tuple[str, ...]


class AccountedEntry(Entry):
    """A rule of a benchmark's profile, with what became of it: (why) and (controls)."""

    rule: str
    title: str
    severity: str
    ids: tuple[str, ...]
    outcome: str
    kind: str
    why: str = Field("", exclude_if=says_nothing)
    controls: tuple[str, ...] = Field((), exclude_if=says_nothing)


class BothEntry(Entry):
    """A cost in instructions and in ns; `control` null: the whole profile's.

    `measured` says whether the time can be told from noise; if not, `apportioned` is a part of the
    rest by count, or null. `differ` is "", unknown, less, more or direction; (why) is likely.
    """

    control: str | None
    metric: str
    insn: Number
    insn_ratio: Number
    ns: Number
    ns_low: Number
    ns_high: Number
    ns_ratio: Number
    measured: bool
    apportioned: Number | None
    share: Number | None
    fired: int | None
    differ: str
    why: str = Field("", exclude_if=says_nothing)


class UnmeasuredEntry(Entry):
    """A control that the bill is without, since its guest did not bear it."""

    control: str
    reason: str
    place: str = Field("", exclude_if=says_nothing)


class BillKeys(Entry):
    """What a bill adds; (accounting) if its profile is a benchmark's."""

    totals: tuple[TotalEntry, ...]
    items: tuple[ItemEntry, ...]
    fixed: tuple[SumEntry, ...]
    rest: tuple[SumEntry, ...]
    interaction: tuple[SumEntry, ...]
    least: tuple[LeastEntry, ...]
    accounting: tuple[AccountedEntry, ...] = Field((), exclude_if=says_nothing)
    unmeasured: tuple[UnmeasuredEntry, ...] = Field((), exclude_if=says_nothing)


class BesideKeys(Entry):
    """What stands beside cells, each left out where it is empty."""

    failures: tuple[FailureEntry, ...] = Field((), exclude_if=says_nothing)
    observed: tuple[ObservedEntry, ...] = Field((), exclude_if=says_nothing)
    published: tuple[FigureEntry, ...] = Field((), exclude_if=says_nothing)
    means: tuple[MeanEntry, ...] = Field((), exclude_if=says_nothing)
