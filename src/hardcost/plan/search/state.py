"""The state that the parts of a search share: lattice, measurements, and controls blamed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hardcost.plan.search import wording
from hardcost.plan.search.lattice import Lattice
from hardcost.plan.search.measurements import Measurements
from hardcost.plan.search.questions import Asking, Culprit, Segment


@dataclass(frozen=True)
class Suspect:
    """A control, the company in which it was found to make a difference, and its sign (1, -1)."""

    index: int
    company: frozenset[int]
    sign: int


@dataclass
class SearchState:
    """The state of a search.

    `partners` are controls that others need to show their cost; they are suspects, too. `tests`
    counts the suspects judged so far.
    """

    lattice: Lattice
    measurements: Measurements
    culprits: dict[int, Culprit] = field(default_factory=dict)
    partners: dict[int, Suspect] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    tests: int = 0

    @property
    def blamed(self) -> frozenset[int]:
        """The suspects that count as culprits from now on.

        Not those left undecided for lack of configurations; nor, under a noisy instrument, those
        that failed their test, which are most likely chance.
        """
        return frozenset(
            index
            for index, culprit in self.culprits.items()
            if culprit.confirmed
            or not (self.measurements.noisy or culprit.own is culprit.together is None)
        )

    @property
    def rest(self) -> frozenset[int]:
        """The profile without all blamed controls and their dependents."""
        return self.lattice.without(self.blamed, self.lattice.everything)

    def counts(self, difference: float) -> bool:
        """Say whether a difference, up or down, is large enough to look into."""
        return abs(difference) > self.measurements.cut

    def percent(self, difference: float) -> str:
        """Return a difference in words, relative to the baseline."""
        return wording.percent(difference, self.measurements.baseline)

    def conclude(self, sentence: str) -> None:
        """Add to the log."""
        self.measurements.conclude(sentence)

    def contrast(
        self, more: frozenset[int], fewer: frozenset[int], question: str, times: int = 1
    ) -> Asking[float | None]:
        """Return the cost of `more` over `fewer`, or None if too few configurations are left.

        A noisy instrument takes `times` the usual number of samples.
        """
        if not self.measurements.affords(more, fewer):
            return None
        with_it = yield from self.value(more, question, times)
        return with_it - (yield from self.value(fewer, question, times))

    def value(self, on: frozenset[int], question: str = "", times: int = 1) -> Asking[float]:
        """Return a value; the log names the configuration and the question."""
        return (yield from self.measurements.value(on, self.why(on, question), times))

    def why(self, on: frozenset[int], question: str) -> str:
        """Return why a configuration is measured."""
        what = wording.configuration(self.lattice, on)
        return f"{what}: {question}" if question else what


def split_point(start: int, stop: int, preferred: Callable[[int], bool]) -> int:
    """Return where to split the segment from `start` to `stop`, at least two apart.

    It is the preferred point nearest to the middle, if one lies in the middle half and neither
    part takes more halvings than half of the segment would. So a segment of n is down to one after
    ceil(log2 n) splits, whatever is preferred. Otherwise it is the middle.
    """
    width = stop - start
    largest = 1 << ((width - 1).bit_length() - 1)
    points = [
        point
        for point in range(max(start + 1, stop - largest), min(stop, start + largest + 1))
        if width <= 4 * (point - start) <= 3 * width and preferred(point)
    ]
    return min(points, key=lambda point: abs(2 * point - start - stop), default=(start + stop) // 2)
