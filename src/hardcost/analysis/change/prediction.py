"""The cost of a change of audit rules, predicted from a kernel's constants: nothing is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditrules.cost import events
from auditrules.cost.constants import Constants
from auditrules.cost.predict import predict
from auditrules.kernel import semantics
from auditrules.kernel.event import Event
from auditrules.kernel.semantics import Loaded
from auditrules.model.kernel_rule import Action, FilterList, KernelRule
from hardcost.analysis.change.growth import largest_first
from hardcost.model.finding.change import Change, ChangeLine, Contribution, Growth, Unknown
from hardcost.model.workload import MetricId
from hardcost.units import Unit


@dataclass(frozen=True)
class RuleSets:
    """Two sets of rules as a kernel holds them, and the lines that only one has, by index."""

    base: Sequence[KernelRule]
    head: Sequence[KernelRule]
    added: Mapping[int, ChangeLine]
    removed: Mapping[int, ChangeLine]


@dataclass(frozen=True)
class _Paid:
    """The cost of a set of rules for an operation, with the price of having any as a part of it.

    `pays` says whether it has rules for whose sake the kernel collects what calls do. `unknown`
    says why the numbers are not known, and is empty where they are.
    """

    cost: float
    fixed: float
    pays: bool
    unknown: str


def growths(sets: RuleSets, constants: Constants) -> tuple[tuple[Growth, ...], tuple[Unknown, ...]]:
    """Return the growth of each operation of `syscalls`, and those without a prediction.

    An operation whose prediction rests on an estimate, or that has no prediction, has none.

    Raises:
        UnresolvedError: A rule names a user or group whose number is not known.
    """
    base, head = semantics.load(sets.base), semantics.load(sets.head)
    without = {
        **{line: (head, _load_without(sets.head, at)) for at, line in sets.added.items()},
        **{line: (base, _load_without(sets.base, at)) for at, line in sets.removed.items()},
    }
    found, unknown = [], []
    for metric, calls in events.operations().items():
        typical = [events.typical(name) for name in calls]
        start = constants.without.get(metric)
        before, after = _price_paid(constants, base, typical), _price_paid(constants, head, typical)
        why = before.unknown or after.unknown
        if start is None or why:
            missing = why or "it was not measured without rules"
            unknown.append(Unknown(MetricId(metric), missing))
            continue
        saved = {
            line: (before if whole is base else after, _price_paid(constants, rest, typical))
            for line, (whole, rest) in without.items()
        }
        parts = [_part(line, *both) for line, both in saved.items() if not both[1].unknown]
        found.append(
            Growth(
                metric=MetricId(metric),
                unit=Unit.INSN_PER_OP,
                base=start + before.cost,
                head=start + after.cost,
                low=after.cost - before.cost,
                high=after.cost - before.cost,
                before=before.cost,
                after=after.cost,
                parts=largest_first(part for part in parts if part.cost),
                fixed=_fixed_growth(after, before),
                unpriced=tuple(
                    (line, rest.unknown) for line, (_, rest) in saved.items() if rest.unknown
                ),
            )
        )
    return tuple(found), tuple(unknown)


def _load_without(rules: Sequence[KernelRule], index: int) -> Loaded:
    return semantics.load([*rules[:index], *rules[index + 1 :]])


def _part(line: ChangeLine, whole: _Paid, rest: _Paid) -> Contribution:
    """Return a line's cost: that of its state, less that of the state without the line.

    The price of having any rule, which leaving out the only one saves as well, is beside it.
    """
    saved = whole.cost - rest.cost - _fixed_growth(whole, rest)
    cost = saved if line.change is Change.ADDED else -saved
    return Contribution(line, cost, cost, cost, known="predicted")


def _fixed_growth(whole: _Paid, rest: _Paid) -> float:
    """Return the price of having any rule, as a part of the difference of `whole` and `rest`."""
    return 0.0 if whole.pays == rest.pays else whole.fixed - rest.fixed


def _is_paid_for(rule: KernelRule) -> bool:
    """Say whether a rule makes the kernel collect facts about calls (`plan.first_rule`)."""
    if rule.list is FilterList.TASK:
        return rule.action is Action.ALWAYS
    return rule.list in {FilterList.EXIT, FilterList.IO_URING}


def _price_paid(constants: Constants, loaded: Loaded, calls: Sequence[Event]) -> _Paid:
    """Return the cost of rules for an operation, in instructions."""
    each = [predict(constants, loaded, event) for event in calls]
    unknown = next((one.unknown for one in each if one.unknown), "")
    if unknown:
        unknown = f"not predicted: {unknown}"
    elif any(one.estimated for one in each):
        unknown = "an estimate"
    return _Paid(
        cost=sum(one.total for one in each),
        fixed=sum(one.fixed for one in each),
        pays=any(map(_is_paid_for, loaded.rules)),
        unknown=unknown,
    )
