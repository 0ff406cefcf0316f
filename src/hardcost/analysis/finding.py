"""What a run found: the values that every report is made from."""

from __future__ import annotations

from dataclasses import dataclass, field

from hardcost.analysis.advised import Choice  # noqa: TC001 (needed to read findings back)
from hardcost.analysis.traced import Traced  # noqa: TC001 (needed to read findings back)
from hardcost.controls.accounted import Accounted  # noqa: TC001 (needed to read findings back)
from hardcost.instruments.observed import Observed  # noqa: TC001 (needed to read findings back)


@dataclass(frozen=True)
class Cell:
    """One metric under one configuration.

    `value` is the trial's median, or the mean of the medians of several trials; [low, high] is its
    95 % interval, a point if all samples are alike, as is usual under `insn`. `minimum` is the
    smallest sample seen. `ratio` is to the baseline's value, paired by seed and repetition or
    perturbation. `each` holds the trials' medians by seed and repetition, in that order, `ratios`
    the ratio of each pair in the order of all of the run's, NaN where it lacks one. All but the
    ratios are in `unit`. What a workload measured several times in one trial, each time perturbed,
    counts as several of `trials`. If one trial is a single draw, ratios closer to 1 than
    `resolution` say nothing; otherwise it is 0. A difference of up to `least` cannot be
    distinguished from chance: placebos differ by as much. The ratio's interval allows for it.
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
    ratios: tuple[float, ...] = ()
    least: float = 0.0

    @property
    def may_be_baseline(self) -> bool:
        """Whether the ratio has an interval that includes 1, so that the difference may be 0."""
        return self.ratio_low < self.ratio_high and self.ratio_low <= 1 <= self.ratio_high


@dataclass(frozen=True)
class Total:
    """A profile's whole cost for one metric: `cost` = `with_profile` - `baseline`.

    `cost` is computed like an item's, sample by sample, so that a profile of one control costs what
    the control does; `with_profile` follows from it. A cost of up to `least` cannot be
    distinguished from chance. [low, high] is the cost's 95 % interval, None for a single trial of
    an exact instrument.
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
        """Whether the cost exceeds what chance could produce."""
        return abs(self.cost) > self.least and not self.may_be_nothing

    @property
    def may_be_nothing(self) -> bool:
        """Say whether the interval includes values on both sides of 0."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high


@dataclass(frozen=True)
class Item:
    """One control's part of a bill for one metric.

    `cost` is what leaving it out of the profile saves, compared sample by sample; `alone` is its
    cost by itself over the baseline; `share` is `cost` over the total's cost (0 if that is 0).
    `fired` counts the audit records that it caused in the whole profile while the metric was
    measured; None: unknown. `place` is the control's location, as `file:line`, or "". `predicted`
    is the audit cost model's prediction of `cost`, None if it makes none; `findings` are the codes
    of lint's diagnostics for the rule; `ids` are the control's names in benchmarks, `severity` the
    gravest that they give it, "" if none; `caveat` says what the numbers do not show of its cost,
    "" if they show it all. [alone_low, alone_high] is the 95 % interval of `alone`, None if
    unknown. `exercised` says whether any metric reaches what the control acts on; None: unknown.
    `default` is "kernel" or "distribution" where the control is its default anyway.
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
    severity: str = ""
    alone_low: float | None = None
    alone_high: float | None = None
    exercised: bool | None = None
    default: str | None = None


@dataclass(frozen=True)
class Sum:
    """A part of a bill for one metric that is no single control's; `half` of its interval."""

    metric: str
    cost: float
    half: float = 0.0


@dataclass(frozen=True)
class Least:
    """The smallest cost on a metric that is distinguishable from chance: one beyond `cost`.

    The sign does not matter. It is estimated from `placebos` configurations, whose differences have
    no effect; `cost` is 0 without any.
    """

    metric: str
    cost: float
    placebos: int


