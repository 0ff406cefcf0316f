"""What every run of a guest has around it: its files, its time limit, its answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from hardcost.errors import MachineError, TrialError
from hardcost.machines.machine import Execution
from hardcost.machines.qemu import answers
from hardcost.machines.qemu.argv import Recipe, Streams
from hardcost.machines.qemu.guestprocess import GuestProcess, guest_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from hardcost.machines.cache import Cache
    from hardcost.machines.machine import Request

BOOT_LIMIT_SECONDS = 180.0
SYSTEM_LIMIT_SECONDS = 900.0
"""The same for a whole system: a hundred services on an emulated processor, on a busy host."""

_JOB_PADDED_TO = 1 << 14  # bytes
_GRACE_SECONDS = 10.0  # for what surrounds the guest's own run


class Command(Protocol):
    """What makes QEMU's command line: `argv.boot_words` or `argv.restore_words`."""

    def __call__(self, recipe: Recipe, streams: Streams) -> list[str]:
        """Return the whole command."""


@dataclass(frozen=True)
class Launch:
    """A guest that runs, and when its QEMU was started, on the host's monotonic clock."""

    guest: GuestProcess
    started: float


@contextlib.asynccontextmanager
async def launched(  # noqa: PLR0913  (each is a thing of its own)
    recipe: Recipe,
    command: Command,
    cache: Cache,
    job: Sequence[Request],
    *,
    memory: Path | None,
    limit_seconds: float,
) -> AsyncIterator[Launch]:
    """Give a guest with `job` at hand, in the file `memory` or in memory of its own.

    It is gone when the block ends, and the block ends soon after `limit_seconds` of host time.

    Raises:
        MachineError: QEMU does not start; a `TrialError`, it does not answer.
    """
    started = time.monotonic()
    with cache.scratch() as scratch:
        streams = _streams(scratch, memory, job)

        def words(descriptor: int) -> tuple[list[str], Streams]:
            mine = replace(streams, qmp_descriptor=descriptor)
            return command(recipe, mine), mine

        async with (
            _limited(limit_seconds + _GRACE_SECONDS),
            guest_process(words, scratch / "errors") as guest,
        ):
            yield Launch(guest, started)


async def carried_out(launch: Launch, limit_seconds: float) -> Execution:
    """Wait until a guest, which begins its job now, has ended, and return what came of it.

    Raises:
        TrialError: The guest panicked, hung or died, or its answers make no sense.
    """
    guest, start_seconds = launch.guest, time.monotonic() - launch.started
    await guest.until_ended(limit_seconds)
    try:
        read = answers.read(*guest.streams.places)
    except MachineError as error:
        hint = error.problems[0].hint
        raise guest.failure(str(error), type(error), hint, error.console) from error
    return Execution(read, guest.console(), start_seconds, time.monotonic() - launch.started)


@contextlib.asynccontextmanager
async def _limited(seconds: float) -> AsyncIterator[None]:
    """Bound all of a QEMU's life, also where QEMU itself hangs and answers nothing."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise TrialError(
            f"QEMU did not answer within {seconds:.0f} s", hint="is this machine out of memory?"
        ) from None


def _streams(scratch: Path, memory: Path | None, job: Sequence[Request]) -> Streams:
    lines = "".join(json.dumps(request) + "\n" for request in job)
    # A job's length is alike for all configurations, near enough: the probe skips the blank line.
    (scratch / "job").write_text(lines + " " * (-(len(lines) + 1) % _JOB_PADDED_TO) + "\n")
    return Streams(
        memory=memory,
        console=scratch / "console",
        answers=scratch / "answers",
        serial=scratch / "serial",
        job=scratch / "job",
        qmp_descriptor=-1,
    )
