"""What a finding shows beside what was measured, worked out once, when it is made."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar, cast

from hardcost.analysis.bill.weights import control_order
from hardcost.analysis.estimates.geometric_mean import mean_penalties
from hardcost.analysis.study.published import published
from hardcost.analysis.study.published_pairs import figures
from hardcost.analysis.study.steps import changes
from hardcost.model.finding.bill import Bill, Bills, Item, Itemised
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.head import in_order
from hardcost.model.finding.study import StudyFinding

_Finding = TypeVar("_Finding", bound=Finding)


def completed(finding: _Finding) -> _Finding:
    """Return a finding with what follows from its cells, items and levels.

    A study's are its changes from level to level, published figures beside its own, and mean
    penalties. A bill's items come by their size, and bills of one run have its environment.
    """
    ordered: Finding = replace(finding, environment=in_order(finding.environment))
    return cast("_Finding", _whole(ordered))  # of the same class


def _whole(finding: Finding) -> Finding:
    match finding:
        case StudyFinding():
            return _study(finding)
        case Bills():
            own = (
                replace(one, machine=finding.machine, environment=finding.environment)
                for one in finding.bills
            )
            return replace(finding, bills=tuple(replace(one, items=by_size(one)) for one in own))
        case Bill():
            return replace(finding, items=by_size(finding))
        case _:
            return finding


def _study(study: StudyFinding) -> StudyFinding:
    has_means = study.source is not None and published(study.source).mean
    return replace(
        study,
        changes=None if study.successive is None else tuple(changes(study)),
        published=figures(study),
        means=mean_penalties(study.cells) if has_means else (),
    )


def by_size(bill: Itemised) -> tuple[Item, ...]:
    """Return a bill's items, those that cost most first; ties go to the metrics' order."""
    order = control_order(bill)
    metrics = {total.metric: nth for nth, total in enumerate(bill.totals)}

    def largest_first(item: Item) -> tuple[float, int, int]:
        cost = -item.cost if math.isfinite(item.cost) else math.inf
        return cost, metrics.get(item.metric, len(metrics)), order[item.control]

    return tuple(sorted(bill.items, key=largest_first))