@dataclass(frozen=True)
class Unmeasured:
    """A control that is not part of a bill, since its guest did not bear it, and what happened.

    `place` is the control's location, as `file:line`, or "".
    """

    control: str
    reason: str
    place: str = ""


@dataclass(frozen=True)
class Bill:
    """The total cost of a profile, itemised.

    For each metric items + fixed + rest + interaction = total. `fixed` is what having any audit
    rule costs, whichever it is. `rules` are the controls that pay it once together: their `alone`
    contains it, and if there is one such rule, leaving it out saves it beside the item's cost.

    Items exceed the metric's `least`; smaller costs are in the rest, and so is an interaction that
    chance alone could produce. `controls` names all measured controls, those without an item too,
    in the profile's order; a search leaves it empty, since it has no number for most. `unshown`
    names those whose cost the numbers do not show. `compared_with` describes the baseline, such as
    "audit on, no rules", and `audit_off` how audit is off where it is. `accounting` has each rule
    of the benchmark's profile, if it is one's.

    `small` has the items that are in the rest, so that with `items` there is one for each control
    and metric; a search leaves it empty. `needs` maps a control to those that it requires, without
    which it was never measured. `pieces` are the profile's file, each a text and the controls that
    it is for (`profiles.pieces`). `unmeasured` are the profile's controls that the bill is without.
    `weights` says how often the user's workload does what each metric measures, and `covered` what
    part of the workload's calls that is; without weights, `weighing` has those of an assumed mix.
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
    small: tuple[Item, ...] = ()
    fixed: tuple[Sum, ...] = ()
    rules: tuple[str, ...] = ()
    needs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pieces: tuple[tuple[str, tuple[str, ...]], ...] = ()
    accounting: tuple[Accounted, ...] = ()
    audit_off: str = "audit=0"
    unmeasured: tuple[Unmeasured, ...] = ()
    weights: dict[str, float] = field(default_factory=dict)
    covered: float | None = None


@dataclass(frozen=True)
class Advice:
    """What to leave out so that no metric grows by more than `budget`, such as 0.05 for 5 %.

    `budgets` are those of metrics that have their own; `budget` is the budget of the others, None
    if they are unlimited. `totals` are measured with the remaining `kept` controls, not predicted;
    `within` says whether they keep the budget. `leave_out` names controls in the order in which
    they were given up. If no control fits the budget, or none of the audit rules, `alone` is what
    the cheapest of them costs by itself.
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
    the controls that all profiles have. `shared`: all are compared with the same baseline.
    """

    bills: tuple[Finding, ...]
    common: tuple[str, ...]
    shared: bool


@dataclass(frozen=True)
class Search:
    """How a search arrived at its bill, in sentences.

    `statement` was printed before anything was measured; `steps` are the measurements in order,
    each with its conclusion; `conclusions` are those of the whole search. `resolution` is the
    smallest cost that was sought, relative to the baseline's value. `adds_up` says whether the
    items and the rest make up the whole, within the resolution.
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
    """What a recorder saw in one trial."""

    configuration: str
    workload: str
    seed: int
    repetition: int
    observed: Observed


KERNEL = "kernel"
"""What a profile's places begin with that are in the kernel."""

CLOCK = "[clock]"
"""In a profile, what a sample is less than its window: what reading the clock takes and, of a
program's run, more or fewer of the kernel's ticks than such a run has on average."""


@dataclass(frozen=True)
class Moved:
    """A function's instructions for one operation under two configurations.

    `own` are those that it executed itself, `total` those of what it called, too. What stands in
    brackets is none: code without a symbol, waiting, the clock.
    """

    function: str
    own_before: float
    own_after: float
    total_before: float
    total_after: float

    @property
    def own(self) -> float:
        """By how much its own instructions differ."""
        return self.own_after - self.own_before

    @property
    def total(self) -> float:
        """By how much they differ with those of what it calls."""
        return self.total_after - self.total_before


