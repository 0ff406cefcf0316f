"""The workers behind a Dask scheduler that build kernels for one run.

A worker is admitted if its hardcost, Dask and compiler are those of the host that the run is from.
As for trials, no more builds are with Dask than workers have room for. What comes back is compared
with its hash, and by the machine with what it asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from distributed import KilledWorker

from hardcost.errors import MachineError, WorkersError
from hardcost.measure.workers.connection import CLOSE_SECONDS, Link
from hardcost.measure.workers.dask_settings import DASK_ERRORS
from hardcost.measure.workers.facts import build_facts, differences
from hardcost.measure.workers.lab import BUILDS
from hardcost.measure.workers.transfer import Sending
from hardcost.measure.workers.worker import (
    BuiltFiles,
    Lacks,
    WorkerFault,
    about_builds,
    admit,
    build_kernel,
    kernel_piece,
    pack_value,
    say_refused,
    unpack_value,
)
from hardcost.supply.transfer import Arriving, Order, Supply
from hardcost.units import count

_LOOK_SECONDS = 1.0  # between two looks at which workers there are
_LOOKS_IN_VAIN = 5  # one after the other, until the scheduler counts as lost
_LOOKS_IDLE = 3  # at a task that no worker has
_ATTEMPTS = 3  # to supply a worker, and to get from it what it has built


class NobodyBuildsError(WorkersError):
    """No worker builds kernels, or none is left that does."""


class Builders:
    """Workers that build kernels. `note` hears of those that come, go, and are refused."""

    def __init__(
        self, link: Link, sending: Sending, machine: str, note: Callable[[str], None]
    ) -> None:
        """Look for workers when the first kernel is to be built, on behalf of `machine`."""
        self._link, self._sending = link, sending
        self._machine, self._note = machine, note
        self._resource = f"hardcost.builds-{link.run}"
        self._names: dict[str, str] = {}  # of all workers that were looked at, by address
        self._builds: dict[str, float] = {}  # how many an admitted worker builds at a time
        self._given = 0
        self._looking = asyncio.Lock()
        self._looked = -_LOOK_SECONDS
        self._in_vain = 0

    async def find(self) -> None:
        """Find workers that build kernels.

        Raises:
            NobodyBuildsError: There is none.
        """
        await self._look()

    async def build(self, order: Order, folder: Path) -> None:
        """Have a worker build a kernel, and leave its files in `folder`.

        Raises:
            InputError: The worker can't build where its user has put its cache.
            MachineError: The build fails there, or workers die of it.
            NobodyBuildsError: There is no worker for it.
            WorkersError: Dask is gone.
        """
        await self._room()
        self._given += 1
        started = time.monotonic()
        try:
            attempts = 0
            while attempts < _ATTEMPTS:
                came = await self._result_of_build(order)
                if came is None:
                    await asyncio.sleep(_LOOK_SECONDS)
                    await self._look()
                    continue
                attempts += 1
                if isinstance(came, WorkerFault):
                    raise came.error()
                if isinstance(came, Lacks):
                    self._sending.forget(came.worker)
                elif isinstance(came, BuiltFiles) and await self._fetch_files(came, folder):
                    name = self._names.get(came.worker, came.worker)
                    self._note(
                        f"worker {name} has built a kernel in {time.monotonic() - started:.0f} s"
                    )
                    return
        except DASK_ERRORS as error:
            raise self._link.lost_error(error) from error
        finally:
            self._given -= 1
        raise WorkersError(
            "workers lose what they are sent, or what they have built",
            hint="free space on their disks, or replace a damaged one",
        )

    async def close(self) -> None:
        """Give the workers back."""
        with contextlib.suppress(*DASK_ERRORS):
            async with asyncio.timeout(CLOSE_SECONDS):
                if self._builds and self._link.is_up:
                    await self._set_builds(dict.fromkeys(self._builds, 0.0))

    @property
    def _slots(self) -> int:
        return int(sum(self._builds.values()))

    async def _room(self) -> None:
        """Wait until a worker has room for one more."""
        while True:
            await self._look()
            if self._given < self._slots:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _result_of_build(self, order: Order) -> Any:  # noqa: ANN401  (Made, Fault, Lacks or None)
        """Return the result of a build; None if Dask has given it up, or gives it to no worker.

        A task that no worker could take when it lost its own stays so, whoever is admitted later.
        """
        await self._drop(await self._sending.send(order.supplies, tuple(self._builds)))
        payload = await asyncio.to_thread(pack_value, order)
        future = self._link.submit("kernel", build_kernel, payload, BUILDS, self._resource)
        result, idle = asyncio.ensure_future(self._link.result(future)), 0
        try:
            while not (await asyncio.wait({result}, timeout=_LOOK_SECONDS))[0]:
                await self._look()
                idle = 0 if await self._link.is_given(future) else idle + 1
                if idle == _LOOKS_IDLE:
                    return None
            packed = result.result()
            return None if packed is None else unpack_value(packed)
        except KilledWorker as error:
            died = error.allowed_failures + 1
            raise MachineError(
                f"{count(died, 'worker')} died while {'it' if died == 1 else 'they'} built a"
                f" kernel; the last was {error.last_worker.name}",
                hint="did they lack memory? `hardcost worker --builds` builds fewer at a time",
            ) from error
        finally:
            result.cancel()
            if not future.done():
                await self._link.cancel(future)

    async def _fetch_files(self, made: BuiltFiles, folder: Path) -> bool:
        """Fetch what a worker has built; say whether all of it came."""
        for supply in made.files:
            if "/" in supply.title or supply.title.startswith("."):
                raise MachineError(f"a worker sends a file of a strange name: {supply.title!r}")
            (folder / supply.title).unlink(missing_ok=True)  # of a worker that died meanwhile
            arriving = Arriving(supply, folder, supply.title)
            if not await self._take_file(supply, made.worker, arriving):
                return False
            await arriving.check()
        return True

    async def _take_file(self, supply: Supply, worker: str, arriving: Arriving) -> bool:
        """Take a file piece by piece; say whether all of it came."""
        start = 0
        while True:
            said = await self._link.ask(kernel_piece, supply, start, workers=[worker])
            packed = said.get(worker)
            piece = unpack_value(packed) if isinstance(packed, bytes) else "it is gone"
            if piece is None:
                return True
            if isinstance(piece, str):
                return False
            await asyncio.to_thread(arriving.take, piece)
            start = piece.end

    async def _look(self) -> None:
        """Admit workers that have come, and forget those that are gone; once in a while."""
        async with self._looking:
            if time.monotonic() - self._looked >= _LOOK_SECONDS:
                try:
                    await self._look_now()
                    self._in_vain = 0
                except DASK_ERRORS as error:
                    self._in_vain += 1  # a worker that dies while it is asked does no harm
                    if self._in_vain == _LOOKS_IN_VAIN:
                        raise self._link.lost_error(error) from error
                self._looked = time.monotonic()
            if not self._builds:
                raise await self._nobody_error()

    async def _look_now(self) -> None:
        there = await self._link.workers_with(BUILDS)
        for address in [one for one in self._names if one not in there]:
            name = self._names.pop(address)
            if self._builds.pop(address, None) is not None:
                self._sending.forget(address)
                self._note(f"worker {name} is gone; what it was building is built elsewhere")
        new = {address: about for address, about in there.items() if address not in self._names}
        if not new:
            return
        self._names |= {address: str(about["name"]) for address, about in new.items()}
        ours = await asyncio.to_thread(build_facts, self._machine)
        reasons = {
            address: differences(ours, theirs) if isinstance(theirs, dict) else str(theirs)
            for address, theirs in (
                await self._link.ask(about_builds, self._machine, workers=new)
            ).items()
        }
        await self._refuse({address: why for address, why in reasons.items() if why})
        fit = {
            address: float(new[address]["resources"][BUILDS])
            for address, why in reasons.items()
            if not why
        }
        if fit:
            await self._set_builds(fit)
            self._builds |= fit
            workers, at_once = count(len(self._builds), "worker"), count(self._slots, "kernel")
            self._note(f"{workers} at {self._link.address} can build {at_once} at a time")

    async def _nobody_error(self) -> NobodyBuildsError:
        address = self._link.address
        if self._names:
            return NobodyBuildsError(
                f"every worker at {address} that builds kernels was refused",
                hint="the same hardcost, Dask and compiler are needed on all hosts",
            )
        return NobodyBuildsError(
            f"no worker at {address} has the resource {BUILDS}{await self._link.count_without()}",
            hint=f"start one with room for a build: `hardcost worker {address} --builds 1`",
        )

    async def _set_builds(self, builds: Mapping[str, float]) -> None:
        """Set on workers, by their addresses, how many of the run's kernels they build at once."""
        await self._link.ask(admit, self._resource, builds, workers=builds)

    async def _drop(self, reasons: Mapping[str, str]) -> None:
        """Give no more builds to workers that could not be sent what these need."""
        lost = {address: why for address, why in reasons.items() if address in self._builds}
        if lost:
            for address in lost:
                del self._builds[address]
            await self._set_builds(dict.fromkeys(lost, 0.0))
            await self._refuse(lost)

    async def _refuse(self, reasons: Mapping[str, str]) -> None:
        """Say here and there which workers build nothing for this run."""
        for address, why in reasons.items():
            self._note(f"worker {self._names[address]} builds no kernels for this run: {why}")
        if reasons:
            await self._link.ask(say_refused, "kernels", dict(reasons), workers=reasons)
