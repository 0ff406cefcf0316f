"""Predictions beside measurements: the cost of a rule set for each operation of `syscalls`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from auditrules.auditctl.write import UnwritableRuleError, text_of
from auditrules.cost import events
from auditrules.cost.constants import Constants
from auditrules.cost.measurement import OperationCost
from auditrules.cost.predict import predict
from auditrules.kernel import semantics
from auditrules.kernel.event import Event
from auditrules.kernel.semantics import Loaded
from auditrules.load.watched_paths import paths
from auditrules.model.kernel_rule import ALL_CALLS, KernelRule
from hardcost.calibration import rule_set_costs
from hardcost.calibration.experiments import VARYING
from hardcost.calibration.rule_set_costs import Often, RuleSetRequest, Watched
from hardcost.machines.machine import Machine
from hardcost.workloads import syscalls

CallLevels = Mapping[str, Sequence[float]]
"""Instructions of one operation, by operation: one level for each process that was measured."""


def how_often() -> dict[str, Often]:
    """Return how often each operation is measured."""
    return {name: VARYING.get(name, Often(call.samples)) for name, call in syscalls.calls().items()}


async def levels_without_rules(machine: Machine, limit_seconds: float) -> CallLevels:
    """Measure each operation with audit on and no rules, as often as under rules.

    What ran before in a guest moves `fork` and `exec`, so a baseline runs as much.

    Raises:
        MachineError: The guest failed.
    """
    wanted = RuleSetRequest((), how_often())
    measured = await rule_set_costs.measure(machine, (wanted,), Watched(), limit_seconds)
    return measured.levels[0]


async def compare(
    machine: Machine,
    constants: Constants,
    rules: Sequence[KernelRule],
    baseline: CallLevels,
    limit_seconds: float,
) -> tuple[OperationCost, ...]:
    """Measure a rule set in a guest, and predict it for that guest's files.

    The measured cost is an operation's with the rules, less the same without any (`baseline`).

    Raises:
        InputError: auditctl refuses a rule.
        MachineError: The guest failed.
    """
    wanted = {name: one for name, one in how_often().items() if name in baseline}
    sets = (RuleSetRequest(tuple(map(line_of, rules)), wanted),)
    watched = Watched(*paths([rule.source for rule in rules if rule.source is not None]))
    measured = await rule_set_costs.measure(machine, sets, watched, limit_seconds)
    loaded = semantics.load(rules, measured.files)
    (visited,) = rule_set_costs.calls_by_set(sets, measured.files)
    (found,) = measured.levels
    return tuple(
        OperationCost(
            name,
            predict_operation(constants, loaded, visited[name]),
            statistics.mean(found[name]) - statistics.mean(baseline[name]),
            2 * math.hypot(_error(found[name]), _error(baseline[name])),
            why_not_predicted(constants, loaded, visited[name]),
        )
        for name in wanted
    )


def line_of(rule: KernelRule) -> str:
    """Return the line that loads a rule as it was priced: its kind and its users known."""
    try:
        line = text_of(rule)
    except UnwritableRuleError:
        if rule.source is None:
            raise
        return rule.source.text
    of_arch = rule.tests("arch")
    # auditctl 4 would give such a rule only the calls that its permissions are for.
    return f"{line} -S all" if of_arch and rule.mask == ALL_CALLS else line


def _error(levels: Sequence[float]) -> float:
    """Return the standard error of the mean; 0 for a single level."""
    return statistics.stdev(levels) / math.sqrt(len(levels)) if len(levels) > 1 else 0.0


def predict_operation(
    constants: Constants, loaded: Loaded, variants: Sequence[Sequence[Event]]
) -> float:
    """Return the prediction for an operation: the median of its calls' costs by variant."""
    return statistics.median(
        sum(predict(constants, loaded, event).total for event in calls) for calls in variants
    )


def why_not_predicted(
    constants: Constants, loaded: Loaded, variants: Sequence[Sequence[Event]]
) -> str:
    """Return why an operation's cost is not predicted; nothing where it is."""
    reasons = (predict(constants, loaded, event).unknown for calls in variants for event in calls)
    return next(filter(None, reasons), "")


def predict_typical(constants: Constants, loaded: Loaded, operation: str) -> float:
    """Return the prediction for an operation of which no file is known."""
    calls = tuple(events.typical(call) for call in events.operations()[operation])
    return predict_operation(constants, loaded, (calls,))
