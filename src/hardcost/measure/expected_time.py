"""How long work will take, by what the same kind of work took before: pure functions.

Set-up and trials are estimated apart, since a kernel's build takes hundreds of times as long as a
trial. What is not known is reported as unknown, and no number is made up for it.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from hardcost.model.workload import Workload
from hardcost.protocol.boot import Guest

WHOLE_BUILD_STEPS = 1000
"""A kernel's build of more steps compiled all of it; one of fewer went on from another's."""

_NEAR = 1.5  # a range whose ends are nearer than this many times is shown as one number
_MINUTE, _HOUR = 60.0, 3600.0
_SECONDS_UP_TO, _MINUTES_UP_TO = 100.0, 100.0  # from here on the next unit is plain enough
_ENOUGH = 3  # pieces of work done, after which their own pace says more than earlier runs


@dataclass(frozen=True)
class Span:
    """Seconds, at least and at most; `high` None where nothing is known of the most."""

    low: float
    high: float | None

    def __add__(self, other: Span) -> Span:
        unknown = self.high is None or other.high is None
        return Span(self.low + other.low, None if unknown else (self.high or 0) + (other.high or 0))

    def times(self, factor: float) -> Span:
        """Return how long `factor` such pieces take."""
        return Span(self.low * factor, None if self.high is None else self.high * factor)

    @property
    def middle(self) -> float | None:
        """The seconds halfway; None where the most is not known."""
        return None if self.high is None else (self.low + self.high) / 2


NOTHING, UNKNOWN = Span(0, 0), Span(0, None)

BUILD_GUESS = Span(300, 1500)
"""A whole kernel's build, where none was built here: of two quiet cores and of two busy ones."""

PART_GUESS = Span(20, 600)
"""A kernel's build that goes on from another's, where none was built here."""

BOOT_GUESSES: Mapping[Guest, Span] = {
    "small": Span(2, 20),
    "compiler": Span(3, 30),
    "debian": Span(10, 90),
}
"""A boot with its snapshot, by guest, where none was taken here."""

WorkKind = tuple[Workload, str]
"""A workload with its parameters, and an instrument."""


@dataclass(frozen=True)
class History:
    """Seconds that work took here before, the newest last.

    `trials` by workload and instrument, `boots` by guest, `builds` of kernels with their steps.
    `begun`: a kernel's source lies compiled, so that the first build goes on from there.
    """

    trials: Mapping[WorkKind, Sequence[float]] = field(default_factory=dict)
    boots: Mapping[Guest, Sequence[float]] = field(default_factory=dict)
    builds: Sequence[tuple[float, int]] = ()
    begun: bool = False


@dataclass(frozen=True)
class Work:
    """The work that is left: kernels to build, guests to boot once, trials to run.

    `begun`: a kernel's source lies compiled, so that the first build goes on from there.
    """

    builds: int = 0
    begun: bool = False
    boots: Sequence[Guest] = ()
    trials: Sequence[WorkKind] = ()


@dataclass(frozen=True)
class Stage:
    """One kind of work: how many pieces, at least and at most, their time, what that rests on."""

    name: str
    count: int
    most: int
    span: Span
    basis: str


def stages(work: Work, history: History, jobs: int) -> tuple[Stage, ...]:
    """Return the stages that `work` has, in their order, with `jobs` guests at a time."""
    made = (_builds(work, history), _boots(work, history, jobs), _trials(work, history, jobs))
    return tuple(stage for stage in made if stage.count)


