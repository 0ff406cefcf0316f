"""Folded stacks, a line for each, as flamegraph.pl, inferno and speedscope read them.

With one column it is what the profile executes; with two, what it does without and with the
hardening, as difffolded.pl writes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.model.finding.calls import Calls, Hotspots
from hardcost.show.exports.export import Export
from hardcost.show.exports.stacks import exported_stacks


def folded(profiles: Sequence[Hotspots], *, columns: int) -> str:
    """Return the stacks; of several metrics each begins with the metric's name."""
    metrics = exported_stacks(profiles)
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


FOLDED = Export[Calls]("folded", lambda found: folded(found.hotspots, columns=1))
FOLDED_DIFF = Export[Calls]("folded-diff", lambda found: folded(found.hotspots, columns=2))
