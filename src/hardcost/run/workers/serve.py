"""A worker for runs that are spread over hosts: `hardcost worker`."""

from __future__ import annotations

import logging
import os
import platform
from typing import TYPE_CHECKING

import dask.config
from distributed import Security, Worker

from hardcost.errors import HardcostError, InputError, MachineError
from hardcost.machines.cache import Cache
from hardcost.run.workers import facts
from hardcost.run.workers.place import Place, resources, room
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardcost.run.workers.lab import Lab

DASK_ERRORS = (OSError, RuntimeError, ValueError)
"""What Dask raises where a connection is lost, refused or late; its own are subclasses."""

_START_SECONDS = 30  # that a scheduler may take to answer
_OWN_THREADS = 1  # beside one for each guest and build: for what is asked of a worker meanwhile
_CORES_EACH = 4  # for a kernel's build, where the user does not say how many


def security_of(lab: Lab) -> Security:
    """Return the certificates for Dask: the user's, else those of Dask's configuration.

    Raises:
        InputError: The address asks for TLS, and there are none.
    """
    if lab.authority is None:
        known = Security()
        if lab.address.startswith("tls:") and not dask.config.get("distributed.comm.tls.ca-file"):
            raise InputError(
                f"certificates are missing for {lab.address}",
                hint="name them with --tls-ca, --tls-cert and --tls-key, or in Dask's configuration"
                " (distributed.comm.tls)",
            )
        return known
    return Security(
        require_encryption=True,
        tls_ca_file=str(lab.authority),
        **{
            f"tls_{role}_{what}": str(path)
            for role in ("client", "worker", "scheduler")
            for what, path in (("cert", lab.certificate), ("key", lab.key))
        },
    )


def quieten() -> None:
    """Have Dask's own log say what is fatal alone: what matters to a user hardcost says itself."""
    if not os.environ.get("HARDCOST_DEBUG"):
        for name in ("distributed", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    # A run's scheduler that is gone is not waited for: what was measured is in the store. Nobody
    # looks at the profile that a worker takes of itself a hundred times a second.
    dask.config.set(
        {
            "distributed.comm.timeouts.connect": "10s",
            "distributed.worker.profile.enabled": False,
        }
    )


async def serve(
    lab: Lab, guests: int, builds: int | None, name: str | None, say: Callable[[str], None]
) -> None:
    """Be a worker that runs so many guests at a time, until cancelled; `say` hears what happens.

    It builds so many kernels at a time; None: one for every few cores, if it can build any.

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
    place = Place(Cache(), say, compilers=max(1, cores // max(1, most)))
    with place.cache.scratch() as scratch:
        worker = Worker(
            lab.address,
            name=name or f"{platform.node()}-{os.getpid()}",
            nthreads=guests + most + _OWN_THREADS,
            resources=resources(guests, most),
            security=security_of(lab),
            plugins=(place,),
            memory_limit=0,
            local_directory=str(scratch),
            death_timeout=_START_SECONDS,
            dashboard=False,
        )
        try:
            await _started(worker, lab)
            say(_introduction(worker, place, lab, (guests, most), why_not))
            await worker.finished()
        finally:
            await worker.close(timeout=_START_SECONDS)
    raise MachineError(
        f"the Dask scheduler at {lab.address} is gone, or has closed this worker",
        hint="start the worker again when the scheduler runs",
    )


async def _started(worker: Worker, lab: Lab) -> None:
    try:
        await worker
    except DASK_ERRORS as error:
        raise MachineError(
            f"no Dask scheduler answers at {lab.address}: {error.__cause__ or error}",
            hint="`dask scheduler` starts one; with certificates, both sides need them",
        ) from error


def _why_no_builds() -> MachineError | None:
    """Return why no kernels can be built here; None if they can."""
    try:
        facts.builders_facts("vm")
    except MachineError as error:
        return error
    return None


def _introduction(
    worker: Worker, place: Place, lab: Lab, most: tuple[int, int], why_no_builds: object
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
        f" {place.cache.root} with {room(place.cache):.0f} GiB free; Ctrl-C ends it"
    )
