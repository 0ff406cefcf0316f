"""What a bill's controls are ranked by: one call, or how often a workload makes each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditrules.cost.predict import Histogram
from hardcost.analysis.bill.mix import of_histogram
from hardcost.errors import RequestError
from hardcost.library.bills import budgets
from hardcost.model.finding.bill import Itemised
from hardcost.model.workload import Workload


@dataclass(frozen=True)
class Ranking:
    """One call, or a histogram of calls; with neither, a bill has its own order."""

    call: str | None = None
    counts: Histogram | None = None

    def check(self, workloads: Sequence[Workload]) -> None:
        """Check, before anything is measured, what can be known by then.

        Raises:
            InputError: The workload has no such call, or there are both a call and counts.
        """
        if self.call is not None and self.counts is not None:
            raise RequestError("`call` is one call and `histogram` all of them: use one of the two")
        known = budgets.metrics(workloads)
        if self.call is not None and known is not None:
            _check(self.call, known)

    def on(self, bill: Itemised) -> Itemised:
        """Return the bill with the weights of its metrics.

        Raises:
            InputError: It has none of the metrics.
        """
        names = [total.metric for total in bill.totals]
        if self.call is not None:
            _check(self.call, list(map(str, names)))
            return replace(bill, weights={one: 1.0 for one in names if str(one) == self.call})
        if self.counts is None:
            return bill
        found = of_histogram(self.counts, names)
        if not found.weights:
            raise RequestError(
                "`histogram` counts none of the calls that are measured",
                hint="`workloads` syscalls measures the usual ones",
            )
        return replace(bill, weights=dict(found.weights), covered=found.covered)


def _check(call: str, names: Sequence[str]) -> None:
    if call not in names:
        raise RequestError(
            f"`call`: nothing measures {call!r}", hint=f"there is {', '.join(names)}"
        )
