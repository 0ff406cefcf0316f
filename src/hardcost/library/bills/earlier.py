"""What earlier bills in the store say that controls cost: where the next bill expects it.

It decides which trials are run, and becomes a cost only where trials of the new bill confirm it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping

from hardcost.analysis.verification.groups import Predictions
from hardcost.instruments.insn import INSN
from hardcost.measure.run import Run
from hardcost.model.finding.bill import Bill
from hardcost.model.workload import MetricId

_LAST = 5
"""So many bills are taken: the newest of the same kernel."""

_MOST_READ = 20  # bills of any kernel, which take some tenths of a second each
_SAME = ("kernel", "qemu", "cpu_model")  # of two environments in which controls cost alike
_NAMES = ("bill-", "advise-")


def earlier_costs(
    run: Run, environment: Mapping[str, str], metrics: Collection[MetricId]
) -> dict[str, Predictions]:
    """Return what controls cost by earlier bills of a kernel, by the control's name.

    Only bills of instructions that measured all of `metrics` count, and of each control the newest.
    """
    found: dict[str, Predictions] = {}
    for bill in itertools.islice(_bills(run, environment, metrics), _LAST):
        for name, costs in _costs(bill).items():
            found.setdefault(name, costs)
    return found


def _bills(
    run: Run, environment: Mapping[str, str], metrics: Collection[MetricId]
) -> Iterator[Bill]:
    for finding in itertools.islice(run.earlier_findings(_NAMES), _MOST_READ):
        if (
            isinstance(finding, Bill)
            and finding.instrument == INSN.name
            and all(finding.environment.get(key) == environment.get(key) for key in _SAME)
            and set(metrics) <= {one.metric for one in finding.totals}
        ):
            yield finding


def _costs(bill: Bill) -> dict[str, dict[MetricId, float]]:
    """Return the cost of each control with an item; one that is not distinguishable from 0 is 0."""
    costs: dict[str, dict[MetricId, float]] = {}
    for item in bill.items:
        costs.setdefault(item.control, {})[item.metric] = item.cost
    return costs
