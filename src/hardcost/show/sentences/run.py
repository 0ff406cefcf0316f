"""The beginning of a run's report: what is asked, the most expensive, and those without effect.

Which costs more than another one is said where they are distinguishable.

And the beginning of a comparison of two runs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

from hardcost.analysis.estimates.geometric_mean import cost_ratio, distinguishable, mean_penalties
from hardcost.analysis.study.axes import numeric_axis
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.comparison import ComparedCell, Comparison
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import Role
from hardcost.show.bill_rows import FEW
from hardcost.show.sentences.amounts import (
    growth_clause,
    instrument_words,
    join_names,
    quote_name,
    unit_words,
)
from hardcost.show.sentences.single_draws import is_unclear
from hardcost.show.sentences.statement import Ranked, Statement
from hardcost.show.sentences.steps import successive_sentences
from hardcost.show.text import decimals, number, ratio, signed_number
from hardcost.units import count, visible

_WHOLE = "wall"
"""The metric that summarises a whole program."""

_SHOWN = 5

_SLOPE = 2
"""The number of levels above 0 that a line needs for a mean slope."""


def run_answer(finding: StudyFinding) -> Statement:
    """Return the answer of a run: its configurations against their baseline."""
    overall = _overall(finding)
    unknown = set(finding.unexercised)
    same = [name for name in overall if name not in unknown and _is_same(finding, name)]
    dear = sorted(
        (name for name in overall if name not in same and overall[name] > 1),
        key=lambda name: -overall[name],
    )
    dear = [name for name in dear if _is_apart_from_baseline(finding, name)]
    sentences = [
        *_failure_words(finding, overall),
        *_dearest(finding, overall, dear),
        *_unchanged_words(overall, same),
        *_unexercised_words(finding),
        *_slope(finding),
        *successive_sentences(finding),
    ]
    largest = overall[dear[0]] - 1 if dear else 1.0
    ranked = tuple(
        Ranked(
            visible(name),
            f"{ratio(overall[name])[1:]} times {_baseline_words(_baseline_of(finding, name))}"
            f"{_tie(finding, dear, at)}",
            (overall[name] - 1) / largest,
        )
        for at, name in enumerate(dear[:_SHOWN])
    )
    free = tuple((0, visible(name)) for name in same)
    title = f"Not distinguishable from the baseline ({len(same)} of {len(overall)})"
    return Statement(tuple(sentences), "The most expensive configurations", ranked, title, free)


def compare_sentences(comparison: Comparison) -> list[str]:
    """Return the changes from one run to another, in sentences of at most three numbers."""
    cells = [cell for cell in comparison.cells if math.isfinite(cell.ratio)]
    words = [
        "The two runs are not comparable as they stand; the warnings below say why."
        for _ in comparison.warnings[:1]
    ]
    if comparison.kernels is not None:
        one, other = map(visible, comparison.kernels)
        words.append(f"The kernels differ, {one}, then {other}: what changed is their work.")
    earlier = comparison.compared_to
    if not comparison.cells:
        runs = f"{visible(earlier.run)} and {visible(comparison.run)}"
        return [*words, f"Runs {runs} measured nothing in common."]
    apart = [cell for cell in cells if not cell.ratio_low <= 1 <= cell.ratio_high]
    by = visible(earlier.instrument)
    of = count(len(comparison.cells), "number")
    if not apart:
        return [*words, f"Nothing changed beyond its interval in {of} (instrument {by})."]
    most = max(apart, key=_factor)
    differ = "differs by more than its interval"
    if len(apart) != 1:
        differ = "differ by more than their intervals"
    return [
        *words,
        f"{len(apart):,} of {of} {differ} (instrument {by}).",
        _most(most),
    ]


def _factor(cell: ComparedCell) -> float:
    return abs(math.log(cell.ratio)) if cell.ratio > 0 else math.inf


def _most(cell: ComparedCell) -> str:
    digits = decimals((cell.before.value, cell.value))
    return (
        f"The largest change is {quote_name(cell.metric)} of {visible(cell.workload)} under "
        f"{quote_name(cell.configuration)}: {ratio(cell.ratio)[1:]} times the first run "
        f"({signed_number(cell.difference, digits)} {unit_words(cell.unit)})."
    )


def _overall(finding: StudyFinding) -> dict[Role, float]:
    """Return each configuration's cost over all its workloads, as a multiple of its baseline's.

    It is the geometric mean over the metrics, for whole programs over their total; the baseline and
    unknown configurations are left out.
    """
    cells = _representative_cells(finding.cells)
    several = len({cell.workload for cell in cells}) > 1
    return {
        mean.configuration: mean.ratio
        for mean in mean_penalties(cells)
        if math.isfinite(mean.ratio) and (mean.workload is None) == several
    }


def _representative_cells(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that represent all: for whole programs, those of the whole."""
    whole = [cell for cell in cells if cell.metric == _WHOLE]
    complete = {cell.workload for cell in whole} == {cell.workload for cell in cells}
    return whole if complete else list(cells)


