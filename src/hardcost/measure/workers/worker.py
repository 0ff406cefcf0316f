"""A worker's side: what it says of itself, what it keeps, and the trials that it carries out.

The functions here are called by the one who spreads a run, through Dask. What they return is a
value, also where something failed: an exception of a task's would be Dask's to log and to repeat.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import shutil
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import zstandard
from distributed import Reschedule, Worker, WorkerPlugin, get_worker

from hardcost.errors import HardcostError, InputError, MachineError, TrialError
from hardcost.machines import names
from hardcost.machines.machine import Execution, Machine
from hardcost.measure.workers import facts
from hardcost.measure.workers.event_loop import Elsewhere
from hardcost.measure.workers.lab import BUILDS, GUESTS
from hardcost.protocol.requests import Request
from hardcost.supply import transfer
from hardcost.supply.cache.cache import Cache
from hardcost.supply.transfer import FilePiece, Order, Supply

PLUGIN = "hardcost"
"""The name of what `hardcost worker` adds to a worker of Dask's."""

_READ = "hardcost_piece"  # what workers ask each other for
_LEVEL = 1  # of compression, for answers
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class WorkerFault:
    """Why a trial failed on a worker: the error of `kind`, to be raised where the run is from."""

    kind: str
    message: str
    hint: str | None
    console: str

    @classmethod
    def of(cls, error: HardcostError) -> WorkerFault:
        """Return an error as a value."""
        kind = type(error).__name__
        console = error.console if isinstance(error, MachineError) else ""
        return cls(kind, str(error), error.problems[0].hint, console)

    def error(self) -> HardcostError:
        """Return the error again."""
        if self.kind == InputError.__name__:
            return InputError(self.message, hint=self.hint)
        of = TrialError if self.kind == TrialError.__name__ else MachineError
        return of(self.message, hint=self.hint, console=self.console)


@dataclass(frozen=True)
class Lacks:
    """A worker was given a trial, and does not have the supplies that it needs (any more)."""

    worker: str
    digests: tuple[str, ...]


@dataclass(frozen=True)
class BuiltFiles:
    """A worker has built a kernel, of these files."""

    worker: str
    files: tuple[Supply, ...]