@dataclass(frozen=True)
class Process:
    """What processes of a name, or a subsystem, executed for one operation."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Stack:
    """Functions, each called by the one before it, and what the last executed for one operation."""

    functions: tuple[str, ...]
    before: float
    after: float


@dataclass(frozen=True)
class Line:
    """A line of a function's source: what it executes for one operation.

    `own` are its own instructions, `total` those with all that it calls. `text` is the line, which
    lies in `file`; number 0 is code that comes of no line.
    """

    file: str
    number: int
    text: str
    own_before: float = 0.0
    own_after: float = 0.0
    total_before: float = 0.0
    total_after: float = 0.0


@dataclass(frozen=True)
class Source:
    """A function's lines, in the order of files and numbers; small gaps are lines without code."""

    function: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Profiled:
    """Where the cost of the configuration `after` over `before` arises, on one metric.

    `value` is what the metric is under `before`. The differences of the functions' own instructions
    add up to `cost`, and so do those of the processes and of the stacks. Functions and processes
    come by the size of that difference. `source` has the lines of a function, where those were
    counted one by one: their own instructions add up to the function's. `places` are functions
    below the kernel's subsystem and file that they are in, and add up to the cost as well.
    """

    workload: str
    metric: str
    unit: str
    before: str
    after: str
    value: float
    cost: float
    functions: tuple[Moved, ...]
    processes: tuple[Process, ...]
    stacks: tuple[Stack, ...]
    source: Source | None = None
    places: tuple[Stack, ...] = ()

    @property
    def subsystems(self) -> tuple[Process, ...]:
        """The subsystems of the kernel, and programs, that with the largest difference first."""
        sums: dict[str, list[float]] = {}
        for one in self.places:
            kernel, *below = one.functions
            both = sums.setdefault(below[0] if kernel == KERNEL else kernel, [0.0, 0.0])
            both[0] += one.before
            both[1] += one.after
        found = (Process(name, *both) for name, both in sums.items())
        return tuple(sorted(found, key=lambda one: (-abs(one.after - one.before), one.name)))


@dataclass(frozen=True)
class ControlProfiled:
    """Where the cost of one control of a profile arises, on one metric.

    `profiled` is the profile without it against the whole profile, so its cost is the control's in
    the bill.
    """

    control: str
    place: str
    profiled: Profiled


@dataclass(frozen=True)
class Failure:
    """A failed trial: the reason, the remedy, and the tail of the guest's log.

    `log` is text from the guest, and as untrusted as all its output.
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
    """The complete outcome of a run: reports read this and nothing else.

    `levels` maps a configuration's name to its axes, as in `design.plan.Configuration`.
    `machine` is "vm", "local" …; `environment` holds qemu, kernel, cpu_model, host and more.
    `scores` exist for configurations whose kernel hardcost has built. `failures` are the trials
    without cells, `observed` what the recorders saw, `profiles` where costs arise, `by_control`
    where those of single controls do, `traces` who ran when. `scale` is the study's size if one
    was given; the study's name then ends in it. `command` is the command line, word by word, and
    `folder` its working directory, if a word of it is a path relative to that. `choice` is what to
    give up for a budget, of the profile that `bill` is of. `successive` names the axis whose levels
    are shown one after the other, such as versions of a kernel. `counted` is the same bill of times
    in instructions, counted in the emulator. `asked` is the configuration whose cost the study is
    about, if it names one, and `about` says in prose what it compares. `unexercised` names
    configurations of which no metric reaches anything in which they differ from their baselines.
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
    profiles: tuple[Profiled, ...] = ()
    by_control: tuple[ControlProfiled, ...] = ()
    traces: tuple[Traced, ...] = ()
    command: tuple[str, ...] = ()
    folder: str = ""
    choice: Choice | None = None
    successive: str | None = None
    counted: Finding | None = None
    asked: str | None = None
    about: str = ""
    unexercised: tuple[str, ...] = ()

    @property
    def refused(self) -> frozenset[str]:
        """The controls that the guest of a bill did not bear, so that nothing is known of them."""
        bill = self.bill
        return frozenset() if bill is None else frozenset(one.control for one in bill.unmeasured)
