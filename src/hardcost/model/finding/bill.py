"""A bill: the cost of a profile, itemised by control."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, Self

from hardcost.model.accounts import Accounted
from hardcost.model.document import IfAny, IfKnown, Internal, Number, Place
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.head import Found, Score
from hardcost.model.role import Role
from hardcost.model.workload import MetricId


@dataclass(frozen=True)
class Total:
    """A profile's whole cost for one metric: `cost` = `with_profile` - `baseline`.

    `cost` is computed like an item's, sample by sample, so that a profile of one control costs what
    the control does; `with_profile` follows from it. A cost of up to `least` cannot be
    distinguished from chance. [low, high] is the cost's 95 % interval, None for a single trial of
    an exact instrument.
    """

    metric: MetricId
    unit: str
    baseline: Number
    with_profile: Number
    cost: Number
    distinguishable: bool = field(init=False, default=False)
    least: Internal[float] = 0.0
    low: IfKnown[Number | None] = None
    high: IfKnown[Number | None] = None

    def __post_init__(self) -> None:
        """Work out whether the cost exceeds the noise."""
        above_chance = abs(self.cost) > self.least and not self.may_be_nothing
        object.__setattr__(self, "distinguishable", above_chance)

    @property
    def may_be_nothing(self) -> bool:
        """Say whether the interval includes values on both sides of 0."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high


Known = Literal["measured", "verified"]
"""How a cost is known: by leaving out the control, or predicted and confirmed in groups."""


@dataclass(frozen=True)
class Verification:
    """How predicted costs were confirmed.

    `groups` of controls were left out of the profile. `wrong` are the controls whose prediction the
    groups found to be off; they were measured by themselves. `prior` says where predictions come
    from, beside those of the controls whose cost `earlier` bills of the kernel in the store say.
    `escaping` is in what share of such bills the errors of four controls, two of +e and two
    of -e, would cancel in every group; those of up to three never do.
    """

    groups: int
    wrong: tuple[str, ...]
    prior: str
    earlier: IfAny[tuple[str, ...]] = field(kw_only=True, default=())
    escaping: Number


@dataclass(frozen=True)
class Item:
    """One control's part of a bill for one metric.

    `cost` is what leaving it out of the profile saves, compared sample by sample; `alone` is its
    cost by itself over the baseline; `share` is `cost` over the total's cost (0 if that is 0).
    `fired` counts the audit records that it caused in the whole profile while the metric was
    measured; None: unknown. `place` is the control's location, None where no file says it.
    `predicted` is the audit cost model's prediction of `cost`, None if it makes none; `findings`
    are the codes of lint's diagnostics for the rule; `ids` are the control's names in benchmarks,
    `severity` the gravest that they give it, "" if none; `caveat` says what the numbers do not show
    of its cost, "" if they show it all. [alone_low, alone_high] is the 95 % interval of `alone`,
    None if unknown. `exercised` says whether any metric reaches what the control acts on; None:
    unknown. `default` is "kernel" or "distribution" where the control is its default anyway.

    `known` says how `cost` is known: `measured` by leaving out this control, or `verified`: it was
    predicted, and trials that left out groups of controls with this one confirmed it, so many
    (`groups`), the smallest group having `smallest_group` controls. `alone` is None where it was
    not measured.
    """

    control: str
    metric: MetricId
    unit: Internal[str]
    cost: Number
    low: Number
    high: Number
    share: Number
    alone: Number | None
    fired: int | None
    place: Place = None
    known: Known = "measured"
    groups: IfKnown[int | None] = None
    smallest_group: IfKnown[int | None] = None
    exercised: bool | None = None
    predicted: IfKnown[Number | None] = None
    findings: IfAny[tuple[str, ...]] = ()
    ids: IfAny[tuple[str, ...]] = ()
    severity: IfAny[str] = ""
    default: str | None = None
    caveat: IfAny[str] = ""
    alone_low: Internal[float | None] = None
    alone_high: Internal[float | None] = None


@dataclass(frozen=True)
class Sum:
    """A part of a bill for one metric that is no single control's; `half` of its interval."""

    metric: MetricId
    cost: Number
    half: Internal[float] = 0.0


@dataclass(frozen=True)
class Least:
    """The smallest cost on a metric that is distinguishable from chance: one beyond `cost`.

    The sign does not matter. It is estimated from `placebos` configurations, whose differences have
    no effect; `cost` is 0 without any.
    """

    metric: MetricId
    cost: Number
    placebos: int


@dataclass(frozen=True)
class Unmeasured:
    """A control that is not part of a bill, since its guest failed under it, and the failure.

    `place` is the control's location, None where no file says it.
    """

    control: str
    reason: str
    place: IfAny[Place] = None

    @property
    def named(self) -> str:
        """The control and, where it is known, its location, such as `mds=ful (my.toml:6)`."""
        return f"{self.control} ({self.place})" if self.place else self.control


