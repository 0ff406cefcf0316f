"""A machine whose trials are carried out on the workers of a Dask scheduler.

Everything but the trials stays with the machine that it stands for: what is fetched, kernels that
are built, what kernels say of boot lines, and whatever decides a trial's identity. So what comes of
a trial, and what is stored, is the same as without workers.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from hardcost.design.plan import Configuration, Trial, Workload
from hardcost.errors import InputError
from hardcost.instruments.names import instrument as instrument_named
from hardcost.run.limits import USUAL_LIMITS
from hardcost.run.prepare import FIXED_LAYOUT_SEED, prepare
from hardcost.run.workers.cluster import Cluster
from hardcost.run.workers.facts import facts

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence

    from hardcost.machines.bootline import Account
    from hardcost.machines.machine import (
        Boot,
        Capabilities,
        Earlier,
        Execution,
        KernelRecipe,
        Machine,
        Relations,
    )
    from hardcost.machines.supplies import Order
    from hardcost.protocol.requests import Request
    from hardcost.run.monitor import Monitor
    from hardcost.run.session import Wait
    from hardcost.run.workers.lab import Lab

_Result = TypeVar("_Result")
_CHECK = Workload("syscalls", (("calls", "null+open"),))
"""What is measured to compare a worker with this host: some calls, in a guest without controls."""


class Elsewhere:
    """An event loop in a thread of its own, in which Dask's client lives as long as a run.

    A run itself has one loop after another, in the main thread.
    """

    def __init__(self) -> None:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        # What Dask leaves behind in its tasks as it ends helps no user; what matters is raised.
        self._loop.set_exception_handler(lambda _loop, _about: None)
        self._thread = threading.Thread(target=self._loop.run_forever, name="workers", daemon=True)
        self._thread.start()

    async def wait(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Run work there and return its result; if this is cancelled, so is the work."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def end(self, last: Coroutine[Any, Any, object]) -> None:
        """Run the last piece of work, once what was cancelled has ended, and end the thread."""
        asyncio.run_coroutine_threadsafe(self._ended(last), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @staticmethod
    async def _ended(last: Coroutine[Any, Any, object]) -> None:
        await last
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class Spread:
    """The machine `local`, with trials on workers."""

    def __init__(self, local: Machine, cluster: Cluster, elsewhere: Elsewhere) -> None:
        """Hold where trials go: to `cluster`, which lives `elsewhere`."""
        self._local = local
        self._cluster = cluster
        self._elsewhere = elsewhere
        self._orders: dict[Boot, Order] = {}
        self.name = local.name
        self.remarks = local.remarks

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; as many trials at a time as workers run guests just now."""
        return dataclasses.replace(self._local.capabilities, at_once=max(1, self._cluster.slots))

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
        """Return what decides how many instructions its own kernel executes for a system call."""
        return self._local.kernel_identity()

    def kernel_name(self, boot: Boot) -> str:
        """Return what names the kernel that boots."""
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

    async def account(self, boot: Boot) -> Account | None:
        """Return what the kernel says of a boot's parameters, asked on this host."""
        return await self._local.account(boot)

    def is_ready(self, boot: Boot) -> bool:
        """Say whether this host has what workers need; a snapshot each takes for itself."""
        return boot.kernel is None or self._local.is_ready(boot)

    async def make_ready(self, boot: Boot) -> None:
        """Build the kernel, on this host."""
        if boot.kernel is not None:
            await self._local.make_ready(boot)

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
        return await self._elsewhere.wait(self._cluster.execute(order, job, limit_seconds))


@contextlib.contextmanager
def spread(
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
    check = prepare(Trial(Configuration("check"), _CHECK, instrument, FIXED_LAYOUT_SEED), local)
    elsewhere = Elsewhere()
    cluster: Cluster | None = None

    async def made() -> Cluster:
        return Cluster(lab, local.name, facts(local.name), monitor.note)

    async def last() -> None:
        if cluster is not None:
            await cluster.close()

    async def begun(cluster: Cluster) -> None:
        await elsewhere.wait(cluster.connect())
        limit = USUAL_LIMITS[check.boot.guest]
        expected = await local.execute(check.boot, check.job, limit)
        await elsewhere.wait(cluster.begin(local.order(check.boot), check.job, expected))

    try:
        cluster = wait(elsewhere.wait(made()))
        wait(begun(cluster))
        yield Spread(local, cluster, elsewhere)
    finally:
        elsewhere.end(last())
