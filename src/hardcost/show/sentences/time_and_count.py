"""What the answer says of a bill that has both numbers, times and instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.analysis import bothways
from hardcost.report.text import ratio, visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.analysis.finding import Bill, Finding


def bills_of(finding: Finding) -> tuple[Bill, Bill] | None:
    """Return a finding's bill of times, and the one that counts the same; None: nobody counted."""
    counted = finding.counted.bill if finding.counted is not None else None
    if finding.bill is None or counted is None:
        return None
    return finding.bill, counted


def both_sentences(finding: Finding) -> Iterator[str]:
    """Yield on how many metrics the whole profile's two numbers disagree."""
    bills = bills_of(finding)
    wholes = () if bills is None else bothways.wholes(*bills)
    if not wholes:
        return
    differing = [one for one in wholes if one.disagrees]
    if not differing:
        agreeing = sum(not one.differ for one in wholes)
        open_ones = (
            "" if agreeing == len(wholes) else "; on the others time is too uncertain to tell"
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
