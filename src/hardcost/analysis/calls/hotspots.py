"""Where a cost arises: by how much each function's own instructions differ.

A metric's cost is the median of the differences between samples, pair by pair, or the mean of the
middle half of them; of several draws, the mean of the middle half of those. So it is the mean
difference of a few pairs; and what the functions of just
these windows executed adds up to it, but for the rounding of estimates to 1/1024.

On several processors a metric is how long they take together, which no functions add up to. The
cost is then by how much what they execute differs, with what idle processors execute left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hardcost.analysis.calls import source_lines, subsystems
from hardcost.analysis.estimates.estimates import (
    FEWEST_RANKED,
    interquartile_mean,
    series_of,
    shift,
    value,
)
from hardcost.errors import TrialError
from hardcost.model.call_tree import IDLE_PROCESS, CallTree, FramePath, Sampled, sum_counts
from hardcost.model.finding.calls import (
    CLOCK,
    Hotspots,
    Moved,
    OfProcessor,
    Own,
    Process,
    SourceListing,
    Stack,
)
from hardcost.model.role import Role
from hardcost.model.workload import Workload
from hardcost.store.record import Record
from hardcost.units import Unit

_EXECUTED: Mapping[str, str] = {Unit.PARALLEL: Unit.INSN, Unit.PARALLEL_PER_OP: Unit.INSN_PER_OP}
"""The unit of what several processors execute, by that of how long they take."""

Counts = dict[FramePath, float]
ByName = dict[str, float]


class Names:
    """The names of the stacks in each trial, which every metric and control asks for again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[CallTree, FrameNames]] = {}

    def of(self, tree: CallTree) -> FrameNames:
        """Return the names of a trial's frames."""
        known = self._known.get(id(tree))
        if known is None:
            # The tree is kept, too, so that no other one gets its address.
            named = FrameNames(
                _paths(tree),
                source_lines.own_lines(tree),
                source_lines.calling_lines(tree),
                subsystems.places(tree),
            )
            known = self._known[id(tree)] = tree, named
        return known[1]


@dataclass(frozen=True)
class FrameNames:
    """Names by the number of the frame: of a path from the process to the function, and of lines.

    `own` is the line that a frame itself is, `calling` that which it is or is called from; a line
    is a path of `FILE:LINE` alone, none is an empty path. `places` are where their code is.
    """

    paths: list[FramePath]
    own: list[FramePath]
    calling: list[FramePath]
    places: list[FramePath]


def hotspots_of(
    records: Sequence[Record], before: Role, after: Role, names: Names | None = None
) -> tuple[Hotspots, ...]:
    """Return where the cost of `after` over `before` arises, for each metric.

    `names` serves several calls for the same records.

    Raises:
        TrialError: A trial was not counted by function.
    """
    names = names or Names()
    records = [one for one in records if one.role in {before, after}]
    known = series_of(records)
    found = []
    for role, workload, metric in known:
        if role != before or not _has_hotspots(records, workload, metric):
            continue
        of, against = known[after, workload, metric], known[before, workload, metric]
        trials = [_draws(records, one, workload, metric, names) for one in (before, after)]
        sides = _sides(trials, lambda named: named.paths, drawn=of.drawn)
        several = _processors(trials, drawn=of.drawn)
        amounts = [math.fsum(side.values()) for side in sides]
        found.append(
            Hotspots(
                workload=workload,
                metric=metric,
                unit=_EXECUTED.get(of.unit, of.unit),
                before=before,
                after=after,
                value=amounts[0] if several else value(against).value,
                cost=amounts[1] - amounts[0] if several else shift(of, against).value,
                functions=_functions(*sides),
                processes=_processes(*sides),
                stacks=_stacks(*sides),
                places=_stacks(*_sides(trials, lambda named: named.places, drawn=of.drawn)),
                source=_source(records, trials, drawn=of.drawn),
                processors=several,
            )
        )
    return tuple(found)


def _source(
    records: Sequence[Record],
    trials: Trials,
    *,
    drawn: bool,
) -> SourceListing | None:
    """Return the lines of the function that was looked into; None if there was none."""
    if not any(any(draw.named.own) for trial in trials for draw in trial.values()):
        return None
    own = _sides(trials, lambda named: named.own, drawn=drawn)
    calling = _sides(trials, lambda named: named.calling, drawn=drawn)
    return source_lines.source_listing(records, own, calling)


