"""A bill's audit rules with the cost model's predictions and lint's diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from auditrules.cost import events
from auditrules.cost.constants import Constants
from auditrules.cost.predict import predict
from auditrules.kernel import semantics
from auditrules.kernel.event import Event
from auditrules.model.kernel_rule import KernelRule
from hardcost.model.finding.bill import Item, Itemised
from hardcost.model.workload import MetricId


@dataclass(frozen=True)
class PredictedRule:
    """The facts about a rule that are known before anything is measured.

    `costs` is the saving from leaving it out, by metric, in instructions, of the only rule less the
    price of having any; `findings` are lint's codes.
    """

    costs: Mapping[MetricId, float]
    findings: tuple[str, ...] = ()


def predict_rules(
    rules: Sequence[KernelRule],
    constants: Constants | None,
    findings: Sequence[Sequence[str]],
) -> list[PredictedRule]:
    """Return the prediction for each rule.

    `rules` are those of the profile, in order, `findings` lint's codes for each. A metric of the
    workload `syscalls` is the calls of one operation. Estimates are left out; without `constants`,
    which belong to one kernel, every cost is an estimate.

    Raises:
        DuplicateError: Two rules are the same, and the kernel would refuse the second.
        UnresolvedError: A rule names a user or group whose number is not known.
    """
    costs: list[dict[MetricId, float]] = [{} for _ in rules]
    for metric, calls in events.operations().items():
        if constants is None:
            break
        for index, cost in _savings(rules, constants, [events.typical(name) for name in calls]):
            costs[index][MetricId(metric)] = cost
    return [
        PredictedRule(saved, tuple(codes)) for saved, codes in zip(costs, findings, strict=True)
    ]


def add_predictions(bill: Itemised, known: Mapping[str, PredictedRule]) -> Itemised:
    """Return the bill with the predictions for its rules, by name, beside the measurements."""
    items = (_add_prediction(item, known.get(item.control)) for item in bill.items)
    return replace(bill, items=tuple(items))


def _add_prediction(item: Item, known: PredictedRule | None) -> Item:
    if known is None:
        return item
    return replace(
        item,
        predicted=known.costs.get(item.metric),
        findings=known.findings,
    )


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
