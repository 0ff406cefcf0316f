"""Carries out missing trials of a run: checks boot lines, builds kernels, boots, runs trials."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hardcost.errors import HardcostError, InputError, MachineError
from hardcost.machines.machine import Machine
from hardcost.measure.boot_parameters import BootLines, problems_of
from hardcost.measure.monitor import Failed, Monitor
from hardcost.measure.parallel import execute_all
from hardcost.measure.prepare import Prepared
from hardcost.measure.remaining_work import Outlook, boots_to_prepare
from hardcost.model.role import PlaceboRole, Role
from hardcost.model.workload import Workload
from hardcost.protocol.boot import Boot
from hardcost.store.record import Record
from hardcost.units import count


@dataclass(frozen=True)
class Concurrency:
    """How many guests run at a time, and how many seconds a trial may take (None: as usual)."""

    jobs: int
    seconds: float | None = None


@dataclass(frozen=True)
class TrialSite:
    """The machine, the limits and the monitor of a run's trials.

    `lines` are the boot lines that the machine's kernels were asked about so far.
    """

    machine: Machine
    monitor: Monitor
    limits: Concurrency
    lines: BootLines = field(default_factory=BootLines)


async def refused_trials(
    trials: Sequence[Prepared], site: TrialSite, *, keep_going: bool
) -> dict[str, InputError]:
    """Return the errors of trials whose kernel does not take a boot parameter, by identity.

    Raises:
        InputError: There are such, and the run does not keep going.
    """
    errors = await site.lines.ask(trials, site.machine, site.limits.jobs)
    if errors and not keep_going:
        raise InputError.of(problems_of(errors.values()))
    for reason in dict.fromkeys(map(str, errors.values())):
        site.monitor.hear(Failed(reason))
    return dict(errors)


async def carry_out(
    missing: Sequence[Prepared], site: TrialSite, outlook: Outlook, *, keep_going: bool
) -> AsyncGenerator[tuple[Prepared, Record | HardcostError], None]:
    """Yield the result of each trial as it ends, once its kernel is built and its guest booted.

    Raises:
        HardcostError: Something failed, and the run does not keep going.
    """
    given_up: dict[str, HardcostError] = {}
    if await _build_kernels(missing, site):  # kernels that were not there could not be asked before
        given_up.update(await refused_trials(missing, site, keep_going=keep_going))
    unbootable = await _boot_guests(
        boots_to_prepare(missing, site.machine),
        site,
        outlook.expected_seconds("boots"),
        keep_going=keep_going,
    )
    given_up |= {one.identity: unbootable[one.boot] for one in missing if one.boot in unbootable}
    failed: dict[tuple[Role, Workload], HardcostError] = {}  # by configuration and workload
    for trial in missing:
        if trial.identity in given_up:
            failed[_role_and_workload(trial)] = given_up[trial.identity]
            yield trial, given_up[trial.identity]
    bootable = [trial for trial in missing if trial.identity not in given_up]
    lost, started = len(given_up), time.monotonic()
    expected = outlook.expected_seconds("trials")
    useless: list[tuple[Prepared, HardcostError]] = []
    with site.monitor.stage("trials", len(bootable), expected) as advance:
        running = execute_all(
            _useful_trials(bootable, failed, useless),
            site.machine,
            jobs=site.limits.jobs,
            limit_seconds=site.limits.seconds,
            keep_going=keep_going,
        )
        async with contextlib.aclosing(running):
            async for trial, came in running:
                if isinstance(came, HardcostError):
                    lost += 1
                    failed[_role_and_workload(trial)] = came
                    site.monitor.hear(Failed(str(came), *_names(trial)))
                yield trial, came
                advance()
        for trial, error in useless:
            yield trial, error
            advance()
    carried_out = count(len(missing) - len(useless), "trial")
    said = f", {lost} failed" if lost else ""
    site.monitor.note(f"{carried_out} in {time.monotonic() - started:.1f} s{said}")


def _useful_trials(
    trials: Iterable[Prepared],
    failed: Mapping[tuple[Role, Workload], HardcostError],
    useless: list[tuple[Prepared, HardcostError]],
) -> Iterator[Prepared]:
    """Yield trials as they are to start, but for placebos of what has `failed` by then.

    These would fail too, and go into `useless`, with the error that they would repeat.
    """
    for trial in trials:
        role, workload = _role_and_workload(trial)
        if isinstance(role, PlaceboRole) and (role.of, workload) in failed:
            useless.append((trial, failed[role.of, workload]))
        else:
            yield trial


def _role_and_workload(trial: Prepared) -> tuple[Role, Workload]:
    return trial.trial.configuration.role, trial.trial.workload


def _names(trial: Prepared) -> tuple[str, str]:
    """Return the names of a trial's configuration and workload."""
    return trial.trial.configuration.name, str(trial.trial.workload)


async def _build_kernels(missing: Sequence[Prepared], site: TrialSite) -> bool:
    """Build the kernels that are not built yet, and say whether there were any."""
    boots = {boot: site.machine.builds(boot) for boot in boots_to_prepare(missing, site.machine)}
    kernels = {names: boot for boot, names in boots.items() if names}
    free = asyncio.Semaphore(site.machine.capabilities.builds_at_once or len(kernels) or 1)

    async def build_one(number: int, boot: Boot) -> None:
        async with free:
            site.monitor.note(f"building kernel {number} of {len(kernels)}; each is kept")
            await site.machine.make_ready(boot)

    await _run_together(build_one(number, boot) for number, boot in enumerate(kernels.values(), 1))
    return bool(kernels)


async def _boot_guests(
    boots: Sequence[Boot], site: TrialSite, expected_seconds: float | None, *, keep_going: bool
) -> dict[Boot, MachineError]:
    """Boot a guest for each kernel line that has no snapshot yet; return those that do not boot."""
    failed: dict[Boot, MachineError] = {}
    if not boots:
        return failed
    each = "a snapshot of it" if len(boots) == 1 else "a snapshot of each"
    site.monitor.note(f"booting {count(len(boots), 'guest')} once; later runs start from {each}")
    free = asyncio.Semaphore(site.limits.jobs)
    with site.monitor.stage("boots", len(boots), expected_seconds) as advance:

        async def boot_one(boot: Boot) -> None:
            async with free:
                try:
                    await site.machine.make_ready(boot)
                except MachineError as error:
                    if not keep_going:
                        raise
                    failed[boot] = error
                    site.monitor.hear(Failed(str(error)))
            advance()

        await _run_together(map(boot_one, boots))
    return failed


async def _run_together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all of it side by side; the first error ends the rest, and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None  # the others were stopped for it
