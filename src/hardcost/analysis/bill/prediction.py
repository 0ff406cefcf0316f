"""A bill's audit rules with the cost model's predictions and lint's diagnostics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hardcost.auditrules import semantics
from hardcost.auditrules.cost import events
from hardcost.auditrules.cost.predict import predict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.finding import Bill, Item
    from hardcost.auditrules.cost.constants import Constants
    from hardcost.auditrules.event import Event
    from hardcost.auditrules.kernelrule import KernelRule


@dataclass(frozen=True)
class Expected:
    """What is known about a rule before anything is measured.

    `costs` is the saving from leaving it out, by metric, in instructions, of the only rule less the
    price of having any; `findings` are lint's codes.
    """

    costs: Mapping[str, float]
    findings: tuple[str, ...] = ()


def expected(
    rules: Sequence[KernelRule],
    constants: Constants | None,
    findings: Mapping[str, Sequence[str]],
) -> dict[str, Expected]:
    """Return what is expected of each rule, by its location (`file:line`).

    `rules` are those of the profile, in order, `findings` lint's codes by location. A metric of the
    workload `syscalls` is the calls of one operation. Estimates are left out; without `constants`,
    which belong to one kernel, every cost is an estimate.

    Raises:
        DuplicateError: Two rules are the same, and the kernel would refuse the second.
        UnresolvedError: A rule names a user or group whose number is not known.
    """
    costs: list[dict[str, float]] = [{} for _ in rules]
    for metric, calls in events.operations().items():
        if constants is None:
            break
        for index, cost in _savings(rules, constants, [events.typical(name) for name in calls]):
            costs[index][metric] = cost
    return {
        str(rule.source.place): Expected(
            costs[index], tuple(findings.get(str(rule.source.place), ()))
        )
        for index, rule in enumerate(rules)
        if rule.source is not None and rule.source.place is not None
    }


def annotated(bill: Bill, known: Mapping[str, Expected]) -> Bill:
    """Return the bill with what is known about its rules beside the measurements."""
    return replace(
        bill, items=tuple(_annotated(item, known.get(item.place)) for item in bill.items)
    )


def _annotated(item: Item, known: Expected | None) -> Item:
    if known is None:
        return item
    return replace(item, predicted=known.costs.get(item.metric), findings=known.findings)


def _savings(
    rules: Sequence[KernelRule], constants: Constants, calls: Sequence[Event]
) -> list[tuple[int, float]]:
    """Return the saving from leaving out each rule on the calls of one operation."""
    loaded = semantics.load(rules)
    whole = [predict(constants, loaded, event) for event in calls]
    if any(prediction.estimated or prediction.unknown for prediction in whole):
        return []
    deciding = {semantics.decide(loaded, event).decided_by for event in calls}
    found = []
    for index in range(len(rules)):
        if index in deciding or len(rules) == 1:
            # Without it the walk continues, or another rule decides, or there is no walk at all.
            rest = semantics.load([*rules[:index], *rules[index + 1 :]])
            without = [predict(constants, rest, event) for event in calls]
            if not any(prediction.unknown for prediction in without):
                saved = sum(prediction.total for prediction in whole)
                saved -= sum(prediction.total for prediction in without)
                if len(rules) == 1:  # the item's cost is beside the price of having any
                    saved -= sum(prediction.fixed for prediction in whole)
                found.append((index, saved))
        else:
            found.append((index, sum(prediction.walking.get(index, 0.0) for prediction in whole)))
    return found
