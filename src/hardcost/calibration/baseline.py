"""What each operation of `syscalls` takes without rules, measured as a bill measures it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hardcost.analysis.estimates import interquartile_mean, median
from hardcost.controls import apply
from hardcost.controls.control import AuditDaemon
from hardcost.design.perturbations import of_each_trial
from hardcost.instruments.insn import INSN
from hardcost.machines.machine import Boot
from hardcost.study.model import Workload
from hardcost.workloads import syscalls
from hardcost.workloads.names import asked

if TYPE_CHECKING:
    from hardcost.machines.machine import Machine
    from hardcost.workloads.measured import Measured


async def without_rules(machine: Machine, limit_seconds: float) -> dict[str, float]:
    """Return the instructions of each operation with audit on and no rules.

    What moves is the mean over the usual perturbations. The guest of `guestlevels` would not do:
    its kernel has emptier lists of free memory, so that making a file or a connection takes more.

    Raises:
        TrialError: The guest failed.
    """
    parameters = asked(syscalls, {})
    (perturbations,) = of_each_trial(Workload(syscalls.NAME), INSN.name)
    job = [
        *apply.requests((AuditDaemon(),)),
        *syscalls.requests(parameters, INSN, perturbations),
    ]
    answers = (await machine.execute(Boot(), job, limit_seconds)).answers
    return {one.metric: _level(one) for one in syscalls.measured(parameters, answers, INSN)}


def _level(one: Measured) -> float:
    """Return a metric's instructions, as a bill's baseline has them."""
    if not one.perturbed:
        return median(one.samples).value
    draws = [interquartile_mean(samples) for samples in (one.samples, *one.perturbed.values())]
    return float(round(math.fsum(draws) / len(draws)))
