"""`--call` and `--histogram`: what a bill's controls are ranked by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hardcost.analysis.mix import of_histogram
from hardcost.cli import budgets
from hardcost.cli.rules import common
from hardcost.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hardcost.analysis.finding import Bill
    from hardcost.auditrules.cost.predict import Histogram
    from hardcost.design.plan import Workload


@dataclass(frozen=True)
class Wanted:
    """One call, or a histogram of calls; with neither, a bill has its own order."""

    call: str | None = None
    counts: Histogram | None = None

    @classmethod
    def of(cls, call: str | None, file: Path | None, workloads: Sequence[Workload]) -> Wanted:
        """Return what the options say, checked before anything is measured where that is possible.

        Raises:
            InputError: The workload has no such call, or the histogram can't be read.
        """
        if call is not None and file is not None:
            raise InputError("--call is one call and --histogram all of them: use one of the two")
        known = budgets.metrics(workloads)
        if call is not None and known is not None:
            _check(call, known)
        return cls(call, None if file is None else common.histogram(file))

    def on(self, bill: Bill) -> Bill:
        """Return the bill with the weights of its metrics.

        Raises:
            InputError: It has none of the metrics.
        """
        names = [total.metric for total in bill.totals]
        if self.call is not None:
            _check(self.call, names)
            return replace(bill, weights={self.call: 1.0})
        if self.counts is None:
            return bill
        found = of_histogram(self.counts, names)
        if not found.weights:
            raise InputError(
                "--histogram counts none of the calls that are measured",
                hint="`--workload syscalls` measures the usual ones",
            )
        return replace(bill, weights=dict(found.weights), covered=found.covered)


def _check(call: str, names: Sequence[str]) -> None:
    if call not in names:
        raise InputError(f"--call: nothing measures {call!r}", hint=f"there is {', '.join(names)}")
