"""A machine whose trials are carried out, and kernels built, on the workers of a Dask scheduler.

Everything else stays with the machine that it stands for: what is fetched, what kernels say of boot
lines, and whatever decides a trial's identity. So the result of a trial, and what is stored, is the
same as without workers.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from hardcost.controls.configuration import Configuration
from hardcost.errors import InputError
from hardcost.instruments.names import instrument_named
from hardcost.machines.machine import Capabilities, Earlier, Execution, Machine
from hardcost.measure.execute import USUAL_LIMITS
from hardcost.measure.monitor import Monitor
from hardcost.measure.prepare import FIXED_LAYOUT_SEED, prepare
from hardcost.measure.run import Wait
from hardcost.measure.workers.builders import Builders, NobodyBuildsError
from hardcost.measure.workers.connection import Link
from hardcost.measure.workers.event_loop import Elsewhere
from hardcost.measure.workers.facts import facts
from hardcost.measure.workers.lab import Lab
from hardcost.measure.workers.runners import Runners
from hardcost.measure.workers.transfer import Sending
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.protocol.boot import Boot, BootAccount, KernelRecipe, Relations
from hardcost.protocol.requests import Request
from hardcost.supply.transfer import Builder, Order

_CHECK = Workload("syscalls", (("calls", "null+open"),))
"""What is measured to compare a worker with this host: some calls, in a guest without controls."""


@dataclasses.dataclass(frozen=True)
class WorkerGroups:
    """The workers of a run: those that run its trials, and those that build its kernels."""

    runners: Runners
    builders: Builders


class Spread:
    """The machine `local`, with trials and builds on workers."""

    def __init__(
        self,
        local: Machine,
        joined: WorkerGroups,
        elsewhere: Elsewhere,
        note: Callable[[str], None],
    ) -> None:
        self._local = local
        self._runners, self._builders = joined.runners, joined.builders
        self._elsewhere = elsewhere
        self._note = note
        self._building = asyncio.Lock()
        self._orders: dict[Boot, Order] = {}
        self.name = local.name
        self.remarks = local.remarks

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; as many trials at a time as workers run guests just now."""
        return dataclasses.replace(
            self._local.capabilities, at_once=max(1, self._runners.slots), builds_at_once=None
        )

    def fetch(self, boots: Sequence[Boot], note: Callable[[str], None]) -> None:
        """Fetch to this host what these boots need: workers get it from here."""
        self._local.fetch(boots, note)

    def environment(self, boot: Boot) -> dict[str, str]:
        """Return what a reader has to know; nothing of the workers decides what is counted."""
        return self._local.environment(boot)

    def identity(self, boot: Boot) -> dict[str, str]:
        """Return all that defines what a job measures."""
        return self._local.identity(boot)

    def kernel_identity(self) -> dict[str, str]:
        """Return the facts that decide what its own kernel executes for a system call."""
        return self._local.kernel_identity()

    def kernel_name(self, boot: Boot) -> str:
        """Return the name of the kernel that boots."""
        return self._local.kernel_name(boot)

    def configuration(self, boot: Boot) -> Mapping[str, str] | None:
        """Return the options of the kernel that is built for a boot; None if none is built."""
        return self._local.configuration(boot)

    def relations(self, recipe: KernelRecipe) -> Relations:
        """Return what a recipe's options do to its base."""
        return self._local.relations(recipe)

    def packages(self, boot: Boot) -> Mapping[str, str]:
        """Return the version of each distribution's package that the guest holds, by name."""
        return self._local.packages(boot)

    def notes(self, boot: Boot) -> tuple[str, ...]:
        """Return what a reader has to know of a state."""
        return self._local.notes(boot)

    def earlier(self) -> Earlier:
        """Return how long set-up took here before."""
        return self._local.earlier()

    async def account(self, boot: Boot) -> BootAccount | None:
        """Return what the kernel says of a boot's parameters, asked on this host."""
        return await self._local.account(boot)

    def builds(self, boot: Boot) -> tuple[str, ...]:
        """Return what this host lacks, whoever builds it."""
        return self._local.builds(boot)

    def is_ready(self, boot: Boot) -> bool:
        """Say whether this host has what workers need; a snapshot each takes for itself."""
        return boot.kernel is None or self._local.is_ready(boot)

    async def make_ready(self, boot: Boot) -> None:
        """Let a worker build the kernel; where none does, build it on this host."""
        if boot.kernel is None or self._local.is_ready(boot):
            return
        try:
            await self.built_by(boot, self._build)
        except NobodyBuildsError as error:
            if not self._building.locked():  # those that wait for that build need not say it again
                self._note(f"{error}: kernels are built on this host")
            async with self._building:
                await self._local.make_ready(boot)

    async def built_by(self, boot: Boot, builder: Builder) -> None:
        """Have `builder` build the kernel of a boot, and keep it on this host."""
        await self._local.built_by(boot, builder)

    async def _build(self, order: Order, folder: Path) -> None:
        await self._elsewhere.wait(self._builders.build(order, folder))

    def order(self, boot: Boot) -> Order:
        """Return what a worker needs."""
        if boot not in self._orders:
            self._orders[boot] = self._local.order(boot)
        return self._orders[boot]

    async def execute(self, boot: Boot, job: Sequence[Request], limit_seconds: float) -> Execution:
        """Carry out `job` on a worker."""
        if boot not in self._orders:
            await self.make_ready(boot)
        order = self.order(boot)
        return await self._elsewhere.wait(self._runners.execute(order, job, limit_seconds))


