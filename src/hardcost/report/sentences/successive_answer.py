"""What changes from one level of an axis to the next, in a sentence for each step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hardcost.report.sentences.amounts import grown, quoted
from hardcost.report.successive import WHATEVER, Change, changes
from hardcost.report.text import ratio, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.analysis.finding import Finding


def successive_sentences(finding: Finding) -> Iterator[str]:
    """Yield the mean change of each step along the successive axis, and the largest."""
    steps: dict[tuple[str, str], list[Change]] = {}
    for change in changes(finding):
        if math.isfinite(change.pair.ratio) and change.pair.ratio > 0:
            steps.setdefault((change.before, change.after), []).append(change)
    axis = visible(finding.successive or "")
    for (before, after), found in steps.items():
        start = f"From {axis} {visible(before)} to {visible(after)}"
        logarithms = [math.log(one.pair.ratio) for one in found]
        mean = math.exp(math.fsum(logarithms) / len(found))
        told = [one for one in found if not one.pair.may_be_equal] or found
        most = max(told, key=lambda one: abs(math.log(one.pair.ratio)))
        if most.pair.equal or most.pair.may_be_equal:
            yield f"{start} nothing changes."
            continue
        cell = most.pair.b
        metric = f"{quoted(cell.metric)} of {visible(cell.workload)}"
        if len({one.pair.b.workload for one in found}) == 1:
            metric = quoted(cell.metric)
        state = "" if most.state == WHATEVER else f" under {quoted(most.state)}"
        yield (
            f"{start}, a metric is {grown(mean, cell.unit)} on average; {metric}{state} changes"
            f" most, to {ratio(most.pair.ratio)[1:]} times what it was."
        )
