"""The costs that diagnostics name: predicted from the constants of one kernel, in instructions.

A rule is priced alone. Where rules of lists beside `exit` decide about a call, its cost is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from auditrules.cost import events
from auditrules.cost.constants import Constants
from auditrules.cost.events import of_number
from auditrules.cost.limits import unpredicted_reason
from auditrules.cost.predict import Prediction, predict
from auditrules.kernel import field_tests, semantics
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Cost
from auditrules.model.kernel_rule import Condition, FilterList, IdComparison, KernelRule
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

_ABIS = {"b64": "64-bit", "b32": "32-bit"}
ON_OTHERS = "on each call that it does not name"
_TYPICAL = ("getppid", "read", "openat")


def cost_of_passing(context: Context, rule: KernelRule, rules: int = 1) -> Cost | None:
    """Return the cost of `rules` rules like this for each call that they don't name."""
    constants = context.options.constants
    if constants is None or rule.list is not FilterList.EXIT or rule.in_a_bucket:
        return None
    paid = ON_OTHERS if rules == 1 else "on each call that they do not name"
    return Cost(rules * constants.walk["unnamed"], paid)


def cost_of_walking(
    context: Context, rule: KernelRule, call: int, arch: Arch = "b64"
) -> Cost | None:
    """Return the cost of a rule of the exit list for an ordinary user's successful call."""
    constants = context.options.constants
    if constants is None or rule.list is not FilterList.EXIT or rule.in_a_bucket:
        return None
    predicted = _predict_alone(context, constants, rule, call, arch)
    if predicted is None:
        return None
    name = lookup.call_name(arch, call)
    return Cost(predicted.walk, f"on each {name} that {_ABIS[arch]} programs make")


def cost_of_recording(context: Context, rule: KernelRule, call: int, arch: Arch) -> Cost | None:
    """Return the cost of a rule for an ordinary user's successful call that it records."""
    constants = context.options.constants
    if constants is None:
        return None
    predicted = _predict_alone(context, constants, rule, call, arch)
    if predicted is None or not predicted.recorded:
        return None
    name = lookup.call_name(arch, call)
    return Cost(predicted.walk + predicted.recording, f"on each {name} that it records")


def cost_of_testing(context: Context, condition: Condition) -> float | None:
    """Return the instructions that testing a condition takes, None where that is not known."""
    constants = context.options.constants
    if constants is None:
        return None
    if isinstance(condition, IdComparison):
        return constants.field.get(f"{condition.left}:{condition.right}")
    return constants.field.get(condition.field)


def _predict_alone(
    context: Context, constants: Constants, rule: KernelRule, call: int, arch: Arch
) -> Prediction | None:
    """Return the cost of a rule alone for a typical call.

    It is None where a rule names an unknown user, or others decide about that: rules of the list
    `exclude` about its record, of `task` about the caller, of `filesystem` about its files.
    """
    others = [one for one in context.rules if one.list is not FilterList.EXIT]
    event = of_number(call, arch)
    try:
        found = predict(constants, semantics.load([rule]), event)
        undecided = unpredicted_reason(semantics.load(others), event, requested=found.recorded)
    except field_tests.UnresolvedError:
        return None
    return None if found.unknown or undecided else found


def the_twin(context: Context, rule: KernelRule) -> Cost | None:
    """Return the cost of the missing rule for the other ABI."""
    cost = cost_of_passing(context, rule)
    return cost and Cost(cost.instructions, "more on each call, once the twin is there")


def all_walking(context: Context, rules: list[KernelRule], call: int) -> Cost | None:
    """Return the cost of several rules for a 64-bit call beyond passing over them.

    It is None if what one of them costs is.
    """
    constants = context.options.constants
    if constants is None:
        return None
    tried = [rule for rule in rules if rule.names(call)]
    over = constants.walk["unnamed"]
    costs = [cost_of_walking(context, rule, call) for rule in tried]
    known = [cost.instructions - over for cost in costs if cost]
    total = sum(known)
    return (
        None
        if len(known) < len(costs)
        else Cost(
            total, f"on each {lookup.call_name('b64', call)}, beyond passing over these rules"
        )
    )


@dataclass(frozen=True)
class AddedCosts:
    """The cost of all rules together for some typical calls (instructions), and the kernel.

    `unknown` are calls whose cost is not predicted, with the reason.
    """

    by_call: Mapping[str, float]
    kernel: str
    unknown: Mapping[str, str]


def added_costs(context: Context) -> AddedCosts:
    """Return the cost of all rules together for each call.

    It is nothing if a rule names a user whose number is unknown.
    """
    constants = context.options.constants
    if constants is None or not context.rules:
        return AddedCosts({}, "", {})
    loaded = semantics.load(context.rules)
    try:
        found = {name: predict(constants, loaded, events.typical(name)) for name in _TYPICAL}
    except field_tests.UnresolvedError:
        return AddedCosts({}, "", {})
    return AddedCosts(
        {name: one.total for name, one in found.items() if not one.unknown},
        constants.about.get("kernel", "a kernel"),
        {name: one.unknown for name, one in found.items() if one.unknown},
    )