def _is_same(finding: StudyFinding, name: Role) -> bool:
    """Say whether no metric is distinguishable from the baseline under a configuration."""
    own = [cell for cell in finding.cells if cell.configuration == name]
    return not any(_is_apart(cell) and cell.ratio != 1 for cell in own)


def _failure_words(finding: StudyFinding, overall: Mapping[Role, float]) -> Iterator[str]:
    if finding.failures:
        trials = count(len(finding.failures), "trial")
        nothing = "" if overall else ", and the rest has no baseline to be compared with"
        yield f"{trials} failed{nothing}; the reasons are below."
    elif not overall:
        yield "No two configurations were measured, so there is nothing to compare."


def _dearest(
    finding: StudyFinding, overall: Mapping[Role, float], dear: Sequence[Role]
) -> Iterator[str]:
    """Yield the cost of the asked configuration, else of the most expensive one."""
    by = instrument_words(finding.instrument)
    asked = finding.asked if finding.asked in overall else None
    if not dear and asked is None:
        if overall:
            yield f"No configuration costs distinguishably more than its baseline ({by})."
        return
    name = asked or dear[0]
    cells = [cell for cell in finding.cells if cell.configuration == name]
    base, telling = _baseline_of(finding, name), _representative_cells(cells)
    mean = f" ({_mean_of(telling)}, {by})" if len(telling) > 1 else f" ({by})"
    if asked is not None and not _is_apart_from_baseline(finding, asked):
        about = f"{quote_name(name)}, which the study asks about,"
        yield f"{about} is not distinguishable from {_baseline_words(base)}{mean}."
    else:
        of = _rank(finding, overall, dear, name)
        grown = growth_clause(overall[name], _baseline_words(base), cells[0].unit)
        yield f"{quote_name(name)}{of} {grown}{mean}."
        known = [cell for cell in cells if math.isfinite(cost_ratio(cell)) and _is_apart(cell)]
        if known and len(cells) > 1:
            yield _worst(max(known, key=cost_ratio), finding)
    yield from _ties_and_dearest(finding, overall, dear, name)


def _rank(
    finding: StudyFinding, overall: Mapping[Role, float], dear: Sequence[Role], name: Role
) -> str:
    """Return the words for a configuration's rank among all of them."""
    asked = ", which the study asks about," if name == finding.asked else ""
    if len(overall) == 1 or name not in dear[:1] or _ties(finding, dear, name):
        return asked
    most = f" the most expensive of {len(overall)} configurations,"
    return f"{asked[:-1]} and which is{most}" if asked else f",{most}"


def _ties_and_dearest(
    finding: StudyFinding, overall: Mapping[Role, float], dear: Sequence[Role], name: Role
) -> Iterator[str]:
    """Yield which configurations cost as much as one, and which cost most if it is another."""
    ties = _ties(finding, dear, name)
    if ties:
        verb = "is" if len(ties) == 1 else "are"
        yield f"{join_names(list(map(visible, ties)))} {verb} not distinguishable from it."
    first = dear[0] if dear else name
    if first != name and first not in ties:
        base, unit = _baseline_words(_baseline_of(finding, first)), finding.cells[0].unit
        others = _ties(finding, dear, first)
        most = " and as much as others" if others else " and most of all"
        clause = growth_clause(overall[first], base, unit)
        yield f"{quote_name(first)} costs more{most}: it {clause}."


def _ties(finding: StudyFinding, dear: Sequence[Role], name: Role) -> list[Role]:
    """Return those of the expensive configurations that are not distinguishable from one."""
    return [one for one in dear if one != name and not _apart(finding, one, name)]


def _tie(finding: StudyFinding, dear: Sequence[Role], at: int) -> str:
    """Return that a place in the order says nothing, where the one before costs as much."""
    if not at or _apart(finding, dear[at - 1], dear[at]):
        return ""
    return f"; not distinguishable from {visible(dear[at - 1])}"


def _apart(finding: StudyFinding, name: Role, other: Role) -> bool:
    """Say whether two configurations' means are distinguishable."""
    mine, theirs = (
        _representative_cells([cell for cell in finding.cells if cell.configuration == one])
        for one in (name, other)
    )
    return distinguishable(mine, theirs)


