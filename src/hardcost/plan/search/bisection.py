"""Where along a chain of growing configurations the value rises or falls.

Values along a chain telescope: the rises of its segments add up to that of the whole, whatever
interacts with what. A segment that holds a rise is split until one control is left. That control
is a suspect: in the company of those before it, it makes this difference by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from hardcost.plan.search import blame, noise, wording
from hardcost.plan.search.questions import Asking, Segment
from hardcost.plan.search.state import SearchState, split_point


@dataclass(frozen=True)
class Chain:
    """Configurations that grow by one control at a time: `base`, then each of `added`."""

    base: frozenset[int]
    added: tuple[int, ...]
    marks: frozenset[int] = frozenset()

    def prefix(self, length: int) -> frozenset[int]:
        """Return the configuration with the first `length` of `added`."""
        return self.base | frozenset(self.added[:length])


@dataclass(frozen=True)
class _Part:
    """A segment of the chain: positions `start` to `stop` (not included), and its rise."""

    start: int
    stop: int
    rise: float

    @property
    def urgency(self) -> tuple[float, int]:
        """How much there is to gain; a suspect counts twice, since it can be confirmed at once.

        So a suspect comes before a segment that seems larger, which may be only many small costs,
        but not before one that dwarfs it, where the configurations are better spent.
        """
        certain = 2 if self.stop - self.start == 1 else 1
        return (certain * abs(self.rise), -self.start)


def search(case: SearchState, chain: Chain) -> Asking[dict[int, float]]:
    """Find the suspects on a chain whose two ends can be measured, and examine each.

    Returns the rise on the chain of each control blamed after that.
    """
    length = len(chain.added)
    first = yield from _value(case, chain, 0)
    rise = (yield from _value(case, chain, length)) - first
    parts = [_Part(0, length, rise)] if length and case.counts(rise) else []
    rises: dict[int, float] = {}
    while parts:
        part = max(parts, key=lambda part: part.urgency)
        parts.remove(part)
        if part.stop - part.start == 1:
            suspect = chain.added[part.start]
            rises[suspect] = part.rise
            yield from blame.examine(case, suspect, chain.prefix(part.start), part.rise)
        else:
            parts += yield from _split(case, chain, part)
    yield from blame.judge_partners(case)
    return {index: rise for index, rise in rises.items() if index in case.blamed}


def _value(case: SearchState, chain: Chain, length: int, question: str = "") -> Asking[float]:
    """Return the value of a prefix of the chain."""
    return (yield from case.value(chain.prefix(length), question))


def _split(case: SearchState, chain: Chain, part: _Part) -> Asking[list[_Part]]:
    """Return the halves of a segment that need a closer look."""
    measurements = case.measurements
    middle = split_point(
        part.start,
        part.stop,
        lambda point: point in chain.marks or measurements.knows(chain.prefix(point)),
    )
    # The last configuration is reserved for the check of what remains.
    wanted = {chain.prefix(middle), case.rest}
    if not measurements.affords(*wanted):
        yield from _give_up(case, chain, part, spread=False)
        return []
    where = wording.segment_in_words(case.lattice, chain.added[part.start : part.stop])
    question = f"where in {where} do the {case.percent(part.rise)} arise?"
    at_middle = yield from _value(case, chain, middle, question)
    at_start = yield from _value(case, chain, part.start)
    at_stop = yield from _value(case, chain, part.stop)
    halves = [
        _Part(part.start, middle, at_middle - at_start),
        _Part(middle, part.stop, at_stop - at_middle),
    ]
    first, second = (_finding(case, chain, half) for half in halves)
    case.conclude(f"Of these, {first}; {second}.")
    kept = [half for half in halves if case.counts(half.rise)]
    if not kept:
        yield from _give_up(case, chain, part, spread=True)
    return kept


def _finding(case: SearchState, chain: Chain, half: _Part) -> str:
    """Return the finding about one half of a split."""
    controls = chain.added[half.start : half.stop]
    where = wording.segment_in_words(case.lattice, controls)
    if not case.counts(half.rise):
        then = "below the resolution, so the search stops there"
    elif len(controls) == 1:
        then = "so it is a suspect"
    else:
        then = "so the search continues there"
    verb = "makes" if len(controls) == 1 else "make"
    return f"{where} {verb} {case.percent(half.rise)}, {then}"


def _give_up(case: SearchState, chain: Chain, part: _Part, *, spread: bool) -> Asking[None]:
    """Keep a segment whose rise is not attributed to one control."""
    controls = chain.added[part.start : part.stop]
    # Both ends are known: this measures nothing.
    yield from _value(case, chain, part.stop)
    kept = case.measurements.kept_samples
    cost = noise.difference(kept(chain.prefix(part.stop)), kept(chain.prefix(part.start)))
    start, last = (case.lattice.position(index) for index in (controls[0], controls[-1]))
    case.segments.append(Segment(start, last + 1, controls, cost.estimate, spread))
    where = wording.segment_in_words(case.lattice, controls)
    because = (
        "is spread over both halves, each below the resolution"
        if spread
        else "is left as it is, since no more configurations are allowed"
    )
    case.conclude(f"The cost of {where}, {case.percent(part.rise)}, {because}.")
