"""What `advise` found, as values: the choice for the budget, and the frontier of cost and value."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Costs:
    """What a choice costs on a metric, in its unit: `cost` over the `baseline`."""

    metric: str
    unit: str
    baseline: float
    cost: float
    limit: float | None = None

    @property
    def share(self) -> float:
        """The cost relative to the baseline; 0 where that is 0."""
        return self.cost / self.baseline if self.baseline else 0.0


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
    value: float
    metric: str
    unit: str
    baseline: float
    cost: float
    low: float
    high: float
    place: str = ""
    stands_for: tuple[str, ...] = ()


@dataclass(frozen=True)
class Level:
    """A point of the frontier: the best choice where each budget is multiplied by `factor`.

    `value` is the part of the profile's whole value that it keeps. `costs` are those of the metrics
    with a budget: measured, or predicted if not `measured`.
    """

    factor: float
    kept: int
    value: float
    given_up: tuple[str, ...]
    costs: tuple[Costs, ...]
    measured: bool


@dataclass(frozen=True)
class Offer:
    """What a larger budget than the user's keeps of the controls that are unkeepable within that.

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
    """Controls not one of which can be kept within the budget, and what larger ones keep of them.

    `kind` says which they are: each "audit rule", each "control", or, where weights say what has to
    be kept, each "required control". The first of `offers` is the least budget that keeps one of
    them, the second a round one above it; there is none where the first keeps all.
    """

    kind: str
    controls: tuple[str, ...]
    offers: tuple[Offer, ...]


@dataclass(frozen=True)
class Choice:
    """What to give up of a profile so that it keeps a budget.

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

    profile: str
    controls: int
    given_up: tuple[Abandoned, ...]
    before: tuple[Costs, ...]
    after: tuple[Costs, ...]
    value: float
    worth: str
    found: bool
    proposals: int
    put_back: int
    error: float
    frontier: tuple[Level, ...] = ()
    budget: float | None = None
    budgets: dict[str, float] = field(default_factory=dict)
    rewritten: tuple[str, ...] = ()
    equivalent: tuple[Costs, ...] = ()
    fixed: tuple[Costs, ...] = ()
    rules: tuple[str, ...] = ()
    unkeepable: Unkeepable | None = None

    @property
    def avoids_fixed(self) -> bool:
        """Whether all the rules that pay the price of having any are given up."""
        return set(self.rules) <= {one.control for one in self.given_up}

    @property
    def kept(self) -> int:
        """How many controls are kept."""
        return self.controls - len(self.given_up)

    @property
    def abandoned(self) -> tuple[Abandoned, ...]:
        """What is given up by choice, not because none of its kind can be kept."""
        none_of = () if self.unkeepable is None else self.unkeepable.controls
        return tuple(one for one in self.given_up if one.control not in none_of)

    @property
    def has_budget(self) -> bool:
        """Whether there is a budget to keep."""
        return self.budget is not None or bool(self.budgets)