def _has_hotspots(records: Sequence[Record], workload: Workload, metric: str) -> bool:
    """Say whether a metric has hotspots: one that is the sum of others has none of its own."""
    trees = [one.calls for one in records if one.workload == workload]
    return None in trees or any(
        seen.metric == metric for one in trees if one is not None for seen in one.metrics
    )


def _processors(trials: Trials, *, drawn: bool) -> tuple[OfProcessor, ...]:
    """Return what each of several processors executes; nothing of a single one."""
    several = (len(each) for one in trials[0].values() for each in one.seen.processors)
    return tuple(_of_processor(trials, at, drawn=drawn) for at in range(max(several, default=0)))


def _of_processor(trials: Trials, at: int, *, drawn: bool) -> OfProcessor:
    sides = _sides(
        trials,
        lambda named: named.paths,
        drawn=drawn,
        counts=lambda draw, window: draw.seen.processors[window][at],
    )
    idle = _sides(
        trials,
        lambda named: named.paths,
        drawn=drawn,
        counts=lambda draw, window: {0: draw.idle[window][at]},
    )
    moved = ((one.function, one.own) for one in _functions(*sides))
    busy_before, busy_after, idle_before, idle_after = (
        math.fsum(side.values()) for side in (*sides, *idle)
    )
    return OfProcessor(
        number=at + 1,
        busy_before=busy_before,
        busy_after=busy_after,
        idle_before=idle_before,
        idle_after=idle_after,
        functions=tuple(Own(name, own) for name, own in moved if own),
    )


def _all_counts(draw: _Draw, window: int) -> Mapping[int, int]:
    return draw.seen.windows[window]


def _sides(
    trials: Trials,
    which: Callable[[FrameNames], list[FramePath]],
    *,
    drawn: bool,
    counts: Callable[[_Draw, int], Mapping[int, int]] = _all_counts,
) -> tuple[Counts, Counts]:
    """Return the two configurations' instructions by stack or line, for one operation.

    `counts` are those of a window by the number of the frame.
    """
    keys = [key for key in trials[0] if key in trials[1]]
    pairs = [[trial[key] for trial in trials] for key in keys]
    if drawn and len(pairs) >= FEWEST_RANKED:
        pairs = _middle(pairs)
    sides: tuple[Counts, Counts] = (defaultdict(float), defaultdict(float))
    for pair in pairs:
        chosen = _central_samples(pair[0].samples, pair[1].samples, drawn=drawn)
        weight = 1 / (len(pairs) * len(chosen))
        for side, draw in zip(sides, pair, strict=True):
            for sample in chosen:
                window = counts(draw, draw.seen.samples[sample])
                for path, count in _by_path(draw, which(draw.named), sample, window).items():
                    side[path] += count * weight
    return sides


@dataclass(frozen=True)
class _Draw:
    """A metric's samples in one draw, the names of each frame, and the counts.

    Of several processors the samples are what they execute for one operation. What each executes
    because it is `idle` is not in the counts.
    """

    samples: tuple[float, ...]
    named: FrameNames
    seen: Sampled
    idle: tuple[tuple[int, ...], ...] = ()


Trials = Sequence[Mapping[tuple[int, int], _Draw]]
"""The draws of two configurations, by seed and by repetition or perturbation."""


def _middle(pairs: list[list[_Draw]]) -> list[list[_Draw]]:
    """Return the middle half of pairs of draws, whose mean is the estimate: see `shift`."""
    differences = [
        interquartile_mean([b - a for a, b in zip(before.samples, after.samples, strict=False)])
        for before, after in pairs
    ]
    order = sorted(range(len(pairs)), key=differences.__getitem__)
    ends = len(pairs) // 4
    return [pairs[at] for at in order[ends : len(order) - ends]]


def _draws(
    records: Sequence[Record], role: Role, workload: Workload, metric: str, names: Names
) -> dict[tuple[int, int], _Draw]:
    """Return a configuration's draws of a metric, by seed and by repetition or perturbation."""
    found = {}
    for record in records:
        if (record.role, record.workload) != (role, workload):
            continue
        measured = next(one for one in record.measured if one.metric == metric)
        tree = record.calls
        if tree is None:
            raise TrialError(f"{role}, {workload}: it was not counted by function")
        named = names.of(tree)
        seen = {one.number: one for one in tree.metrics if one.metric == metric}
        found[record.seed, record.repetition] = _draw(measured.samples, named, seen[0])
        for number, samples in measured.perturbed.items():
            found[record.seed, number] = _draw(samples, named, seen[number])
    return found


