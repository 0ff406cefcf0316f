"""Trials in parallel, a guest for each job; they yield records, never write."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator, Iterable

from hardcost.errors import HardcostError, InputError, MachineError
from hardcost.machines.machine import Machine
from hardcost.measure.execute import execute
from hardcost.measure.prepare import Prepared
from hardcost.store.record import Record


async def execute_all(
    trials: Iterable[Prepared],
    machine: Machine,
    *,
    jobs: int,
    limit_seconds: float | None,
    keep_going: bool = False,
) -> AsyncGenerator[tuple[Prepared, Record | HardcostError], None]:
    """Yield each trial with its result as it ends; at most `jobs` guests run at a time.

    A machine that says how many it has room for just now gets so many.

    Trials start in their order, and are asked for one by one. With `keep_going` a trial that fails
    is yielded with its error like any other, also where the user's input is to blame, such as a
    sysctl that the guest's kernel does not have. Otherwise no more are started, those that started
    before it still end, and the error of the first of them that failed is raised: the same one each
    time. `limit_seconds` None is the usual limit of a trial's guest.
    """
    waiting = iter(trials)
    running: dict[asyncio.Task[Record | HardcostError], Prepared] = {}

    def start_next() -> None:
        most = machine.capabilities.at_once or jobs
        while len(running) < most and (trial := next(waiting, None)) is not None:
            task = _result_of_trial(trial, machine, limit_seconds, keep_going=keep_going)
            running[asyncio.create_task(task)] = trial

    try:
        start_next()
        watched = list(running)
        while running:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in running if task.done() and task.exception() is None]:
                yield running.pop(task), task.result()
            failed = next((task for task in running if task.done()), None)
            if failed is None:
                start_next()
                watched = list(running)
                continue
            watched = list(itertools.takewhile(lambda task: not task.done(), running))
            if not watched:
                failed.result()
    finally:
        for task in running:
            task.cancel()
        for task in running:
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


async def _result_of_trial(
    trial: Prepared, machine: Machine, limit_seconds: float | None, *, keep_going: bool
) -> Record | HardcostError:
    """Return the result of a trial; its error is raised unless the run keeps going."""
    try:
        return await execute(trial, machine, limit_seconds)
    except (MachineError, InputError) as error:
        if not keep_going:
            raise
        return error