class WorkerSide(WorkerPlugin):
    """What a Dask worker needs for trials: a cache, and a list of what runs.

    A trial that is cancelled ends with its guest: when the run is interrupted, when the one who
    spreads it dies, and when the worker closes.
    """

    name = PLUGIN

    def __init__(self, cache: Cache, say: Callable[[str], None], compilers: int = 1) -> None:
        """Keep supplies in `cache`; `say` hears what the worker's user has to know.

        So many `compilers` run at a time in each build.
        """
        self.cache = cache
        self.say = say
        self._compilers = compilers
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._machines: dict[Order, Machine] = {}
        self._arriving: dict[tuple[str, str], transfer.Arriving] = {}
        self._folders = contextlib.ExitStack()

    def setup(self, worker: Worker) -> None:
        """Answer other workers that ask for a piece of a supply."""
        worker.handlers[_READ] = self.piece

    async def teardown(self, worker: Worker) -> None:  # noqa: ARG002  (the interface's)
        """End all guests."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._folders.close()

    def transition(self, key: Any, start: str, finish: str, **_words: Any) -> None:  # noqa: ANN401, ARG002  (the interface's)
        """End the guest of a trial whose result is not wanted any more."""
        if finish in {"released", "cancelled", "forgotten"} and key in self._running:
            self._running[key].cancel()

    def files_of(self, order: Order) -> dict[str, Path] | list[str]:
        """Return an order's files by their digest; the digests of those that lack, if any."""
        places = {one.digest: transfer.find_supply(one, self.cache) for one in order.supplies}
        lacking = [digest for digest, place in places.items() if place is None]
        return lacking or {digest: place for digest, place in places.items() if place is not None}

    async def carry_out(
        self, key: str, order: Order, job: Sequence[Request], limit_seconds: float
    ) -> Execution | Lacks | None:
        """Carry out a job; None if it was cancelled."""
        files = await asyncio.to_thread(self.files_of, order) if order.supplies else {}
        if isinstance(files, list):
            return Lacks("", tuple(files))
        if order not in self._machines:
            self._machines[order] = names.supplied(order, files, self.cache)
        return await self._until_done(
            key, self._machines[order].execute(order.boot, job, limit_seconds)
        )

    async def build(self, key: str, order: Order) -> tuple[Supply, ...] | Lacks | None:
        """Build a kernel; return its files, None if it was cancelled."""
        files = await asyncio.to_thread(self.files_of, order)
        if isinstance(files, list):
            return Lacks("", tuple(files))
        thread = Elsewhere("build")
        try:
            building = names.built(order, files, Cache(self.cache.root), self._compilers)
            return await self._until_done(key, thread.wait(building))
        finally:
            await asyncio.to_thread(thread.end)

    async def _until_done(self, key: str, work: Coroutine[Any, Any, _Result]) -> _Result | None:
        """Return what work returns, which ends with its task; None if it was cancelled."""
        task = self._running[key] = asyncio.create_task(work)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._running.pop(key, None)
        return None if task.cancelled() else task.result()

    async def piece(self, supply: bytes, start: int) -> bytes:
        """Return a piece of a supply for another worker, packed; a text if it has gone."""
        wanted: Supply = unpack_value(supply)
        place = await asyncio.to_thread(transfer.find_supply, wanted, self.cache)
        if place is None:
            return pack_value(f"the worker that had {wanted.title} has lost it")
        return pack_value(await asyncio.to_thread(transfer.piece_of, place, start))

    def arriving(self, run: str, supply: Supply) -> transfer.Arriving:
        """Return a supply that is on its way for a run; it begins with the first question."""
        if (run, supply.digest) not in self._arriving:
            folder = self._folders.enter_context(self.cache.scratch())
            self._arriving[run, supply.digest] = transfer.Arriving(supply, folder)
        return self._arriving[run, supply.digest]

    async def keep(self, run: str, supply: Supply) -> None:
        """Put a supply whose pieces have all come into the cache.

        Raises:
            MachineError: It is not what was asked for.
        """
        whole = self.arriving(run, supply)
        del self._arriving[run, supply.digest]
        await whole.into(self.cache)


def _place_of(worker: Worker) -> WorkerSide:
    """Return what `hardcost worker` added to a worker."""
    place = worker.plugins[PLUGIN]
    if not isinstance(place, WorkerSide):
        raise TypeError(f"{PLUGIN} is another plugin on {worker.address}")
    return place


def pack_value(value: object) -> bytes:
    """Return a value as bytes, small: Dask's scheduler need not look into it."""
    return zstandard.compress(pickle.dumps(value), _LEVEL)


def unpack_value(data: bytes) -> Any:  # noqa: ANN401  (whatever was packed)
    """Return a value again. It comes from the network, which has to be trusted."""
    return pickle.loads(zstandard.decompress(data))  # noqa: S301  (as Dask's own messages are)


async def carry_out(key: str, packed_trial: bytes) -> bytes:
    """Carry out a trial, as a task of Dask's; return its result, packed."""
    came = await _execute_packed(get_worker(), key, packed_trial)
    if came is None:
        raise Reschedule
    return pack_value(came)


async def _execute_packed(
    worker: Worker, key: str, packed_trial: bytes
) -> Execution | WorkerFault | Lacks | None:
    """Carry out a trial on a worker; None if it was cancelled."""
    order, job, limit_seconds = unpack_value(packed_trial)
    try:
        came = await _place_of(worker).carry_out(key, order, job, limit_seconds)
    except (MachineError, InputError) as error:
        return WorkerFault.of(error)
    return Lacks(worker.address, came.digests) if isinstance(came, Lacks) else came