def _draw(samples: tuple[float, ...], named: FrameNames, seen: Sampled) -> _Draw:
    if not seen.processors:
        return _Draw(samples, named, seen)

    def busy(counts: Mapping[int, int]) -> dict[int, int]:
        return {it: count for it, count in counts.items() if named.paths[it][0] != IDLE_PROCESS}

    processors = tuple(tuple(map(busy, window)) for window in seen.processors)
    idle = tuple(
        tuple(sum(one.values()) - sum(busy(one).values()) for one in window)
        for window in seen.processors
    )
    windows = tuple(map(sum_counts, processors))
    ticks = tuple(sum(windows[window].values()) for window in seen.samples)
    working = {"processors": processors, "windows": windows, "ticks": ticks}
    executed = tuple(one / seen.operations for one in ticks)
    return _Draw(executed, named, seen.model_copy(update=working), idle)


def _central_samples(before: Sequence[float], after: Sequence[float], *, drawn: bool) -> list[int]:
    """Return the numbers of the samples whose differences' mean is the estimate: see `shift`."""
    differences = [b - a for a, b in zip(before, after, strict=False)]
    order = sorted(range(len(differences)), key=differences.__getitem__)
    count = len(differences)
    outside = count // 4 if drawn else (count - 1) // 2
    return order[outside : count - outside]


def _by_path(
    draw: _Draw, paths: Sequence[FramePath], sample: int, window: Mapping[int, int]
) -> Counts:
    """Return a sample's instructions by stack, which add up to the sample, or by line."""
    seen = draw.seen
    whole: dict[FramePath, int] = defaultdict(int)  # lines of one function are one stack
    for number, count in window.items():
        whole[paths[number]] += count
    counts: Counts = {path: count / seen.operations for path, count in whole.items()}
    rest = draw.samples[sample] - seen.ticks[sample] / seen.operations
    if rest:
        counts[CLOCK,] = rest
    return counts


def _paths(tree: CallTree) -> list[FramePath]:
    """Return the names from the process to the function, by the number of the frame."""
    paths: list[FramePath] = [()]
    for frame in tree.frames:
        paths.append((*paths[frame.above], frame.name))
    return paths


def _stacks(before: Counts, after: Counts) -> tuple[Stack, ...]:
    return tuple(
        Stack(path, before.get(path, 0.0), after.get(path, 0.0))
        for path in sorted({*before, *after})
    )


def _functions(before: Counts, after: Counts) -> tuple[Moved, ...]:
    """Return every function, that with the largest difference of its own first."""
    owns = [_own_counts(side) for side in (before, after)]
    totals = [_total(side) for side in (before, after)]
    moved = [
        Moved(
            function=name,
            own_before=owns[0].get(name, 0.0),
            own_after=owns[1].get(name, 0.0),
            total_before=totals[0].get(name, 0.0),
            total_after=totals[1].get(name, 0.0),
        )
        for name in {*totals[0], *totals[1]}
    ]
    return tuple(sorted(moved, key=lambda one: (-abs(one.own), -abs(one.total), one.function)))


def _processes(before: Counts, after: Counts) -> tuple[Process, ...]:
    """Return every process, that with the largest difference first."""
    names = {path[0] for side in (before, after) for path in side}
    found = [
        Process(name, *(_of_process(side, name) for side in (before, after))) for name in names
    ]
    return tuple(sorted(found, key=lambda one: (-abs(one.after - one.before), one.name)))


def _of_process(side: Mapping[FramePath, float], name: str) -> float:
    return math.fsum(count for path, count in side.items() if path[0] == name)


def _own_counts(side: Mapping[FramePath, float]) -> ByName:
    counts: ByName = defaultdict(float)
    for path, count in side.items():
        counts[path[-1]] += count
    return counts


def _total(side: Mapping[FramePath, float]) -> ByName:
    """Return the instructions of each function and its callees; a recursion counts once."""
    counts: ByName = defaultdict(float)
    for path, count in side.items():
        for name in set(path[1:] or path):
            counts[name] += count
    return counts
