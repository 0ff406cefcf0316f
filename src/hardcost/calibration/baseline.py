"""The cost of each operation of `syscalls` without rules, measured as a bill measures it."""

from __future__ import annotations

import math

from hardcost.analysis.estimates.estimates import interquartile_mean, median
from hardcost.instruments.insn import INSN
from hardcost.machines.machine import Machine
from hardcost.mechanisms import apply
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.model.workload import Workload
from hardcost.plan.perturbations import perturbations_by_trial
from hardcost.protocol.boot import Boot
from hardcost.workloads import syscalls
from hardcost.workloads.metric import MetricSamples


async def measure_without_rules(machine: Machine, limit_seconds: float) -> dict[str, float]:
    """Return the instructions of each operation with audit on and no rules.

    What moves is the mean over the usual perturbations. The guest of `rule_set_costs.py` won't do:
    its kernel has emptier lists of free memory, so that making a file or a connection takes more.

    Raises:
        TrialError: The guest failed.
    """
    parameters = syscalls.KIND.read_parameters({})
    (perturbations,) = perturbations_by_trial(Workload(syscalls.NAME), INSN.name)
    job = [
        *apply.requests((AuditDaemon(),)),
        *syscalls.requests(parameters, INSN, perturbations),
    ]
    answers = (await machine.execute(Boot(), job, limit_seconds)).answers
    return {one.metric: _level(one) for one in syscalls.read_metrics(parameters, answers, INSN)}


def _level(one: MetricSamples) -> float:
    """Return a metric's instructions, as a bill's baseline has them."""
    if not one.perturbed:
        return median(one.samples).value
    draws = [interquartile_mean(samples) for samples in (one.samples, *one.perturbed.values())]
    return float(round(math.fsum(draws) / len(draws)))
