"""A profile as callgrind's output, for callgrind_annotate and KCachegrind.

Its events are the instructions before and after. Code has no lines here, so that all is on line 0.
Source of the format: "Callgrind Format Specification" of Valgrind's manual.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING

from hardcost.report.exports.exported import exported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.finding import Profiled

_Pair = tuple[int, int]


def callgrind(profiles: Sequence[Profiled], name: str) -> str:
    """Return the file's text; of several metrics each is a function above its processes."""
    metrics = exported(profiles)
    own: dict[str, _Pair] = {}
    calls: dict[tuple[str, str], _Pair] = {}
    totals = (0, 0)
    for one in metrics:
        for functions, before, after in one.stacks:
            names = functions if len(metrics) == 1 else (one.title, *functions)
            own[names[-1]] = _sum(own.get(names[-1], (0, 0)), (before, after))
            for pair in set(itertools.pairwise(names)):
                calls[pair] = _sum(calls.get(pair, (0, 0)), (before, after))
            totals = _sum(totals, (before, after))
    units = sorted({one.unit for one in metrics})
    return "".join(f"{line}\n" for line in _lines(name, units, own, calls, totals))


def _sum(one: _Pair, other: _Pair) -> _Pair:
    return one[0] + other[0], one[1] + other[1]


def _lines(
    name: str,
    units: list[str],
    own: dict[str, _Pair],
    calls: dict[tuple[str, str], _Pair],
    totals: _Pair,
) -> list[str]:
    called: dict[str, list[tuple[str, _Pair]]] = defaultdict(list)
    for (caller, callee), cost in sorted(calls.items()):
        called[caller].append((callee, cost))
    lines = ["# callgrind format", "version: 1", "creator: hardcost", f"cmd: {name}"]
    lines += [f"desc: Unit: {', '.join(units)}", "positions: line", "events: Before After"]
    lines += [f"summary: {totals[0]} {totals[1]}", "", "fl=???"]
    for function in sorted({*own, *called}):
        before, after = own.get(function, (0, 0))
        lines += [f"fn={function}", f"0 {before} {after}"]
        for callee, cost in called[function]:
            lines += [f"cfn={callee}", "calls=1 0", f"0 {cost[0]} {cost[1]}"]
        lines.append("")
    return [*lines, f"totals: {totals[0]} {totals[1]}"]
