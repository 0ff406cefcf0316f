"""The search for the few controls of a profile that are to blame for most of its cost.

Made for controls that are expensive to switch, since a configuration may need a kernel build.
`search` is a coroutine: it yields a `Question`, is sent the samples, and returns a `SearchResult`.
It measures nothing itself, and the same answers always lead to the same questions.

1. *Halving* (`bisection.py`): controls are switched on one after the other, requirements first. The
   segment with the largest unexplained rise is split until a single control is left.
2. *Confirmation* (`blame.py`): that control is left out of the profile, and is measured alone. If
   it costs less alone than in the company in which it was found, its partners are sought
   (`partners.py`).
3. *What remains* (here): the profile without all culprits should cost only what the rises found
   so far leave. If it costs more, one culprit masked another, and the search continues without
   the known ones. The same happens if leaving out a culprit saves other than it costs alone.

The search misses four cases: a cost and a saving that cancel within a segment; a control whose cost
an earlier one undoes, so that it never shows on the way; costs below the resolution, however many;
and a control that matters only under a pattern of others, some on and some off, that none of the
steps produces. Yet an exact search never blames an innocent control: a confirmed control makes that
difference in configurations that were measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from hardcost.errors import InputError, Problem
from hardcost.plan.search import bisection, blame, noise
from hardcost.plan.search.bisection import Chain
from hardcost.plan.search.lattice import Lattice
from hardcost.plan.search.measurements import Measurements
from hardcost.plan.search.questions import (
    Asking,
    CostShift,
    Culprit,
    SearchResult,
    SearchSettings,
    SearchTask,
)
from hardcost.plan.search.state import SearchState

_ENDS = 2  # baseline and profile


def configurations_bound(controls: int, culprits: int) -> int:
    """Return the most configurations that a search of so many controls asks for, without a limit.

    It holds under an exact instrument if only the culprits (partners in an interaction included)
    cost anything. The tests hold the search to it.
    """
    if not culprits:
        return _ENDS
    return max(_ENDS, 4 * culprits * math.ceil(math.log2(max(controls, 2))))


def statement(problem: SearchTask, settings: SearchSettings) -> str:
    """Return the most that the search will do, shown before anything is measured.

    Raises:
        InputError: As `search`.
    """
    _check(settings)
    count = len(Lattice(problem).names)
    bounds = [configurations_bound(count, culprits) for culprits in (1, 2, 3)]
    promised = (
        f"The search looks for those of {count} controls that make a difference of "
        f"{settings.threshold:.2%} of the baseline or more. Without a limit it takes {_ENDS} "
        f"configurations if there is none, at most {bounds[0]} for one culprit, {bounds[1]} for "
        f"two, {bounds[2]} for three, if nothing else costs anything."
    )
    if settings.most is not None:
        promised += f" It ends after at most {settings.most} configurations."
    if settings.noise:
        freedom = _ENDS * (noise.PILOT_REPETITIONS - 1)
        expected = noise.precision(settings.noise, freedom, settings.threshold)
        return (
            f"{promised} At a noise of {settings.noise:.2%} each value takes "
            f"{expected.repetitions} repetitions, which resolve {expected.resolution:.2%}. The "
            f"noise found decides the number: at most {noise.MOST_REPETITIONS}."
        )
    return f"{promised} The instrument is exact: each configuration is measured once."


def search(problem: SearchTask, settings: SearchSettings) -> Asking[SearchResult]:
    """Find and confirm the culprits.

    Raises:
        InputError: The problem or the settings contradict themselves; nothing was asked.
        TrialError: An answer has too few samples, or one that is not a number above 0.
    """
    _check(settings)
    lattice = Lattice(problem)
    case = SearchState(lattice, Measurements(lattice, settings))
    yield from _measure_ends(case)
    yield from _rounds(case)
    yield from _search_masked(case)
    return (yield from _outcome(case))


def _check(settings: SearchSettings) -> None:
    """Refuse invalid settings, with all mistakes at once."""
    mistakes = tuple(_mistakes(settings))
    if mistakes:
        raise InputError.of(mistakes)


def _mistakes(settings: SearchSettings) -> Iterator[Problem]:
    """Yield the mistakes in the settings."""
    if not 0 < settings.threshold < math.inf:
        yield Problem(f"a threshold of {settings.threshold} is not above 0")
    if settings.most is not None and settings.most < _ENDS:
        yield Problem(
            f"{settings.most} configurations are too few",
            hint=f"baseline and profile take {_ENDS}; a culprit among n takes log2(n) + 2 more",
        )
    if settings.noise is not None and not 0 <= settings.noise < math.inf:
        yield Problem(f"a noise of {settings.noise} is not a standard deviation")
    if not 0 < settings.level < 1:
        yield Problem(f"a level of {settings.level} is not between 0 and 1")


def _measure_ends(case: SearchState) -> Asking[None]:
    """Measure baseline and profile, and settle the difference that the instrument can resolve."""
    measurements, ends = case.measurements, (frozenset[int](), case.lattice.everything)
    if measurements.noisy:
        pilots = []
        for on in dict.fromkeys(ends):  # which are one where there is nothing to switch
            why = case.why(on, "how large is the noise?")
            pilots.append((yield from measurements.pilot(on, why)))
        deviation = noise.relative_deviation(pilots)
        freedom = sum(len(pilot) - 1 for pilot in pilots)
        threshold = measurements.settings.threshold
        measurements.precision = noise.precision(deviation, freedom, threshold)
        case.conclude(
            f"Samples deviate by {deviation:.2%}. {measurements.precision.repetitions} for each "
            f"value resolve {measurements.precision.resolution:.2%}."
        )
    for on in ends:
        value = yield from case.value(on)
    total = value - measurements.baseline
    case.conclude(
        f"The profile costs {case.percent(total)} over the baseline"
        + ("; the search looks for its cause." if case.counts(total) else ": nothing to search.")
    )


def _rounds(case: SearchState) -> Asking[None]:
    """Search the profile, then its remainder, until that is explained."""
    top = case.lattice.everything
    while True:
        chain = Chain(frozenset(), case.lattice.in_order(top), _marks(case, top))
        known = case.blamed
        rises = yield from bisection.search(case, chain)
        if case.blamed == known or not case.measurements.affords(case.rest):
            return
        at_top = yield from _value(case, top)
        expected = at_top - sum(rises.values())
        remaining = yield from _value(case, case.rest)
        more = remaining - case.measurements.baseline
        if not case.counts(remaining - expected) or not case.counts(more):
            return
        case.conclude(
            f"That is {case.percent(more)} over the baseline, which the culprits found so far do "
            "not explain: the search continues in the rest."
        )
        top = case.rest


def _marks(case: SearchState, top: frozenset[int]) -> frozenset[int]:
    """Return the marks as positions among the controls of `top`."""
    order = case.lattice.order
    return frozenset(len(top.intersection(order[:mark])) for mark in case.lattice.marks)


def _value(case: SearchState, on: frozenset[int]) -> Asking[float]:
    """Return a value, measured to see the cost without the culprits."""
    return (yield from case.value(on, "is anything left?"))


def _search_masked(case: SearchState) -> Asking[None]:
    """Where leaving out a culprit saves other than it costs, search for what it may have masked.

    The remainder need not show that, because it also lacks all that requires a culprit.
    """
    looked: set[int] = set()
    while looked < case.blamed:  # which grows by what was masked
        index = min(case.blamed - looked)
        looked.add(index)
        if (yield from _saves_otherwise(case, case.culprits[index])):
            yield from _search_without(case, index)


def _saves_otherwise(case: SearchState, culprit: Culprit) -> Asking[bool]:
    """Say whether leaving out a culprit saves other than it costs with its partners alone."""
    lattice, index = case.lattice, culprit.index
    company = blame.company_of(case, index, culprit.partners)
    why = f"does {lattice.names[index]} save what it costs?"
    weight = yield from case.contrast(company | {index}, company, why)
    own = yield from case.contrast(
        lattice.everything - lattice.dependents(index),
        lattice.without({index}, lattice.everything),
        why,
    )
    if weight is None or own is None:
        return False
    return case.counts(weight - own)


def _search_without(case: SearchState, index: int) -> Asking[None]:
    """Search the profile without a culprit for costs that the other culprits do not explain."""
    lattice, measurements = case.lattice, case.measurements
    without = lattice.without({index}, lattice.everything)
    others = lattice.closure(case.blamed & without)
    if not measurements.affords(others, case.rest):
        return
    explained = yield from _value(case, others)
    remaining = (yield from _value(case, case.rest)) - measurements.baseline
    unexplained = (yield from _value(case, without)) - explained - remaining
    if not case.counts(unexplained):
        return
    case.conclude(
        f"Without {lattice.names[index]} the profile costs {case.percent(unexplained)} more than "
        "the other culprits explain: another control takes its place."
    )
    yield from bisection.search(case, Chain(others, lattice.in_order(without - others)))


def _outcome(case: SearchState) -> Asking[SearchResult]:
    """Assemble the outcome."""
    measurements, everything = case.measurements, case.lattice.everything
    kept = measurements.kept_samples
    remains = None
    if measurements.affords(case.rest):
        yield from _value(case, case.rest)
        remains = noise.difference(kept(case.rest), kept(frozenset())).estimate
    adds_up, explanation = _sum(case, remains)
    case.conclude(explanation)
    return SearchResult(
        order=case.lattice.order,
        baseline=noise.difference(kept(frozenset()), ()).estimate,
        profile=noise.difference(kept(everything), ()).estimate,
        culprits=_by_size(case),
        unresolved=tuple(case.segments),
        remains=remains,
        remains_below=remains is not None and not case.counts(remains.value),
        adds_up=adds_up,
        explanation=explanation,
        resolution=measurements.precision.resolution,
        repetitions=measurements.precision.repetitions,
        configurations=measurements.configurations,
        steps=measurements.steps(),
    )


def _by_size(case: SearchState) -> tuple[Culprit, ...]:
    """Return the culprits: confirmed ones first, then by size."""

    def size(culprit: Culprit) -> tuple[bool, float, int]:
        known = (one for one in (culprit.own, culprit.together) if one is not None)
        return (
            not culprit.confirmed,
            -max((abs(one.value) for one in known), default=0.0),
            culprit.index,
        )

    return tuple(sorted(case.culprits.values(), key=size))


def _sum(case: SearchState, remains: CostShift | None) -> tuple[bool, str]:
    """Say whether the parts make up the whole cost, and the conclusion."""
    kept = case.measurements.kept_samples
    total = noise.difference(kept(case.lattice.everything), kept(frozenset())).estimate
    parts = [case.culprits[index].own for index in sorted(case.blamed)]
    known = [part for part in (*parts, remains) if part is not None]
    if len(known) <= len(parts):  # one of them was not measured
        return False, "It is unknown whether the parts add up: too few configurations were allowed."
    halves = [part.high - part.value for part in (*known, total)]
    tolerance = max(case.measurements.cut, math.hypot(*halves))
    excess = math.fsum(part.value for part in known) - total.value
    if abs(excess) <= tolerance:
        return True, "What the culprits save one by one, plus what remains, adds up to the whole."
    off = f"What the culprits save one by one, plus what remains, is {case.percent(excess)} off"
    if (excess > 0) == (total.value > 0 or not case.counts(total.value)):
        return False, f"{off}: some cost only together, so leaving out either saves it all."
    return False, f"{off}: some mask others, so leaving out one of them saves too little."
