"""What a run found: the values that every report is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from hardcost.instruments.observed import Observed  # noqa: TC001 (needed to read findings back)


@dataclass(frozen=True)
class Cell:
    """One metric under one configuration.

    `value` is the trial's median, or the mean of the medians of several trials; [low, high] is its
    95 % interval, a point where all samples are alike, as most are under `insn`. `minimum`
    is the smallest sample seen. `ratio` is to the baseline's value, paired by seed. `each` holds
    the trials' medians by seed and repetition, in that order. All but the ratios are in `unit`.
    `resolution` is how near to 1 a ratio says nothing, where one trial is one draw; else 0.
    """

    configuration: str
    workload: str
    metric: str
    unit: str
    value: float
    low: float
    high: float
    minimum: float
    trials: int
    baseline: str
    difference: float
    ratio: float
    ratio_low: float
    ratio_high: float
    each: tuple[float, ...] = ()
    resolution: float = 0.0


@dataclass(frozen=True)
class Total:
    """A profile's whole cost for one metric: `cost` = `with_profile` - `baseline`.

    `cost` is found as an item's is, sample by sample, so that one control's is the whole profile's;
    `with_profile` follows from it. A cost of up to `least` can't be told from chance. [low, high]
    is the cost's 95 % interval, None where the instrument is exact.
    """

    metric: str
    unit: str
    baseline: float
    with_profile: float
    cost: float
    least: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def distinguishable(self) -> bool:
        """Whether the cost is beyond what chance makes of nothing."""
        return abs(self.cost) > self.least and not self.may_be_nothing

    @property
    def may_be_nothing(self) -> bool:
        """Say whether the interval reaches to both sides of 0."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high


@dataclass(frozen=True)
class Item:
    """One control's part of a bill for one metric.

    `cost` is what leaving it out of the profile saves, compared sample by sample; `alone` is what
    it costs by itself over the baseline; `share` is `cost` over the total's cost (0 where that is
    0). `fired` counts the audit records that it caused in the whole profile while the metric was
    measured; None: not known. `place` says where the control is written, as `file:line`, or "".
    `predicted` is what the cost model of audit rules said of `cost`, None where it says nothing;
    `findings` are the codes of what lint says of the rule; `ids` are what benchmarks call the
    control; `caveat` says what the numbers do not show of its cost, "" where they show it all.
    """

    control: str
    metric: str
    unit: str
    cost: float
    low: float
    high: float
    share: float
    alone: float
    fired: int | None
    place: str = ""
    predicted: float | None = None
    findings: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    caveat: str = ""


@dataclass(frozen=True)
class Sum:
    """A remainder of a bill for one metric."""

    metric: str
    cost: float


@dataclass(frozen=True)
class Least:
    """The least cost on a metric that can be told from chance: one beyond `cost`, either way.

    It follows from as many `placebos`: configurations that differ in what changes nothing. 0 where
    none was measured.
    """

    metric: str
    cost: float
    placebos: int


@dataclass(frozen=True)
class Bill:
    """The total cost of a profile, itemised; for each metric items + rest + interaction = total.

    An item is beyond the metric's `least`; the others are in the rest. So is an interaction that
    chance alone could make. `controls` names all that were measured, those without an item too, in
    the profile's order; a search, which has no number for most, leaves it empty. `unshown` names
    those whose cost the numbers do not show. `compared_with` says what the baseline is, such as
    "audit on, no rules".
    """

    profile: str
    title: str
    totals: tuple[Total, ...]
    items: tuple[Item, ...]
    rest: tuple[Sum, ...]
    interaction: tuple[Sum, ...]
    compared_with: str = ""
    least: tuple[Least, ...] = ()
    controls: tuple[str, ...] = ()
    unshown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Advice:
    """What to leave out so that no metric grows by more than `budget`, such as 0.05 for 5 %.

    `budgets` are those of metrics that have one of their own; `budget` is the others', None where
    they may grow as they like. `totals` are measured with the `kept` controls that remain, not
    predicted; `within` says whether they keep the budget. `leave_out` names controls in the order
    in which they were given up; where nothing remains, no control of the profile fits the budget,
    and `alone` is what the last one costs by itself.
    """

    budget: float | None
    leave_out: tuple[str, ...]
    kept: int
    totals: tuple[Total, ...]
    within: bool
    budgets: dict[str, float] = field(default_factory=dict)
    alone: tuple[Total, ...] = ()


@dataclass(frozen=True)
class SideBySide:
    """The bills of several profiles that were measured in one run.

    Each of `bills` is a finding with a bill; machine and environment are the run's. `common` names
    the controls that all have. `shared`: all are compared with the same baseline.
    """

    bills: tuple[Finding, ...]
    common: tuple[str, ...]
    shared: bool


@dataclass(frozen=True)
class Search:
    """How a search came to its bill, in sentences.

    `statement` was said before anything was measured; `steps` are its measurements in order, each
    with what follows from it; `conclusions` what it comes to. `resolution` is the least cost that
    was looked for, as a part of the baseline's value. `adds_up` says whether the items and the rest
    make up the whole, within the resolution.
    """

    statement: str
    steps: tuple[str, ...]
    conclusions: tuple[str, ...]
    configurations: int
    resolution: float
    adds_up: bool


@dataclass(frozen=True)
class Score:
    """How many of the catalogue's kernel options a kernel has as recommended."""

    met: int
    of: int


@dataclass(frozen=True)
class ObservedIn:
    """What an instrument that rode along saw in one trial."""

    configuration: str
    workload: str
    seed: int
    repetition: int
    observed: Observed


@dataclass(frozen=True)
class Failure:
    """A trial that failed: why, what to do about it, and the end of the guest's own words.

    `log` is text out of the guest: as hostile as everything that comes from there.
    """

    configuration: str
    workload: str
    seed: int
    repetition: int
    reason: str
    hint: str | None = None
    log: str = ""


@dataclass(frozen=True)
class Finding:
    """A run's outcome, complete: reports read this and nothing else.

    `levels` maps a configuration's name to its axes, as in `design.plan.Configuration`.
    `machine` is "vm", "local" …; `environment` holds qemu, kernel, cpu_model, host and more.
    `scores` are of the configurations whose kernel hardcost has built. `failures` are the trials
    that have no cells, `observed` what instruments beside the main one saw. `scale` is the study's
    size where one was asked for; its name ends in it then. `command` is what was typed, word by
    word, and `folder` where, if a word of it is a path from there.
    """

    run: str
    study: str
    title: str
    instrument: str
    cells: tuple[Cell, ...]
    machine: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    levels: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    published: str | None = None
    bill: Bill | None = None
    advice: Advice | None = None
    search: Search | None = None
    scores: dict[str, Score] = field(default_factory=dict)
    observed: tuple[ObservedIn, ...] = ()
    failures: tuple[Failure, ...] = ()
    scale: str | None = None
    together: SideBySide | None = None
    command: tuple[str, ...] = ()
    folder: str = ""
