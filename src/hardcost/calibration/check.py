"""Predictions beside measurements: what a rule set adds to each operation of `syscalls`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.auditrules import semantics
from hardcost.auditrules.cost import events
from hardcost.auditrules.cost.predict import predict
from hardcost.auditrules.kernelrule import ALL_CALLS, Test
from hardcost.auditrules.write import UnwritableError, text_of
from hardcost.calibration import guestlevels
from hardcost.calibration.experiments import VARYING
from hardcost.calibration.guestlevels import Often, Wanted, Watched
from hardcost.controls.watchedpaths import paths
from hardcost.workloads import syscalls

if TYPE_CHECKING:
    from hardcost.auditrules.cost.constants import Constants
    from hardcost.auditrules.event import Event
    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.semantics import Loaded
    from hardcost.machines.machine import Machine

Levels = Mapping[str, Sequence[float]]
"""Instructions of one operation, by operation: one level for each process that was measured."""

_INSTRUMENT = "insn"


@dataclass(frozen=True)
class Row:
    """One operation: what the rules add to it, in instructions, predicted and measured.

    `unknown` says why it is not predicted, and is empty where it is. `spread` is twice the standard
    error of the measured cost, where it varies from process to process; 0 where it was measured in
    one.
    """

    operation: str
    predicted: float
    measured: float
    spread: float = 0.0
    unknown: str = ""

    @property
    def off(self) -> float:
        """By which part of the measured cost the prediction is off; 0 where both are 0."""
        if not self.measured:
            return 0.0 if not self.predicted else float("inf")
        return self.predicted / self.measured - 1


def often() -> dict[str, Often]:
    """Return how often each operation is measured."""
    return {
        name: VARYING.get(name, Often(call.samples[_INSTRUMENT]))
        for name, call in syscalls.calls().items()
    }


async def without_rules(machine: Machine, limit_seconds: float) -> Levels:
    """Measure each operation with audit on and no rules, as often as under rules.

    What ran before in a guest moves `fork` and `exec`, so a baseline runs as much.

    Raises:
        MachineError: The guest failed.
    """
    wanted = Wanted((), often())
    measured = await guestlevels.measure(machine, (wanted,), Watched(), limit_seconds)
    return measured.levels[0]


async def compare(
    machine: Machine,
    constants: Constants,
    rules: Sequence[KernelRule],
    baseline: Levels,
    limit_seconds: float,
) -> tuple[Row, ...]:
    """Measure a rule set in a guest, and predict it for what that guest holds.

    The measured cost is an operation's with the rules, less the same without any (`baseline`).

    Raises:
        InputError: auditctl refuses a rule.
        MachineError: The guest failed.
    """
    wanted = {name: one for name, one in often().items() if name in baseline}
    sets = (Wanted(tuple(map(line_of, rules)), wanted),)
    watched = Watched(*paths([rule.source for rule in rules if rule.source is not None]))
    measured = await guestlevels.measure(machine, sets, watched, limit_seconds)
    loaded = semantics.load(rules, measured.files)
    (visited,) = guestlevels.visited(sets, measured.files)
    (found,) = measured.levels
    return tuple(
        Row(
            name,
            predicted(constants, loaded, visited[name]),
            statistics.mean(found[name]) - statistics.mean(baseline[name]),
            2 * math.hypot(_error(found[name]), _error(baseline[name])),
            unknown(constants, loaded, visited[name]),
        )
        for name in wanted
    )


def line_of(rule: KernelRule) -> str:
    """Return the line that loads a rule as it was priced: its kind and its users known."""
    try:
        line = text_of(rule)
    except UnwritableError:
        if rule.source is None:
            raise
        return rule.source.text
    of_arch = any(isinstance(test, Test) and test.field == "arch" for test in rule.conditions)
    # auditctl 4 would give such a rule only the calls that its permissions are for.
    return f"{line} -S all" if of_arch and rule.mask == ALL_CALLS else line


def _error(levels: Sequence[float]) -> float:
    """Return the standard error of the mean; 0 for a single level."""
    return statistics.stdev(levels) / math.sqrt(len(levels)) if len(levels) > 1 else 0.0


def predicted(constants: Constants, loaded: Loaded, variants: Sequence[Sequence[Event]]) -> float:
    """Return the prediction for an operation: the median of what its calls cost by variant."""
    return statistics.median(
        sum(predict(constants, loaded, event).total for event in calls) for calls in variants
    )


def unknown(constants: Constants, loaded: Loaded, variants: Sequence[Sequence[Event]]) -> str:
    """Return why an operation's cost is not predicted; nothing where it is."""
    reasons = (predict(constants, loaded, event).unknown for calls in variants for event in calls)
    return next(filter(None, reasons), "")


def typical(constants: Constants, loaded: Loaded, operation: str) -> float:
    """Return the prediction for an operation of which no file is known."""
    calls = tuple(events.typical(call) for call in events.operations()[operation])
    return predicted(constants, loaded, (calls,))
