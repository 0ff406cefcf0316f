"""What a setting costs while the others of a profile are on, beside what it costs by itself."""

from __future__ import annotations

from dataclasses import dataclass

from hardcost.model.finding.price import is_call
from hardcost.model.workload import workload_of
from hardcost.prices.price_list import CostInterval, PriceList

_REFUSED = 0.5  # share of a call's work below which the profile refuses it


@dataclass(frozen=True)
class InCompany:
    """The calls to which a control adds something else within a profile than by itself.

    `compared` is how many calls were compared: those to which it adds something by itself, and
    which the profile does not refuse. `apart` has workload and metric of some of them, with the
    cost within.
    """

    compared: int
    apart: tuple[tuple[str, str, CostInterval], ...]


def compare(control: str, alone: PriceList, inside: PriceList) -> InCompany | None:
    """Return how a control's costs in two lists differ; None where one of them has none.

    What it seems to add within to calls to which it adds nothing by itself is too often chance.
    """
    here, there = alone.price_of(control), inside.price_of(control)
    if here is None or there is None or here.why is not None or there.why is not None:
        return None
    compared, apart = 0, []
    for workload, metric in here.metrics:
        base = inside.head.base.get(workload, {}).get(metric)
        if base is None or workload in there.missing or not is_call(workload_of(workload)):
            continue
        if base < _REFUSED * alone.head.base[workload][metric]:
            continue
        compared += 1
        _, low, high = here.costs[workload][metric]
        cost = there.costs.get(workload, {}).get(metric, (0.0, 0.0, 0.0))
        chance = sum(of.head.least.get(workload, {}).get(metric, 0.0) for of in (alone, inside))
        if cost[1] > high + chance or cost[2] < low - chance:
            apart.append((workload, metric, cost))
    return InCompany(compared, tuple(apart))
