"""Which trials the machine's other work disturbed: a rule that sees no result.

The rule is fixed here, before anything is measured, and looks at the machine's own counters alone.
So what it sets aside can't depend on whether a time was pleasing. What it sets aside stays in the
store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hardcost.plan.factorial import block_of
from hardcost.store.record import Record
from hardcost.units import count

MOST_STOLEN = 0.01
"""The share of a trial's time that a hypervisor may give to others."""

MOST_DRIFT = 0.05
"""By how much of itself the processor's frequency may differ between a trial's begin and end."""

LEAST_BESIDE = 0.05
"""The share of a call's windows in which each of its copies ran; a copy that executes a program
over and over has some 20 %."""

MOST_SET_ASIDE = 1 / 3
"""If more blocks than this share are disturbed, the machine is always so, and all of them count."""


def reasons(record: Record) -> tuple[str, ...]:
    """Return the causes of a trial's disturbance; () if there are none, or it was not watched."""
    return disturbances(record.surroundings, record.host_seconds)


def disturbances(surroundings: Mapping[str, float], host_seconds: float) -> tuple[str, ...]:
    """Return the causes in its surroundings that disturbed a trial of so many seconds."""
    return tuple(_reasons(surroundings, host_seconds))


def set_aside(records: Sequence[Record]) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """Return the records of undisturbed blocks, and notes on the others.

    A block goes as a whole, so that configurations stay comparable.
    """
    found = {block_of(one.seed, one.repetition): reasons(one) for one in records if reasons(one)}
    blocks = {block_of(one.seed, one.repetition) for one in records}
    if not found:
        return tuple(records), ()
    why = ", ".join(sorted({reason for some in found.values() for reason in some}))
    blocks_said = f"{len(found)} of {count(len(blocks), 'block')} of trials"
    if len(found) > MOST_SET_ASIDE * len(blocks):
        usual = "that is usual on this machine, so all are counted"
        note = f"{blocks_said} were disturbed ({why}): {usual}"
        return tuple(records), (note,)
    kept = tuple(one for one in records if block_of(one.seed, one.repetition) not in found)
    return kept, (f"{blocks_said} were disturbed ({why}), and are left out",)


def _reasons(seen: Mapping[str, float], host_seconds: float) -> Iterator[str]:
    if seen.get("steal_seconds", 0.0) > MOST_STOLEN * host_seconds:
        yield "the hypervisor gave the processor to others"
    before, after = seen.get("megahertz_before"), seen.get("megahertz")
    if before and after and abs(after - before) > MOST_DRIFT * before:
        yield "the processor's frequency changed"
    if seen.get("throttles", 0.0) > 0:
        yield "the processor was throttled for its heat"
    if seen.get("pinned", 1.0) == 0:
        yield "the process was not held on one processor"
    if seen.get("companions", 1.0) < LEAST_BESIDE:
        yield "a copy of the call hardly ran beside it"
