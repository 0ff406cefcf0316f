"""Bills whose costs are known for every choice of controls, not only for the measured ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from auditrules.model.location import Location
from hardcost.controls.control import Control, Profile
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.bill import Bill, Item, Sum, Total
from hardcost.model.workload import metric_of
from hardcost.profiles.toml_text import pieces

Cost = Callable[[frozenset[int]], float]

BASELINE = 1000.0
SETTINGS = tuple(Sysctl(f"kernel.setting_{nth}", "1", ids=(f"CCE-{nth}",)) for nth in range(6))


def shared(on: frozenset[int]) -> float:
    """Return costs that add up, and one that all share."""
    return 377.0 * bool(on) + sum(10.0 * (nth + 1) for nth in on)


def entangled(on: frozenset[int]) -> float:
    """Return costs of which 0 and 1 share one, and 2 and 3 make each other dearer."""
    return 500.0 * bool(on & {0, 1}) + 80.0 * ({2, 3} <= on) + sum(3.0 for _ in on)


COSTS: dict[str, Cost] = {"null": shared, "open": entangled}


def planted(
    costs: Mapping[str, Cost] = COSTS,
    controls: Sequence[Control] = SETTINGS,
    name: str = "planted",
) -> Bill:
    """Return the bill of a profile that costs what `costs` say of a choice, by metric."""
    every = frozenset(range(len(controls)))
    totals, items = [], []
    for metric, cost in costs.items():
        whole = cost(every)
        totals.append(Total(metric_of(metric), "insn/op", BASELINE, BASELINE + whole, whole))
        for nth, control in enumerate(controls):
            own, alone = whole - cost(every - {nth}), cost(frozenset({nth}))
            items.append(_item(control, nth, metric, own, alone, own / whole if whole else 0.0))
    daemon = (AuditDaemon(),) * any(isinstance(one, AuditRule) for one in controls)
    profile = Profile(name, f"The profile {name}", "", (*daemon, *controls))
    return Bill(
        run=f"bill-{name}-1",
        study="bill",
        title=profile.title,
        instrument="insn",
        cells=(),
        machine="vm",
        profile=name,
        profile_title=profile.title,
        totals=tuple(totals),
        items=tuple(item for item in items if item.cost),
        rest=tuple(Sum(metric_of(metric), 0.0) for metric in costs),
        interaction=tuple(
            Sum(of.metric, of.cost - sum(it.cost for it in items if it.metric == of.metric))
            for of in totals
        ),
        controls=tuple(control.name for control in controls),
        small=tuple(item for item in items if not item.cost),
        pieces=pieces(profile),
    )


def _item(  # noqa: PLR0913, PLR0917  (the parts of an item)
    control: Control, nth: int, metric: str, own: float, alone: float, share: float
) -> Item:
    place = f"{'10-first' if nth % 2 else '20-second'}.conf:{nth + 1}"
    item = Item(
        control.name,
        metric_of(metric),
        "insn/op",
        own,
        own,
        own,
        share,
        alone,
        None,
        Location.of(place),
    )
    return replace(item, ids=control.ids, alone_low=alone, alone_high=alone)
