"""Folded stacks, a line for each: what flamegraph.pl, inferno and speedscope read.

With one column it is what the profile executes; with two, what it does without and with the
hardening, as difffolded.pl writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.exports.exported import exported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.finding import Profiled


def folded(profiles: Sequence[Profiled], *, columns: int) -> str:
    """Return the stacks; of several metrics each begins with the metric's name."""
    metrics = exported(profiles)
    lines = []
    for one in metrics:
        for functions, before, after in one.stacks:
            names = functions if len(metrics) == 1 else (one.title, *functions)
            stack = ";".join(name.replace(";", ":") for name in names)
            if columns > 1:
                lines.append(f"{stack} {before} {after}\n")
            elif after:
                lines.append(f"{stack} {after}\n")
    return "".join(lines)
