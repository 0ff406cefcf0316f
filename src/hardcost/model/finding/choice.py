"""The controls to give up for a budget, and the frontier of cost and value."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, Self

from hardcost.model.document import IfAny, IfKnown, Internal, Number, Places
from hardcost.model.finding.bill import Bill
from hardcost.model.workload import MetricId


@dataclass(frozen=True)
class Costs:
    """The cost of a choice on a metric, in its unit: `cost` over the `baseline`."""

    metric: MetricId
    unit: str
    baseline: Number
    cost: Number
    share: Number = field(init=False, default=0.0)
    limit: IfKnown[Number | None] = None

    def __post_init__(self) -> None:
        """Work out the cost relative to the baseline; 0 where that is 0."""
        share = self.cost / self.baseline if self.baseline else 0.0
        object.__setattr__(self, "share", share)


@dataclass(frozen=True)
class Abandoned:
    """A control that is given up.

    `value` is what keeping it would be worth. `cost` is what leaving it out of the whole profile
    saves on `metric`, the one with a budget on which that is most; [low, high] is its 95 %
    interval. All are in `unit`. `stands_for` names the controls of the profile that it replaces, if
    it is an equivalent of them.
    """

    control: str
    ids: tuple[str, ...]
    severity: str
    value: Number
    metric: MetricId
    unit: str
    baseline: Number
    cost: Number
    low: Number
    high: Number
    place: Places = ()
    stands_for: IfAny[tuple[str, ...]] = ()

    @property
    def where(self) -> str:
        """Its location, or all that it replaces, as text; "" where no file says it."""
        return ", ".join(map(str, self.place))


@dataclass(frozen=True, kw_only=True)
class FrontierLevel:
    """A point of the frontier: the best choice where each budget is multiplied by `factor`.

    `value` is the part of the profile's whole value that it keeps. `costs` are those of the metrics
    with a budget: measured, or predicted if not `measured`.
    """

    factor: Number
    kept: int
    value: Number
    measured: bool
    costs: tuple[Costs, ...]
    given_up: tuple[str, ...]


@dataclass(frozen=True)
class Offer:
    """A larger budget, and which of the controls it keeps that the user's budget can't.

    `budget` and `budgets` are as in `Advice`. `kept` names those controls, `costs` are those of the
    whole choice: measured, or predicted if not `measured`.
    """

    budget: float | None
    budgets: dict[str, float]
    kept: tuple[str, ...]
    costs: tuple[Costs, ...]
    measured: bool


@dataclass(frozen=True)
class Unkeepable:
    """Controls not one of which fits the budget, and larger budgets that keep some of them.

    `kind` says which they are: each "audit rule", each "control", or, where weights say what has to
    be kept, each "required control". The first of `offers` is the least budget that keeps one of
    them, the second a round one above it; there is none where the first keeps all.
    """

    kind: str
    controls: tuple[str, ...]
    offers: tuple[Offer, ...]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The controls to give up of a profile so that it keeps a budget.

    `budget` and `budgets` are as in `Advice`; without both, only the frontier was wanted. `found`
    says whether anything of the profile can be kept within the budget. `before` and `after` are the
    costs of the whole profile and of what is kept, measured. `value` is the part of the whole value
    that is kept, `worth` says where values come from. `proposals` counts the choices that were
    measured, `put_back` those controls that were measured back in, in vain; `error` is the largest
    error of a prediction, relative to the baseline. `rewritten` says what an equivalent replaced,
    and `equivalent` what all of that costs, measured; both are empty where nothing was. `fixed` is
    the price of having any audit rule on the metrics with a budget, where it is distinguishable
    from 0; the controls `rules` pay it once together. `unkeepable` is None where something of each
    kind of control can be kept.
    """

    budget: float | None = None
    budgets: dict[str, float] = field(default_factory=dict)
    found: bool
    controls: int
    kept: int = field(init=False, default=0)
    value: Number
    worth: str
    given_up: tuple[Abandoned, ...]
    before: tuple[Costs, ...]
    after: tuple[Costs, ...]
    proposals: int
    put_back: int
    error: Number
    frontier: tuple[FrontierLevel, ...] = ()
    rewritten: IfAny[tuple[str, ...]] = ()
    equivalent: IfAny[tuple[Costs, ...]] = ()
    fixed: tuple[Costs, ...] = ()
    rules: tuple[str, ...] = ()
    unkeepable: IfKnown[Unkeepable | None] = None
    profile: Internal[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", self.controls - len(self.given_up))

    @property
    def avoids_fixed(self) -> bool:
        """Whether all the rules that pay the price of having any are given up."""
        return set(self.rules) <= {one.control for one in self.given_up}

    @property
    def abandoned(self) -> tuple[Abandoned, ...]:
        """The controls given up by choice, not because none of their kind can be kept."""
        none_of = () if self.unkeepable is None else self.unkeepable.controls
        return tuple(one for one in self.given_up if one.control not in none_of)

    @property
    def has_budget(self) -> bool:
        """Whether there is a budget to keep."""
        return self.budget is not None or bool(self.budgets)


@dataclass(frozen=True, kw_only=True)
class Advised(Bill):
    """A profile's bill, and the controls to give up for a budget."""

    kind: Literal["choice"] = "choice"  # type: ignore[assignment]  # a bill, and more
    choice: Choice

    @classmethod
    def of_bill(cls, bill: Bill, choice: Choice) -> Self:
        """Return a profile's bill with what to give up of it."""
        own = {one.name: getattr(bill, one.name) for one in fields(Bill) if one.name != "kind"}
        return cls(**own, choice=choice)

    @property
    def is_over_budget(self) -> bool:
        """Whether the profile was over its budget, so that something is to be given up."""
        return self.choice.has_budget and bool(self.choice.given_up)
