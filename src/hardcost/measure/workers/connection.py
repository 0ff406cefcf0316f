"""The connection of a run to a Dask scheduler: its workers, and tasks submitted and cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent import futures
from typing import Any

from distributed import Client, Future, KilledWorker

from hardcost.errors import WorkersError
from hardcost.measure.workers.certificates import security_of
from hardcost.measure.workers.dask_settings import DASK_ERRORS, NO_SCHEDULER, quieten
from hardcost.measure.workers.lab import Lab
from hardcost.units import count

CLOSE_SECONDS = 5.0
"""How long what is done in the end may take, where the scheduler may be gone."""

RESUME = "what was measured is saved: the same command with --resume continues"
"""The remedy where the workers of a run are gone."""

_CONNECT_SECONDS = 10.0


class Link:
    """What a run needs of Dask; all of it is used in one event loop."""

    def __init__(self, lab: Lab, resume: str | None = RESUME) -> None:
        self.address = lab.address
        self.run = secrets.token_hex(4)
        self._lab = lab
        self._resume = resume
        self._numbers = itertools.count(1)
        self.client: Client

    async def open(self) -> None:
        """Connect.

        Raises:
            InputError: Certificates are needed, and there are none.
            WorkersError: No scheduler answers.
        """
        quieten()
        self.client = Client(
            self.address,
            asynchronous=True,
            timeout=_CONNECT_SECONDS,
            security=security_of(self._lab),
            set_as_default=False,
        )
        try:
            await self.client
        except DASK_ERRORS as error:
            raise WorkersError(
                f"no Dask scheduler answers at {self.address}: {error.__cause__ or error}",
                hint=NO_SCHEDULER,
            ) from error

    @property
    def is_up(self) -> bool:
        """Whether it is connected."""
        return hasattr(self, "client") and self.client.status == "running"

    async def known_workers(self) -> Mapping[str, Any]:
        """Return what Dask knows of its workers, by address.

        Raises:
            WorkersError: It is gone.
        """
        scheduler = self.client.scheduler
        if scheduler is None or not self.is_up:
            raise self.lost_error()
        known: dict[str, Any] = (await scheduler.identity(n_workers=-1))["workers"]
        return known

    async def workers_with(self, resource: str) -> dict[str, Mapping[str, Any]]:
        """Return what Dask knows of the running workers that have a resource, by address."""
        return {
            address: about
            for address, about in (await self.known_workers()).items()
            if about["resources"].get(resource, 0) >= 1 and about["status"] == "running"
        }

    async def count_without(self) -> str:
        """Return how many workers there are, in brackets, where none has a resource."""
        others = len(await self.known_workers())
        return f" ({count(others, 'worker')} without it)" if others else ""

    async def ask(
        self, question: Callable[..., object], *words: object, workers: Iterable[str]
    ) -> dict[str, Any]:
        """Return what workers answer, by address: an error where one fails, nothing if it dies."""
        said: dict[str, Any] = await self.client.run(
            question, *words, workers=list(workers), on_error="return"
        )
        return said

    def submit(
        self, kind: str, work: Callable[..., Coroutine[Any, Any, bytes]], order: bytes, *needs: str
    ) -> Future[Any]:
        """Give Dask a task, which needs one of each resource in `needs`."""
        key = f"{kind}-{self.run}-{next(self._numbers)}"  # never again that of a cancelled one
        return self.client.submit(
            work, key, order, key=key, resources=dict.fromkeys(needs, 1), pure=False
        )

    async def result(self, future: Future[Any]) -> bytes | None:
        """Return what a task returned; None if Dask has given it up.

        Raises:
            KilledWorker: Too many workers died while they had it.
            WorkersError: Dask could not run it.
        """
        try:
            result: bytes = await future
        except KilledWorker:
            raise
        except (futures.CancelledError, futures.TimeoutError):
            return None
        except Exception as error:
            raise WorkersError(
                f"Dask could not run a task: {type(error).__name__}: {error}",
                hint="scheduler and workers need the same hardcost and Dask as this host",
            ) from error
        return result

    async def is_given(self, future: Future[Any]) -> bool:
        """Say whether a worker has a task just now."""
        given: Mapping[str, Iterable[object]] = await self.client.processing()
        return any(future.key in keys for keys in given.values())

    async def cancel(self, future: Future[Any]) -> None:
        """Take a task back; the scheduler may be gone."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.client.cancel([future])

    def lost_error(self, why: Exception | None = None) -> WorkersError:
        """Return the error of a connection that is lost."""
        said = f": {why}" if why else ""
        return WorkersError(
            f"the connection to the Dask scheduler at {self.address} is lost{said}",
            hint=self._resume,
        )

    async def close(self) -> None:
        """End the connection."""
        if hasattr(self, "client"):
            with contextlib.suppress(*DASK_ERRORS):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self.client.close()
