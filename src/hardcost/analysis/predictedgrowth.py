"""What a change of audit rules costs, predicted from a kernel's constants: nothing is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.analysis.growth import Change, Growth, Line, Part, ordered
from hardcost.auditrules import semantics
from hardcost.auditrules.cost import events
from hardcost.auditrules.cost.predict import predict
from hardcost.units import Unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.auditrules.cost.constants import Constants
    from hardcost.auditrules.event import Event
    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.semantics import Loaded


@dataclass(frozen=True)
class RuleSets:
    """Two sets of rules as a kernel holds them, and the lines that only one has, by index."""

    base: Sequence[KernelRule]
    head: Sequence[KernelRule]
    added: Mapping[int, Line]
    removed: Mapping[int, Line]


def growths(sets: RuleSets, constants: Constants) -> tuple[tuple[Growth, ...], tuple[str, ...]]:
    """Return how each operation of `syscalls` grows, and what has no prediction, with why.

    An operation whose prediction rests on an estimate has none.

    Raises:
        UnresolvedError: A rule names a user or group whose number is not known.
    """
    base, head = semantics.load(sets.base), semantics.load(sets.head)
    without = {
        **{line: (head, _left_out(sets.head, at)) for at, line in sets.added.items()},
        **{line: (base, _left_out(sets.base, at)) for at, line in sets.removed.items()},
    }
    found, unknown = [], []
    for metric, calls in events.operations().items():
        typical = [events.typical(name) for name in calls]
        start = constants.without.get(metric)
        before, after = _cost(constants, base, typical), _cost(constants, head, typical)
        if start is None or before is None or after is None:
            why = "it was not measured without rules" if start is None else "an estimate"
            unknown.append(f"{metric} ({why})")
            continue
        parts = [
            _part(line, before if whole is base else after, _cost(constants, rest, typical))
            for line, (whole, rest) in without.items()
        ]
        found.append(
            Growth(
                metric=metric,
                unit=Unit.INSN_PER_OP,
                base=start + before,
                head=start + after,
                low=after - before,
                high=after - before,
                before=before,
                after=after,
                parts=ordered(part for part in parts if part.cost),
            )
        )
    return tuple(found), tuple(unknown)


def _left_out(rules: Sequence[KernelRule], index: int) -> Loaded:
    return semantics.load([*rules[:index], *rules[index + 1 :]])


def _part(line: Line, whole: float, rest: float | None) -> Part:
    """Return what a line adds: what its state costs, less what it costs without the line."""
    saved = whole - (whole if rest is None else rest)
    cost = saved if line.change is Change.ADDED else -saved
    return Part(line, cost, cost, cost)


def _cost(constants: Constants, loaded: Loaded, calls: Sequence[Event]) -> float | None:
    """Return what rules add to an operation, in instructions; None where that is an estimate."""
    each = [predict(constants, loaded, event) for event in calls]
    if any(one.estimated for one in each):
        return None
    return sum(one.total for one in each)
