"""The answer's sentences on a bill that has both numbers, times and instructions."""

from __future__ import annotations

from collections.abc import Iterator

from hardcost.model.finding.bill import Bill
from hardcost.show.text import ratio
from hardcost.units import count, visible


def both_sentences(finding: Bill) -> Iterator[str]:
    """Yield on how many metrics the whole profile's two numbers disagree."""
    wholes = [one for one in finding.both or () if one.control is None]
    if not wholes:
        return
    differing = [one for one in wholes if one.disagrees]
    if not differing:
        agreeing = sum(not one.differ for one in wholes)
        open_ones = (
            "" if agreeing == len(wholes) else "; on the others time is too uncertain to say"
        )
        yield (
            f"Time and counted instructions agree within a factor of two on {agreeing} of"
            f" {count(len(wholes), 'metric')}{open_ones}."
        )
        return
    first = differing[0]
    time = ratio(first.ns_ratio) if first.measured else "not distinguishable from 0"
    yield (
        f"Time and instructions disagree on {len(differing)} of {count(len(wholes), 'metric')}, by"
        f" more than a factor of two: on {visible(first.metric)} the cost is"
        f" {ratio(first.insn_ratio)} in instructions, and in time {time}."
    )
