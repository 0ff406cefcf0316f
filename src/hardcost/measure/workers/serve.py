"""A worker for runs that are spread over hosts: `hardcost worker`."""

from __future__ import annotations

import errno
import os
import platform
from collections.abc import Callable

import distributed

from hardcost.errors import HardcostError, MachineError
from hardcost.measure.workers import facts
from hardcost.measure.workers.certificates import security_of
from hardcost.measure.workers.dask_settings import DASK_ERRORS, NO_SCHEDULER, quieten
from hardcost.measure.workers.dask_tls import TlsWorker, address_towards, bracket_ipv6
from hardcost.measure.workers.lab import Lab
from hardcost.measure.workers.worker import WorkerSide, free_gib, resources
from hardcost.supply.cache.cache import Cache
from hardcost.units import count

_START_SECONDS = 30  # that a scheduler may take to answer
_OWN_THREADS = 1  # beside one for each guest and build: for what is asked of a worker meanwhile
_NOT_OURS = frozenset({errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES})
_CORES_EACH = 4  # for a kernel's build, where the user does not say how many


async def serve(  # noqa: PLR0913  (each is a thing of its own)
    lab: Lab,
    guests: int,
    builds: int | None,
    say: Callable[[str], None],
    *,
    name: str | None = None,
    listens: tuple[str, int] | None = None,
) -> None:
    """Be a worker that runs so many guests at a time, until cancelled; `say` hears what happens.

    It builds so many kernels at a time; None: one for every few cores, if it can build any. It
    `listens` on a host and a port; None: on the address by which it reaches the scheduler.

    Raises:
        MachineError: No scheduler answers, or the one that did is gone; or kernels are to be built,
            and can't be.
    """
    quieten()
    why_not = _why_no_builds()
    if builds and why_not is not None:
        raise MachineError(f"--builds {builds}: {why_not}", hint=why_not.problems[0].hint)
    cores = len(os.sched_getaffinity(0))
    most = (0 if why_not else max(1, cores // _CORES_EACH)) if builds is None else builds
    security = security_of(lab)
    host, port = listens or (address_towards(lab), 0)
    host = bracket_ipv6(host)
    place = WorkerSide(Cache(), say, compilers=max(1, cores // max(1, most)))
    with place.cache.scratch() as scratch:
        worker: distributed.Worker = TlsWorker(
            lab.address,
            name=name or f"{platform.node()}-{os.getpid()}",
            nthreads=guests + most + _OWN_THREADS,
            resources=resources(guests, most),
            host=host,
            port=port,
            security=security,
            plugins=(place,),
            memory_limit=0,
            local_directory=str(scratch),
            death_timeout=_START_SECONDS,
            dashboard=False,
        )
        try:
            await _start_worker(worker, lab, host, port)
            say(_introduction(worker, place, lab, (guests, most), why_not))
            await worker.finished()
        finally:
            await worker.close(timeout=_START_SECONDS)
    raise MachineError(
        f"the Dask scheduler at {lab.address} is gone, or has closed this worker",
        hint="start the worker again when the scheduler runs",
    )


async def _start_worker(worker: distributed.Worker, lab: Lab, host: str, port: int) -> None:
    try:
        await worker
    except DASK_ERRORS as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in _NOT_OURS:
            raise MachineError(
                f"the worker can't listen at {host}:{port}: {cause.strerror}",
                hint="--listen names an address of this host, and a port that is free, or none",
            ) from error
        raise MachineError(
            f"no Dask scheduler answers at {lab.address}: {error.__cause__ or error}",
            hint=NO_SCHEDULER,
        ) from error


def _why_no_builds() -> MachineError | None:
    """Return why no kernels can be built here; None if they can."""
    try:
        facts.builders_facts("vm")
    except MachineError as error:
        return error
    return None


def _introduction(
    worker: distributed.Worker,
    place: WorkerSide,
    lab: Lab,
    most: tuple[int, int],
    why_no_builds: object,
) -> str:
    guests, builds = most
    reason = f" ({why_no_builds})" if why_no_builds and not builds else ""
    try:
        qemu = f"QEMU {facts.facts('vm')['QEMU']}"
    except HardcostError as error:
        qemu = f"no machine vm ({error})"
    return (
        f"worker {worker.name} at {lab.address}: {guests} guests at a time,"
        f" {count(builds, 'kernel build') if builds else 'no kernel builds'}{reason}, {qemu}, cache"
        f" {place.cache.root} with {free_gib(place.cache):.0f} GiB free; Ctrl-C ends it"
    )
