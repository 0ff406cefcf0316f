"""Trials side by side on this machine, a guest for each job; they yield records, never write."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import TYPE_CHECKING

from hardcost.trial.trial import execute

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from hardcost.machines.machine import Machine
    from hardcost.store.record import Record
    from hardcost.trial.trial import Prepared


async def records(
    trials: Sequence[Prepared], machine: Machine, *, jobs: int, limit_seconds: float
) -> AsyncIterator[tuple[Prepared, Record]]:
    """Yield each trial with its record as it ends; at most `jobs` guests run at a time.

    Trials start in their order. Where one fails, no more are started, those that started before it
    still end, and the error of the first of them that failed is raised: the same one each time.
    """
    waiting = iter(trials)
    running: dict[asyncio.Task[Record], Prepared] = {}

    def start_next() -> None:
        for trial in waiting:
            running[asyncio.create_task(execute(trial, machine, limit_seconds))] = trial
            if len(running) >= jobs:
                return

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
