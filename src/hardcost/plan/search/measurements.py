"""The samples measured so far, the values derived from them, and the log.

Samples are of two kinds that never mix: those kept by `value` choose suspects, those requested by
`fresh` confirm them. A test thus knows nothing of the luck that chose its suspect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hardcost.errors import TrialError
from hardcost.plan.search import noise
from hardcost.plan.search.lattice import Lattice
from hardcost.plan.search.questions import Asking, Question, Samples, SearchSettings, SearchStep


@dataclass
class _Entry:
    """A line of the log; conclusions are added later."""

    question: Question
    answer: Samples
    conclusions: list[str] = field(default_factory=list)


class Measurements:
    """Asks each question that needs an answer, and remembers the answers."""

    def __init__(self, lattice: Lattice, settings: SearchSettings) -> None:
        self.lattice = lattice
        self.settings = settings
        self.noisy = bool(settings.noise)
        self.precision = noise.exact_precision(settings.threshold)
        self._kept: dict[frozenset[int], list[float]] = {}
        self._seen: set[frozenset[int]] = set()
        self._log: list[_Entry] = []

    @property
    def configurations(self) -> int:
        """How many distinct configurations have been measured."""
        return len(self._seen)

    @property
    def left(self) -> float:
        """How many more distinct configurations may be measured."""
        most = self.settings.most
        return math.inf if most is None else most - len(self._seen)

    @property
    def baseline(self) -> float:
        """The value with nothing on, which is measured first."""
        return noise.mean(self._kept[frozenset()])

    @property
    def cut(self) -> float:
        """A difference counts if it is larger than this, in the metric's unit."""
        return self.precision.cut * self.baseline

    def affords(self, *configurations: frozenset[int]) -> bool:
        """Say whether all of these may be measured; known ones need no trial."""
        return len(set(configurations) - self._seen) <= self.left

    def knows(self, on: frozenset[int]) -> bool:
        """Say whether this configuration has been measured."""
        return on in self._seen

    def pilot(self, on: frozenset[int], why: str) -> Asking[tuple[float, ...]]:
        """Return samples for estimating the noise; they are kept."""
        yield from self._top_up(on, why, noise.PILOT_REPETITIONS)
        return tuple(self._kept[on])

    def value(self, on: frozenset[int], why: str, times: int = 1) -> Asking[float]:
        """Return the mean of the kept samples: if noisy, at least `times` the usual number."""
        wanted = self.precision.repetitions * times if self.noisy else 1
        yield from self._top_up(on, why, wanted)
        return noise.mean(self._kept[on])

    def kept_samples(self, on: frozenset[int]) -> tuple[float, ...]:
        """Return the kept samples of a configuration measured by `value`."""
        return tuple(self._kept[on])

    def renew(self, on: frozenset[int], why: str) -> Asking[float]:
        """Return the mean of new samples, which replace the kept ones; if exact, the value."""
        if self.noisy:
            self._kept[on] = list((yield from self._ask(on, why, self.precision.repetitions)))
        return (yield from self.value(on, why))

    def fresh_samples(self, on: frozenset[int], why: str) -> Asking[tuple[float, ...]]:
        """Return samples that chose nothing; under an exact instrument, the known one."""
        if not self.noisy:
            yield from self._top_up(on, why, 1)
            return tuple(self._kept[on])
        return (yield from self._ask(on, why, self.precision.repetitions))

    def conclude(self, sentence: str) -> None:
        """Add a conclusion from all measurements so far."""
        self._log[-1].conclusions.append(sentence)

    def steps(self) -> tuple[SearchStep, ...]:
        """Return the steps so far, each with its conclusions."""
        return tuple(
            SearchStep(
                number,
                entry.question.on,
                entry.question.repetitions,
                noise.difference(entry.answer, ()).estimate,
                entry.question.why,
                " ".join(entry.conclusions),
            )
            for number, entry in enumerate(self._log, start=1)
        )

    def _top_up(self, on: frozenset[int], why: str, wanted: int) -> Asking[None]:
        """Have at least `wanted` samples kept."""
        have = len(self._kept.get(on, ()))
        if have < wanted:
            answer = yield from self._ask(on, why, wanted - have)
            self._kept.setdefault(on, []).extend(answer)

    def _ask(self, on: frozenset[int], why: str, repetitions: int) -> Asking[Samples]:
        """Ask, and write the log."""
        question = Question(tuple(sorted(on)), repetitions, why)
        answer = yield question
        if len(answer) < repetitions or not all(math.isfinite(one) and one > 0 for one in answer):
            raise TrialError(
                f"{why!r} needs {repetitions} samples above 0, not {answer!r}",
                hint="choose a guide metric that is never 0: costs are relative to it",
            )
        self._seen.add(on)
        self._log.append(_Entry(question, answer))
        return answer
