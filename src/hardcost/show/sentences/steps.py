"""The changes from one level of an axis to the next, in a sentence for each step."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hardcost.analysis.study.steps import WHATEVER
from hardcost.model.finding.study import LevelChange, StudyFinding
from hardcost.show.sentences.amounts import growth_words, quote_name
from hardcost.show.text import ratio
from hardcost.units import visible


def successive_sentences(finding: StudyFinding) -> Iterator[str]:
    """Yield the mean change of each step along the successive axis, and the largest."""
    steps: dict[tuple[str, str], list[LevelChange]] = {}
    for change in finding.changes or ():
        if math.isfinite(change.ratio) and change.ratio > 0:
            steps.setdefault((change.before, change.after), []).append(change)
    axis = visible(finding.successive or "")
    for (before, after), found in steps.items():
        start = f"From {axis} {visible(before)} to {visible(after)}"
        logarithms = [math.log(one.ratio) for one in found]
        mean = math.exp(math.fsum(logarithms) / len(found))
        clear = [one for one in found if not one.may_be_chance] or found
        most = max(clear, key=lambda one: abs(math.log(one.ratio)))
        if most.may_be_chance:
            yield f"{start} nothing changes."
            continue
        metric = f"{quote_name(most.metric)} of {visible(most.workload)}"
        if len({one.workload for one in found}) == 1:
            metric = quote_name(most.metric)
        state = "" if most.state == WHATEVER else f" under {quote_name(most.state)}"
        yield (
            f"{start}, a metric is {growth_words(mean, most.unit)} on average;"
            f" {metric}{state} changes most, to {ratio(most.ratio)[1:]} times what it was."
        )
