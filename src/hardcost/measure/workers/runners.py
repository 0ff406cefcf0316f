"""The workers behind a Dask scheduler, as one run uses them; all of it runs in one event loop.

A worker is admitted if it is like the host that the run is from, and gives its counts in a check
trial. It then has a resource that is the run's alone, and every trial asks for that: so Dask gives
trials to no other worker, moves them when a worker dies, and may steal them for an idle one. Only
as many trials are with Dask as guests can run, because every trial that a dying worker holds is
blamed for its death, and too many deaths end a trial (`distributed.scheduler.allowed-failures`).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from distributed import KilledWorker

from hardcost.errors import TrialError, WorkersError
from hardcost.machines.machine import Execution
from hardcost.measure.workers import worker
from hardcost.measure.workers.connection import CLOSE_SECONDS, RESUME, Link
from hardcost.measure.workers.dask_settings import DASK_ERRORS
from hardcost.measure.workers.facts import differences
from hardcost.measure.workers.lab import GUESTS
from hardcost.measure.workers.transfer import Sending
from hardcost.protocol.requests import Request
from hardcost.supply.transfer import Order
from hardcost.units import count

_LOOK_SECONDS = 1.0  # between two looks at which workers there are
_LOOK_SECONDS_EACH = 0.02  # and for each worker: what the scheduler says of one takes about 2 kB
_LOOKS_IN_VAIN = 5  # one after the other, until the scheduler counts as lost
_NOBODY_SECONDS = 10.0  # that a run waits for another worker when all are gone
_CHECK_SECONDS = 120.0  # that a check trial may take, beside its boot
_ATTEMPTS = 3  # to supply a worker that loses what it was sent


class Runners:
    """The workers of one run. `note` hears of those that come, go, and are refused."""

    def __init__(
        self,
        link: Link,
        sending: Sending,
        machine: str,
        ours: Mapping[str, str],
        note: Callable[[str], None],
    ) -> None:
        """Hold what workers are compared with: `ours`, the facts of this host."""
        self._link, self._sending = link, sending
        self._machine, self._ours, self._note = machine, ours, note
        self._resource = f"hardcost.run-{link.run}"
        self._names: dict[str, str] = {}  # of all workers that were looked at, by address
        self._guests: dict[str, float] = {}  # how many an admitted worker runs at a time
        self._check: tuple[bytes, Order, Execution] | None = None
        self._admitted_just_now = False  # in the look before
        self._nobody_since: float | None = None
        self._admitted_again = asyncio.Event()
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watching: asyncio.Task[None] | None = None

    @property
    def slots(self) -> int:
        """How many guests run at a time on the workers that there are."""
        return int(sum(self._guests.values()))

    async def find(self) -> None:
        """Find workers that are like this host.

        Raises:
            WorkersError: There is no such worker.
        """
        address = self._link.address
        there = await self._link.workers_with(GUESTS)
        if not there:
            without = await self._link.count_without()
            raise WorkersError(
                f"no worker at {address} has the resource {GUESTS}{without}",
                hint=f"start some: `hardcost worker {address}`",
            )
        like = await self._workers_like_us(there)
        if not like:
            raise WorkersError(
                f"every worker at {address} was refused",
                hint="the same hardcost, Dask and QEMU are needed on all hosts",
            )

    async def begin(self, order: Order, job: Sequence[Request], expected: Execution) -> None:
        """Admit those that give the same counts as `expected` for a job, now and as they come.

        Raises:
            WorkersError: None does.
        """
        self._check = (worker.pack_value((order, tuple(job), _CHECK_SECONDS)), order, expected)
        self._names.clear()
        await self._look()
        if not self._guests:
            raise WorkersError(f"every worker at {self._link.address} was refused")
        workers = count(len(self._guests), "worker")
        guests = count(self.slots, "guest")
        self._note(f"trials run on {workers} at {self._link.address}, {guests} at a time")
        self._watching = asyncio.create_task(self._watch())

    async def execute(
        self, order: Order, job: Sequence[Request], limit_seconds: float
    ) -> Execution:
        """Carry out a job on some worker.

        Raises:
            InputError: The guest refuses what the user wrote.
            MachineError: It failed there; a `TrialError`: the trial failed.
            WorkersError: No worker is left, or Dask is gone.
        """
        for _ in range(_ATTEMPTS):
            try:
                await self._drop(await self._sending.send(order.supplies, tuple(self._guests)))
                came = await self._result_of_trial(
                    worker.pack_value((order, tuple(job), limit_seconds))
                )
            except DASK_ERRORS as error:
                raise self._link.lost_error(error) from error
            if isinstance(came, worker.Lacks):
                self._sending.forget(came.worker)
                continue
            if isinstance(came, worker.WorkerFault):
                raise came.error()
            execution: Execution = came
            return execution
        raise WorkersError(
            "a worker loses what it was sent",
            hint="free space on its disk, or replace the disk if it is damaged",
        )

    async def close(self) -> None:
        """Give the workers back."""
        if self._watching is not None:
            self._watching.cancel()
        with contextlib.suppress(*DASK_ERRORS):
            async with asyncio.timeout(CLOSE_SECONDS):
                if self._guests and self._link.is_up:
                    await self._set_guests(dict.fromkeys(self._guests, 0.0))
        if self._ended.done():
            self._ended.exception()

    async def _result_of_trial(self, trial: bytes) -> Any:  # noqa: ANN401  (Execution, Fault or Lacks)
        """Return the result of a trial, given to Dask again where no worker was left for it."""
        while True:
            self._admitted_again.clear()
            future = self._link.submit("trial", worker.carry_out, trial, GUESTS, self._resource)
            result = asyncio.ensure_future(self._link.result(future))
            again = asyncio.ensure_future(self._admitted_again.wait())
            try:
                first: set[asyncio.Future[Any]] = {result, again, self._ended}
                await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
                if result.done() and (came := result.result()) is not None:
                    return worker.unpack_value(came)
                if self._ended.done():
                    self._ended.result()
                if not again.done():
                    raise self._link.lost_error()
            except KilledWorker as error:
                died = error.allowed_failures + 1
                raise TrialError(
                    f"{count(died, 'worker')} died while {'it' if died == 1 else 'they'} had this"
                    f" trial; the last was {error.last_worker.name}",
                    hint="did they lack memory? `hardcost worker --guests` runs fewer at a time",
                ) from error
            finally:
                result.cancel()
                again.cancel()
                if not future.done():
                    await self._link.cancel(future)

    async def _watch(self) -> None:
        """Look now and then which workers there are, until the run ends."""
        in_vain = 0
        while not self._ended.done():
            await asyncio.sleep(_LOOK_SECONDS + _LOOK_SECONDS_EACH * len(self._names))
            try:
                await self._look()
                in_vain = 0
            except DASK_ERRORS as error:
                in_vain += 1  # a worker that dies while it is asked does no harm
                if in_vain == _LOOKS_IN_VAIN:
                    self._end(self._link.lost_error(error))
            except WorkersError as error:
                self._end(error)

    async def _look(self) -> None:
        """Admit workers that have come, and forget those that are gone."""
        if not self._link.is_up:
            raise self._link.lost_error()
        there = await self._link.workers_with(GUESTS)
        overlapped, self._admitted_just_now = self._admitted_just_now, False
        for address in [one for one in self._names if one not in there]:
            name = self._names.pop(address)
            if self._guests.pop(address, None) is not None:
                self._sending.forget(address)
                if overlapped:  # it may have died before the other was admitted
                    self._admitted_again.set()
                self._note(f"worker {name} is gone; its trials run elsewhere")
        new = {address: about for address, about in there.items() if address not in self._names}
        if new:
            await self._admit(await self._workers_like_us(new), there)
        if self._guests:
            self._nobody_since = None
        elif self._watching is not None:
            self._nobody_since = self._nobody_since or time.monotonic()
            if time.monotonic() - self._nobody_since > _NOBODY_SECONDS:
                raise WorkersError(f"no worker is left at {self._link.address}", hint=RESUME)

    async def _workers_like_us(self, there: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Return the addresses of workers whose facts are this host's; refuse the others."""
        self._names |= {address: str(about["name"]) for address, about in there.items()}
        said = await self._link.ask(worker.facts_about, self._machine, workers=there)
        reasons = {}
        for address, theirs in said.items():
            if isinstance(theirs, dict):
                reasons[address] = differences(self._ours, theirs)
            else:
                reasons[address] = str(theirs)
        await self._refuse({address: why for address, why in reasons.items() if why})
        return [address for address, why in reasons.items() if not why]

    async def _admit(
        self, addresses: Sequence[str], there: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Admit workers whose check trial gives our counts; refuse the others."""
        if self._check is None or not addresses:
            return
        trial, order, expected = self._check
        lost = await self._sending.send(order.supplies, addresses)
        await self._refuse(lost)
        addresses = [one for one in addresses if one not in lost]
        said = await self._link.ask(worker.check, trial, workers=addresses)
        reasons = {address: _difference_from_ours(expected, came) for address, came in said.items()}
        await self._refuse({address: why for address, why in reasons.items() if why})
        fit = {
            address: float(there[address]["resources"][GUESTS])
            for address, why in reasons.items()
            if not why
        }
        if fit:
            again = self._watching is not None
            await self._set_guests(fit)
            if again:
                names = ", ".join(self._names[address] for address in fit)
                self._note(f"worker {names} has joined and takes trials")
            if not self._guests:
                self._admitted_again.set()
            self._guests |= fit
            self._admitted_just_now = again

    async def _set_guests(self, guests: Mapping[str, float]) -> None:
        """Set on workers, by their addresses, how many of the run's trials they take at a time."""
        await self._link.ask(worker.admit, self._resource, guests, workers=guests)

    async def _drop(self, reasons: Mapping[str, str]) -> None:
        """Give no more trials to workers that could not be sent what these need."""
        lost = {address: why for address, why in reasons.items() if address in self._guests}
        if lost:
            for address in lost:
                del self._guests[address]
            await self._set_guests(dict.fromkeys(lost, 0.0))
            await self._refuse(lost)

    async def _refuse(self, reasons: Mapping[str, str]) -> None:
        """Say here and there which workers get no trials."""
        for address, why in reasons.items():
            self._note(f"worker {self._names[address]} is refused: {why}")
        if reasons:
            await self._link.ask(worker.say_refused, "trials", dict(reasons), workers=reasons)

    def _end(self, error: WorkersError) -> None:
        if not self._ended.done():
            self._ended.set_exception(error)


def _difference_from_ours(expected: Execution, came: object) -> str:
    """Return how a worker's check trial differs from ours, as text; empty if it doesn't."""
    if not isinstance(came, bytes):
        return f"its check trial failed: {came}"
    theirs = worker.unpack_value(came)
    if isinstance(theirs, worker.WorkerFault):
        return f"its check trial failed: {theirs.message}"
    if theirs is None or isinstance(theirs, worker.Lacks):
        return "its check trial was not carried out"
    for ours, other in zip(expected.answers, theirs.answers, strict=False):
        if ours != other:
            return (
                f"its check trial counts something else: {_short(other)}, and here {_short(ours)}"
            )
    if len(expected.answers) != len(theirs.answers):
        return "its check trial gives other answers"
    return ""


def _short(answer: object) -> str:
    text = str(answer)
    return text if len(text) <= 120 else f"{text[:120]}…"  # noqa: PLR2004  (for one line)