async def build_kernel(key: str, packed_order: bytes) -> bytes:
    """Build a kernel, as a task of Dask's; return the result, packed."""
    worker, order = get_worker(), unpack_value(packed_order)
    try:
        found = await _place_of(worker).build(key, order)
    except (MachineError, InputError) as error:
        fault = WorkerFault.of(error)
        return pack_value(replace(fault, message=f"on the worker {worker.name}: {fault.message}"))
    if found is None:
        raise Reschedule
    if isinstance(found, Lacks):
        return pack_value(Lacks(worker.address, found.digests))
    return pack_value(BuiltFiles(worker.address, found))


async def kernel_piece(supply: Supply, start: int, dask_worker: Worker) -> bytes:
    """Return a piece of what a worker has made, packed; a text if it has gone."""
    return await _place_of(dask_worker).piece(pack_value(supply), start)


def facts_about(machine: str, dask_worker: Worker) -> dict[str, str] | str:
    """Return the facts of a worker, or as a text why it can't be one of this run."""
    return _facts(facts.facts, machine, dask_worker)


async def about_builds(machine: str, dask_worker: Worker) -> dict[str, str] | str:
    """Return the facts that decide a worker's kernels, or as a text why they are not known."""
    return await asyncio.to_thread(_facts, facts.builders_facts, machine, dask_worker)


def _facts(
    of: Callable[[str], dict[str, str]], machine: str, dask_worker: Worker
) -> dict[str, str] | str:
    if PLUGIN not in dask_worker.plugins:
        return "it was not started by `hardcost worker`"
    try:
        return of(machine)
    except HardcostError as error:
        return str(error)


async def check(packed_trial: bytes, dask_worker: Worker) -> bytes:
    """Carry out the trial by which a worker is compared; return its result, packed."""
    return pack_value(await _execute_packed(dask_worker, "check", packed_trial))


async def missing_digests(wanted: Sequence[Supply], dask_worker: Worker) -> list[str]:
    """Return the digests of those supplies that a worker does not have."""
    cache = _place_of(dask_worker).cache
    places = [await asyncio.to_thread(transfer.find_supply, one, cache) for one in wanted]
    return [one.digest for one, place in zip(wanted, places, strict=True) if place is None]


async def take(run: str, supply: Supply, piece: FilePiece | None, dask_worker: Worker) -> str:
    """Keep a piece of a supply; None: it was the last. Return what went wrong, if anything."""
    place = _place_of(dask_worker)
    try:
        if piece is None:
            await place.keep(run, supply)
        else:
            place.arriving(run, supply).take(piece)
    except (OSError, HardcostError) as error:
        return str(error)
    return ""


async def fetch(run: str, supply: Supply, sources: Mapping[str, str], dask_worker: Worker) -> str:
    """Fetch a supply from the worker that `sources` names; return what went wrong, if anything."""
    place = _place_of(dask_worker)
    start, wanted = 0, pack_value(supply)
    try:
        async with dask_worker.rpc(sources[dask_worker.address]) as peer:
            while True:
                piece = unpack_value(await getattr(peer, _READ)(supply=wanted, start=start))
                if isinstance(piece, str):
                    return piece
                if piece is None:
                    break
                place.arriving(run, supply).take(piece)
                start = piece.end
        await place.keep(run, supply)
    except (OSError, HardcostError) as error:
        return str(error)
    return ""


async def admit(resource: str, guests: Mapping[str, float], dask_worker: Worker) -> None:
    """Let a worker have a run's trials, so many at a time; 0: none any more."""
    await dask_worker.set_resources(**{resource: guests[dask_worker.address]})


def say_refused(what: str, reasons: Mapping[str, str], dask_worker: Worker) -> None:
    """Say on a worker why it gets no trials of a run, or no kernels to build."""
    if PLUGIN in dask_worker.plugins:
        _place_of(dask_worker).say(
            f"a run gives this worker no {what}: {reasons[dask_worker.address]}"
        )


def free_gib(cache: Cache) -> float:
    """Return how many GiB are free where a cache is."""
    cache.root.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(cache.root).free / (1 << 30)


def resources(guests: int, builds: int) -> dict[str, float]:
    """Return what a worker announces."""
    return {GUESTS: float(guests), BUILDS: float(builds)}