@dataclass(frozen=True, kw_only=True)
class Itemised:
    """The total cost of a profile, itemised, from which all figures of a bill follow.

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
    `verification` says how `verified` costs were confirmed, None where all were measured.
    `weights` says how often the user's workload does what each metric measures, and `covered` what
    part of the workload's calls that is; without weights, `analysis.bill.weights` has those of an
    assumed mix.
    """

    profile: str
    totals: tuple[Total, ...]
    items: tuple[Item, ...]
    fixed: tuple[Sum, ...] = ()
    rest: tuple[Sum, ...] = ()
    interaction: tuple[Sum, ...] = ()
    least: tuple[Least, ...] = ()
    accounting: IfAny[tuple[Accounted, ...]] = ()
    unmeasured: IfAny[tuple[Unmeasured, ...]] = ()
    verification: IfKnown[Verification | None] = None
    profile_title: Internal[str] = ""
    compared_with: Internal[str] = ""
    controls: Internal[tuple[str, ...]] = ()
    unshown: Internal[tuple[str, ...]] = ()
    small: Internal[tuple[Item, ...]] = ()
    rules: Internal[tuple[str, ...]] = ()
    needs: Internal[dict[str, tuple[str, ...]]] = field(default_factory=dict)
    pieces: Internal[tuple[tuple[str, tuple[str, ...]], ...]] = ()
    audit_off: Internal[str] = "audit=0"
    weights: Internal[dict[MetricId, float]] = field(default_factory=dict)
    covered: Internal[float | None] = None


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The controls to leave out so that no metric grows by more than `budget` (0.05 is 5 %).

    `budgets` are those of metrics that have their own; `budget` is the budget of the others, None
    if they are unlimited. `totals` are measured with the remaining `kept` controls, not predicted;
    `within` says whether they keep the budget. `leave_out` names controls in the order in which
    they were given up. If no control fits the budget, or none of the audit rules, `alone` is what
    the cheapest of them costs by itself.
    """

    budget: float | None
    budgets: IfAny[dict[str, float]] = field(default_factory=dict)
    within: bool
    kept: int
    leave_out: tuple[str, ...]
    totals: tuple[Total, ...]
    alone: Internal[tuple[Total, ...]] = ()


@dataclass(frozen=True)
class Story:
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
    resolution: Number
    adds_up: bool


Differ = Literal["", "unknown", "less", "more", "direction"]
"""How time disagrees with instructions: it grows by less or more than they by a factor of two, or
the one grows where the other shrinks; "" if they agree, unknown if the interval says neither."""


@dataclass(frozen=True)
class Both:
    """The cost of one control on a metric, or with `control` None of the whole profile.

    `insn` is its cost in instructions, `ns` in nanoseconds with the interval [ns_low, ns_high], all
    for the metric's operation; the ratios are of the baseline with this cost to the baseline.
    `measured`: the time is distinguishable from noise. If it can't, `apportioned` is its part by
    count of the bill's rest, in ns; None if the rest is noise, too. `share` is its part of the
    whole profile's instructions, None for the whole. `differ` and `why` say how the two disagree,
    and a likely reason.
    """

    control: str | None
    metric: MetricId
    insn: Number
    insn_ratio: Number
    ns: Number
    ns_low: Number
    ns_high: Number
    ns_ratio: Number
    measured: bool
    apportioned: Number | None = None
    share: Number | None = None
    fired: int | None = None
    differ: Differ = ""
    why: IfAny[str] = ""

    @property
    def disagrees(self) -> bool:
        """Whether the two disagree for certain."""
        return self.differ not in {"", "unknown"}


@dataclass(frozen=True, kw_only=True)
class Bill(Itemised, Found):
    """The cost of a profile, itemised by control.

    `both` has each cost of a bill of times beside its count of instructions, which were counted in
    a run of their own: `counted_on` says where. `advice` is what to leave out for a budget, and
    `search` how the costs were found, if by a search.
    """

    kind: Literal["bill"] = "bill"
    both: IfKnown[tuple[Both, ...] | None] = None
    counted_on: IfAny[dict[str, str]] = field(default_factory=dict)
    advice: IfKnown[Advice | None] = None
    search: IfKnown[Story | None] = None
    scores: IfAny[dict[Role, Score]] = field(default_factory=dict)

    @classmethod
    def of(  # noqa: PLR0913  (what a run adds)
        cls,
        itemised: Itemised,
        *,
        run: str,
        study: str,
        title: str,
        instrument: str,
        cells: tuple[Cell, ...],
        notes: tuple[str, ...],
        search: Story | None = None,
    ) -> Self:
        """Return the bill of costs that were itemised, of the run in which they were found."""
        return cls(
            run=run,
            study=study,
            title=title,
            instrument=instrument,
            cells=cells,
            notes=notes,
            search=search,
            **{one.name: getattr(itemised, one.name) for one in fields(Itemised)},
        )

    @property
    def refused(self) -> frozenset[str]:
        """The controls that the guest did not bear, so that nothing is known of them."""
        return frozenset(one.control for one in self.unmeasured)

    @property
    def is_incomplete(self) -> bool:
        """Whether the bill lacks controls that the guest did not bear."""
        return bool(self.unmeasured)

    @property
    def is_over_budget(self) -> bool:
        """Whether the profile was over its budget, so that something is to be left out."""
        return self.advice is not None and bool(self.advice.leave_out)


@dataclass(frozen=True, kw_only=True)
class Bills(Found):
    """The bills of several profiles that were measured in one run.

    `common` names the controls that all profiles have. `shared_baseline`: all are compared with the
    same baseline.
    """

    kind: Literal["bills"] = "bills"
    scores: IfAny[dict[Role, Score]] = field(default_factory=dict)
    common: tuple[str, ...]
    shared_baseline: bool
    bills: tuple[Bill, ...]

    @property
    def is_incomplete(self) -> bool:
        """Whether a bill lacks controls that the guest did not bear."""
        return any(one.is_incomplete for one in self.bills)

    @property
    def is_over_budget(self) -> bool:
        """Whether a profile was over its budget."""
        return any(one.is_over_budget for one in self.bills)
