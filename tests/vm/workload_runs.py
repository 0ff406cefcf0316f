"""A workload in its guest, without a study around it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hardcost.instruments.names import INSTRUMENTS
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request, RunProgram
from hardcost.supply.cache.cache import Cache
from hardcost.workloads.names import workload_named

ENFORCING = ("security=selinux", "selinux=1", "enforcing=1")
_LIMIT_SECONDS = 600  # of host time, for a job of seconds, on a host that is busy


def work(  # noqa: PLR0913  (a trial has as many parts)
    cache_root: Path,
    name: str,
    parameters: dict[str, str],
    *,
    instrument: str = "insn",
    words: tuple[str, ...] = (),
    before: Sequence[Request] = (),
    after: tuple[str, Request] | None = None,
) -> dict[str, float]:
    """Return each metric's value.

    `words` are boot parameters; `before` is asked before the workload, and `after` holds the name
    of one of the workload's programs and what is asked once that has run.
    """
    kind, by = workload_named(name), INSTRUMENTS[instrument]
    asked_for = kind.read_parameters(parameters)
    machine = VirtualMachine(Cache(cache_root), Hardware("icount" if by.exact else "tcg"))
    tree = kind.tree(asked_for)
    job = [*before, *kind.requests(asked_for, by)]
    if after is not None:
        place = next(
            index
            for index, one in enumerate(job)
            if isinstance(one, RunProgram) and one.name == after[0]
        )
        job.insert(place + 1, after[1])
    boot = Boot(words, guest=kind.guest, tree=tree)
    answers = asyncio.run(machine.execute(boot, job, _LIMIT_SECONDS)).answers
    return {one.metric: one.samples[0] for one in kind.measured(asked_for, answers, by)}