def stages_between(least: Sequence[Stage], most: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return the stages of work of which only the bounds are known."""
    known = {stage.name: stage for stage in least}
    found = []
    for stage in most:
        low = known.get(stage.name)
        span = Span(low.span.low if low else 0, stage.span.high)
        found.append(Stage(stage.name, low.count if low else 0, stage.count, span, stage.basis))
    return tuple(found)


def total(parts: Sequence[Stage]) -> Span:
    """Return how long all stages take."""
    return sum((stage.span for stage in parts), NOTHING)


def span_in_words(span: Span) -> str:
    """Return a span for a reader, such as `about 40 s`, `2 to 9 min`, `unknown yet`."""
    if span.high is None:
        return f"at least {_text(span.low)}" if span.low >= 1 else "unknown yet"
    if span.high <= _NEAR * span.low or span.high < 1:
        return f"about {_text((span.low + span.high) / 2)}"
    (low, unit), (high, larger) = _amount_and_unit(span.low), _amount_and_unit(span.high)
    return f"{low} to {high} {unit}" if unit == larger else f"{low} {unit} to {high} {larger}"


class StageEntry(BaseModel):
    """A stage as JSON shows it, times in seconds."""

    model_config = ConfigDict(frozen=True)

    stage: str
    count: int
    most: int
    low_seconds: float | None
    high_seconds: float | None
    basis: str

    @classmethod
    def of(cls, stage: Stage) -> StageEntry:
        """Return a stage as JSON shows it."""
        return cls(
            stage=stage.name,
            count=stage.count,
            most=stage.most,
            low_seconds=round_to_tenth(stage.span.low),
            high_seconds=round_to_tenth(stage.span.high),
            basis=stage.basis,
        )


def round_to_tenth(seconds: float | None) -> float | None:
    """Return seconds to a tenth; None stays."""
    return None if seconds is None else round(seconds, 1)


def pieces_in_words(stage: Stage) -> str:
    """Return how many pieces a stage has, such as `3` or `2 to 72`."""
    return f"{stage.count}" if stage.count == stage.most else f"{stage.count} to {stage.most}"


def seconds_left(expected: float | None, elapsed: float, done: int, of: int) -> float | None:
    """Return the seconds left when `done` of so many pieces are done; None where they aren't known.

    At first that is what was `expected` less what has passed. Every piece that is done makes the
    pace of this very work count for more.
    """
    if done >= of:
        return 0.0
    by_pace = elapsed / done * (of - done) if done else None
    if expected is None or elapsed > expected:  # it was wrong
        return by_pace
    by_history = expected - elapsed
    if by_pace is None:
        return by_history
    weight = min(1.0, done / _ENOUGH)
    return weight * by_pace + (1 - weight) * by_history


def left_in_words(seconds: float | None) -> str:
    """Return the time left for a reader."""
    return "time left unknown yet" if seconds is None else f"about {_text(seconds)} left"


def _builds(work: Work, history: History) -> Stage:
    whole = [seconds for seconds, steps in history.builds if steps > WHOLE_BUILD_STEPS]
    part = [seconds for seconds, steps in history.builds if steps <= WHOLE_BUILD_STEPS]
    first = _range(whole) or BUILD_GUESS
    later = _range(part) or Span(PART_GUESS.low, first.high if whole else PART_GUESS.high)
    wholes = 0 if work.begun or not work.builds else 1
    # An option that much of the source depends on has nearly all of it compiled again.
    later = Span(later.low, max(later.high or 0, first.high or 0))
    span = first.times(wholes) + later.times(work.builds - wholes)
    known = bool(whole) and (bool(part) or work.builds == wholes)
    basis = _as_earlier(len(history.builds)) if known else "a guess"
    return Stage("kernel builds", work.builds, work.builds, span, basis)


def _boots(work: Work, history: History, jobs: int) -> Stage:
    spans = [_range(history.boots.get(guest, ())) or BOOT_GUESSES[guest] for guest in work.boots]
    known = [len(history.boots.get(guest, ())) for guest in work.boots]
    basis = _as_earlier(max(known)) if known and all(known) else "a guess"
    return Stage("boots", len(spans), len(spans), _side_by_side(spans, jobs), basis)


def _trials(work: Work, history: History, jobs: int) -> Stage:
    spans = [_of_trial(kind, history) for kind in work.trials]
    same = [history.trials[kind] for kind in set(work.trials) if kind in history.trials]
    strange = {kind for kind in work.trials if _of_trial(kind, history) == UNKNOWN}
    if strange:
        names = ", ".join(sorted({workload.name for workload, _ in strange}))
        basis = f"no trial of {names} was measured here by this instrument"
    elif len(same) == len(set(work.trials)):
        basis = _as_earlier(sum(map(len, same)))
    else:
        basis = "as the same workload took with other parameters"
    return Stage("trials", len(spans), len(spans), _side_by_side(spans, jobs), basis)


def _of_trial(kind: WorkKind, history: History) -> Span:
    """Return a trial's expected time: of trials like it, else of its workload otherwise."""
    exact = _range(history.trials.get(kind, ()))
    if exact is not None:
        return exact
    workload, instrument = kind
    alike: defaultdict[Workload, list[float]] = defaultdict(list)
    for (other, by), seconds in history.trials.items():
        if by == instrument and other.name == workload.name:
            alike[other] += seconds
    medians = [statistics.median(seconds) for seconds in alike.values() if seconds]
    return Span(min(medians), max(medians)) if medians else UNKNOWN


def _range(seconds: Sequence[float]) -> Span | None:
    """Return the middle half of what something took, or all of it where that is little."""
    if not seconds:
        return None
    if len(seconds) <= _ENOUGH:
        return Span(min(seconds), max(seconds))
    low, _, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return Span(low, high)


def _side_by_side(spans: Sequence[Span], jobs: int) -> Span:
    """Return how long pieces of work take, so many at a time."""
    if not spans:
        return NOTHING
    whole = sum(spans, NOTHING).times(1 / jobs)
    longest = max(span.low for span in spans)
    if whole.high is None:
        return Span(max(whole.low, longest), None)
    return Span(max(whole.low, longest), max(whole.high, *(span.high or 0 for span in spans)))


def _as_earlier(amount: int) -> str:
    return f"as {amount} earlier took here" if amount != 1 else "as one earlier took here"


def _text(seconds: float) -> str:
    amount, unit = _amount_and_unit(seconds)
    return f"{amount} {unit}"


def _amount_and_unit(seconds: float) -> tuple[str, str]:
    """Return seconds in the unit that makes them plain."""
    if seconds < _SECONDS_UP_TO:
        return (f"{seconds:.0f}" if seconds >= 1 or not seconds else "1"), "s"
    if seconds < _MINUTES_UP_TO * _MINUTE:
        return f"{seconds / _MINUTE:.0f}", "min"
    return f"{seconds / _HOUR:.1f}", "h"