@contextlib.contextmanager
def spread_trials(
    local: Machine, lab: Lab, instrument: str, monitor: Monitor, wait: Wait
) -> Iterator[Machine]:
    """Give the machine `local` with its trials on the workers at `lab`, until the block ends.

    Raises:
        InputError: The instrument's results would depend on the worker.
        MachineError: The check trial fails on this host.
        WorkersError: No worker can be had.
    """
    if not instrument_named(instrument).exact:
        raise InputError(
            f"--workers: {instrument} is not the same on several hosts, so their trials can't be"
            " compared",
            hint="leave --workers out, or take --instrument insn",
        )
    check = prepare(
        Trial(Configuration(Named("check")), _CHECK, instrument, FIXED_LAYOUT_SEED), local
    )
    elsewhere = Elsewhere()
    link = Link(lab)
    joined: WorkerGroups | None = None

    async def made() -> WorkerGroups:
        await link.open()
        sending = Sending(link.client, link.run)
        return WorkerGroups(
            Runners(link, sending, local.name, facts(local.name), monitor.note),
            Builders(link, sending, local.name, monitor.note),
        )

    async def last() -> None:
        if joined is not None:
            await joined.runners.close()
            await joined.builders.close()
        await link.close()

    async def begun(runners: Runners) -> None:
        await elsewhere.wait(runners.find())
        limit = USUAL_LIMITS[check.boot.guest]
        expected = await local.execute(check.boot, check.job, limit)
        await elsewhere.wait(runners.begin(local.order(check.boot), check.job, expected))

    try:
        joined = wait(elsewhere.wait(made()))
        wait(begun(joined.runners))
        yield Spread(local, joined, elsewhere, monitor.note)
    finally:
        elsewhere.end(last())


@contextlib.contextmanager
def builders(machine: str, lab: Lab, note: Callable[[str], None], wait: Wait) -> Iterator[Builder]:
    """Give a builder whose kernels the workers at `lab` build, until the block ends.

    Raises:
        WorkersError: No worker builds kernels.
    """
    elsewhere = Elsewhere()
    link = Link(lab, resume=None)
    found: Builders | None = None

    async def made() -> Builders:
        await link.open()
        builders = Builders(link, Sending(link.client, link.run), machine, note)
        await builders.find()
        return builders

    async def last() -> None:
        if found is not None:
            await found.close()
        await link.close()

    try:
        found = there = wait(elsewhere.wait(made()))

        async def build(order: Order, folder: Path) -> None:
            await elsewhere.wait(there.build(order, folder))

        yield build
    finally:
        elsewhere.end(last())