def _is_apart_from_baseline(finding: StudyFinding, name: Role) -> bool:
    """Say whether a configuration's mean is distinguishable from its one baseline's."""
    return all(_apart(finding, name, one) for one in _baselines_of(finding, name))


def _is_apart(cell: Cell) -> bool:
    """Say whether a cell is distinguishable from its baseline."""
    return not cell.may_be_baseline and not (cell.resolution and is_unclear(cell))


def _mean_of(cells: Sequence[Cell]) -> str:
    """Return the words for a configuration's mean."""
    metrics = {cell.metric for cell in cells}
    if len(metrics) == 1:
        return f"geometric mean of {quote_name(metrics.pop())} in {len(cells):,} workloads"
    return f"geometric mean of {len(cells):,} metrics"


def _worst(cell: Cell, finding: StudyFinding) -> str:
    """Return the metric on which the most expensive configuration costs most."""
    several = len({one.workload for one in finding.cells}) > 1
    of = f" of {visible(cell.workload)}" if several else ""
    digits = decimals((cell.value, cell.value - cell.difference))
    added = f"{signed_number(cell.difference, digits)} {unit_words(cell.unit)}"
    times = ratio(cost_ratio(cell))[1:]
    return f"It costs most on {quote_name(cell.metric)}{of}: {times} times the baseline ({added})."


def _baselines_of(finding: StudyFinding, name: Role) -> dict[Role, None]:
    return dict.fromkeys(c.baseline for c in finding.cells if c.configuration == name)


def _baseline_of(finding: StudyFinding, name: Role) -> str:
    return join_names([visible(baseline) for baseline in _baselines_of(finding, name)])


def _baseline_words(baseline: str) -> str:
    """Return a baseline for use in a sentence, where a name such as `none` alone would mislead."""
    return "the baseline" if baseline == "baseline" else f"the baseline {baseline}"


def _unchanged_words(overall: Mapping[Role, float], same: Sequence[Role]) -> Iterator[str]:
    if same and len(overall) > 1:
        of = f"{len(same)} of {len(overall)} configurations"
        verb = "is" if len(same) == 1 else "are"
        named = f": {join_names([visible(name) for name in same])}" if len(same) <= _SHOWN else ""
        yield f"{of} {verb} not distinguishable from the baseline on any metric{named}."


def _unexercised_words(finding: StudyFinding) -> Iterator[str]:
    if finding.unexercised:
        names = join_names([visible(name) for name in finding.unexercised[:_SHOWN]])
        more = len(finding.unexercised) - _SHOWN
        others = f" and {more} more" if more > 0 else ""
        yield f"Nothing exercised what {names}{others} changes: that cost is not known."


def _slope(finding: StudyFinding) -> Iterator[str]:
    """Yield the mean cost of one step on a numeric axis, along its first line, and the others'."""
    axis = numeric_axis(finding.levels)
    if axis is None:
        return
    (_, points), *others = axis.lines.items()
    above = [point for point in points if point[1] > 0]
    found = _step(finding, points)
    if found is None:
        return
    units = {cell.unit for cell in finding.cells}
    metrics = [cell.metric for cell in finding.cells if cell.configuration == above[0][0]]
    on = quote_name(metrics[0]) if len(metrics) <= FEW else "the median metric"
    elsewhere: dict[str, list[str]] = {}
    for line, of in others:
        if (step := _step(finding, of)) not in {None, found}:
            elsewhere.setdefault(str(step), []).append(visible(line))
    but = "".join(
        f"; along {join_names(lines)} it adds {step}" for step, lines in elsewhere.items()
    )
    yield (
        f"From {quote_name(above[0][0])} to {quote_name(above[-1][0])},"
        f" one more of {visible(axis.name)} adds {found} {unit_words(units.pop())} to {on},"
        f" on average{but}."
    )


def _step(finding: StudyFinding, points: Sequence[tuple[Role, float]]) -> str | None:
    """Return the cost of one step along a line: on its metric, or the median of several."""
    above = [point for point in points if point[1] > 0]
    if len(above) < _SLOPE or len({cell.unit for cell in finding.cells}) != 1:
        return None
    (first, low), (last, high) = above[0], above[-1]
    at = {(c.configuration, c.workload, c.metric): c for c in finding.cells}
    slopes = [
        (at[last, workload, metric].value - cell.value) / (high - low)
        for (name, workload, metric), cell in at.items()
        if name == first and (last, workload, metric) in at
    ]
    if not slopes:
        return None
    slope = slopes[0] if len(slopes) <= FEW else statistics.median(slopes)
    return number(slope, 0 if slope == round(slope) else 1)
