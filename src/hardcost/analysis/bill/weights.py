"""How much each metric of a bill counts, for its first sentence and the order of its controls.

Single calls count as often as a mix of calls makes them: the user's histogram, or the assumed mix
that `hardcost rules cost` has, too. Metrics of programs overlap and are never added up: one of them
leads, the whole program where there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from auditrules.cost import histogram
from hardcost.analysis.bill.mix import of_histogram
from hardcost.model.finding.bill import Item, Itemised, Least, Sum, Total
from hardcost.model.workload import MetricId
from hardcost.units import is_rate

AVERAGE = MetricId("average call")
"""The metric that is the mean over a mix of calls."""

WHOLE = "wall"
"""The metric of a whole program, which its others are parts of."""

_CALL = "/op"
"""How the unit of a single call ends."""


@dataclass(frozen=True)
class Weighing:
    """The weights of metrics in the cost that orders a bill; their sum is 1.

    `covered` is the part of the mix's calls that was measured, None if there is no mix; `assumed`
    says that the mix is not the user's.
    """

    weights: Mapping[MetricId, float]
    covered: float | None = None
    assumed: bool = False

    @property
    def leading(self) -> MetricId | None:
        """The metric that leads the bill: `AVERAGE` if several have a part, None without any."""
        return next(iter(self.weights), None) if len(self.weights) < 2 else AVERAGE  # noqa: PLR2004

    def mean(self, values: Mapping[MetricId, float]) -> float:
        """Return the weighted mean of values by metric; a missing value is 0."""
        parts = ((part, values.get(metric, 0.0)) for metric, part in self.weights.items())
        return math.fsum(part * value for part, value in parts)


def weighing(bill: Itemised) -> Weighing:
    """Return how much each metric counts: as the user said, else as the assumed mix has it."""
    totals = [one for one in bill.totals if math.isfinite(one.baseline + one.with_profile)]
    if bill.weights:
        return Weighing(_parts(bill.weights), bill.covered)
    calls = [one.metric for one in totals if one.unit.endswith(_CALL)]
    assumed = of_histogram(histogram.general(), calls)
    if assumed.weights:
        return Weighing(_parts(assumed.weights), assumed.covered, assumed=True)
    leading = _leading(totals)
    return Weighing({} if leading is None else {leading.metric: 1.0})


def _parts(counts: Mapping[MetricId, float]) -> dict[MetricId, float]:
    whole = math.fsum(counts.values())
    return {metric: count / whole for metric, count in counts.items()}


def _leading(totals: Iterable[Total]) -> Total | None:
    """Return the metric of the whole program, else the one that grew most; noise comes last."""

    def rank(one: Total) -> tuple[bool, bool, float]:
        whole = one.metric.name == WHOLE
        grown = abs(one.cost / one.baseline) if one.baseline else 0.0
        return one.distinguishable, whole, grown

    return max(totals, key=rank, default=None)


def control_order(bill: Itemised) -> dict[str, int]:
    """Return each control's place in the bill, from 0: the largest first.

    The size of a control is its cost on what leads the bill: the average call, a call, or a
    program. Ties go to the largest share of any metric, then to the profile's order.
    """
    weighed = weighing(bill)
    costs: dict[str, dict[MetricId, float]] = {}
    shares: dict[str, float] = {}
    for item in bill.items:
        cost = -item.cost if is_rate(item.unit) else item.cost
        if math.isfinite(cost):
            costs.setdefault(item.control, {})[item.metric] = cost
        share = item.share if math.isfinite(item.share) else 0.0
        shares[item.control] = max(share, shares.get(item.control, share))
    every = dict.fromkeys((*bill.controls, *(item.control for item in bill.items)))
    sizes = {control: weighed.mean(costs.get(control, {})) for control in every}
    ordered = sorted(every, key=lambda one: (-sizes[one], -shares.get(one, 0.0)))
    return {control: nth for nth, control in enumerate(ordered)}


def with_average(bill: Itemised, weighed: Weighing) -> Itemised:
    """Return the bill with the average call as its first metric, if several calls have a part.

    Every part of it is the mean of the calls' parts, so it adds up as they do. Its intervals are as
    wide as if all calls were off in the same direction.
    """
    if weighed.leading != AVERAGE:
        return bill
    first = {one.metric: one for one in bill.totals}
    own = [first[metric] for metric in weighed.weights]

    def mean(of: Callable[[Total], float]) -> float:
        return weighed.mean({one.metric: of(one) for one in own})

    spread = all(one.low is not None and one.high is not None for one in own)
    total = Total(
        AVERAGE,
        own[0].unit,
        mean(lambda one: one.baseline),
        mean(lambda one: one.with_profile),
        mean(lambda one: one.cost),
        mean(lambda one: one.least),
        mean(lambda one: one.low or 0.0) if spread else None,
        mean(lambda one: one.high or 0.0) if spread else None,
    )
    least = weighed.mean({one.metric: one.cost for one in bill.least})
    placebos = max((one.placebos for one in bill.least), default=0)
    return replace(
        bill,
        totals=(total, *bill.totals),
        items=(*_items(bill, weighed, total), *bill.items),
        fixed=(*_sum(bill.fixed, weighed), *bill.fixed),
        rest=(*_sum(bill.rest, weighed), *bill.rest),
        interaction=(*_sum(bill.interaction, weighed), *bill.interaction),
        least=(*([Least(AVERAGE, least, placebos)] if bill.least else []), *bill.least),
    )


def _sum(sums: Iterable[Sum], weighed: Weighing) -> list[Sum]:
    known = tuple(sums)
    cost = weighed.mean({one.metric: one.cost for one in known})
    half = weighed.mean({one.metric: one.half for one in known})
    return [Sum(AVERAGE, cost, half)] if known else []


def _items(bill: Itemised, weighed: Weighing, total: Total) -> Iterable[Item]:
    """Yield each control's item on the average call; costs in the rest count for `alone` only."""
    large: dict[str, dict[MetricId, Item]] = {}
    every: dict[str, dict[MetricId, Item]] = {}
    for item in bill.items:
        large.setdefault(item.control, {})[item.metric] = item
    for item in (*bill.small, *bill.items):
        every.setdefault(item.control, {})[item.metric] = item
    for control, own in large.items():
        if not weighed.weights.keys() & own.keys():
            continue
        known = every[control]
        complete = weighed.weights.keys() <= known.keys()
        cost = weighed.mean({metric: item.cost for metric, item in own.items()})
        guesses = {metric: item.predicted for metric, item in own.items()}
        guessed = {metric: guess for metric, guess in guesses.items() if guess is not None}
        yield replace(
            next(iter(own.values())),
            metric=AVERAGE,
            unit=total.unit,
            cost=cost,
            low=weighed.mean({metric: item.low for metric, item in own.items()}),
            high=weighed.mean({metric: item.high for metric, item in own.items()}),
            share=cost / total.cost if total.cost else 0.0,
            alone=_mean_alone(weighed, known) if complete else math.nan,
            alone_low=None,
            alone_high=None,
            fired=None,
            predicted=weighed.mean(guessed) if weighed.weights.keys() <= guessed.keys() else None,
        )


def _mean_alone(weighed: Weighing, known: Mapping[MetricId, Item]) -> float | None:
    """Return the mean cost of a control alone; None if it was not measured alone."""
    alone = {metric: item.alone for metric, item in known.items() if item.alone is not None}
    return weighed.mean(alone) if alone.keys() == known.keys() else None
