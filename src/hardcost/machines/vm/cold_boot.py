"""Trials with a cold boot, on kernels that boot quickly or that can't stop for a snapshot.

Under the instruction counter two boots of one kernel, boot line and job agree as two restores of a
snapshot do: nothing comes from the host but the job.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.machines.machine import Execution
from hardcost.machines.vm import argv
from hardcost.machines.vm.argv import Recipe
from hardcost.machines.vm.launch import (
    BOOT_LIMIT_SECONDS,
    SYSTEM_LIMIT_SECONDS,
    await_result,
    launch_guest,
)
from hardcost.protocol.requests import Request
from hardcost.supply.cache.cache import Cache


async def execute(
    recipe: Recipe, cache: Cache, job: Sequence[Request], limit_seconds: float
) -> Execution:
    """Boot, and carry out `job`; `limit_seconds` of host time are the job's own.

    Raises:
        MachineError: The guest does not boot; a `TrialError`, it panicked, hung or died in its job,
            or what it answered is no answer.
    """
    whole = recipe.boot.init == "systemd"
    boot_limit = SYSTEM_LIMIT_SECONDS if whole else BOOT_LIMIT_SECONDS
    limits = boot_limit + limit_seconds
    async with launch_guest(
        recipe, argv.boot_words, cache, job, memory=None, limit_seconds=limits
    ) as launch:
        await launch.guest.until_heard(boot_limit)
        return await await_result(launch, limit_seconds)
