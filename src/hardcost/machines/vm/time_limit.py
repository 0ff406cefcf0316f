"""Time limits of guests, which count only the time in which a guest could run.

A laptop that sleeps, a host that is paused, a QEMU or a hardcost that is stopped by a signal: none
of that is the guest's own time. So seconds are counted by ticks, and neither one that comes far too
late counts in full, nor one at which QEMU is found stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hardcost.errors import TrialError

_Result = TypeVar("_Result")

_TICK_SECONDS = 1.0
_LATE_SECONDS = 3.0  # between two ticks: no host is so busy; it stood still
_STOPPED = frozenset("Tt")  # by a signal, by a debugger


class StoodStillError(TrialError):
    """A guest took too long, and was stopped for a part of that, which may have done it harm."""


@dataclass
class Standstill:
    """Whether a guest was seen to stand still; `pid` is its QEMU's, None before that is started."""

    pid: int | None = None
    was_seen: bool = False

    def is_stopped(self) -> bool:
        """Say whether QEMU is stopped right now."""
        try:
            said = Path(f"/proc/{self.pid}/stat").read_text(errors="replace")
        except OSError:
            return False
        return said.rpartition(")")[2].split()[0] in _STOPPED


@contextlib.asynccontextmanager
async def limit_guest_time(seconds: float, still: Standstill) -> AsyncIterator[None]:
    """Bound a block to `seconds` in which the guest could run.

    Raises:
        TimeoutError: It took longer.
    """
    loop = asyncio.get_running_loop()
    left, last = seconds, loop.time()
    timer: asyncio.TimerHandle
    async with asyncio.timeout(None) as bound:

        def tick() -> None:
            nonlocal left, last, timer
            passed, last = loop.time() - last, loop.time()
            if still.is_stopped():
                still.was_seen = True
                passed = 0
            elif passed > _LATE_SECONDS:
                still.was_seen = True
                passed = _TICK_SECONDS
            left -= passed
            if left <= 0:
                bound.reschedule(last)
            else:
                timer = loop.call_later(min(_TICK_SECONDS, left), tick)

        timer = loop.call_later(min(_TICK_SECONDS, seconds), tick)
        try:
            yield
        finally:
            timer.cancel()


async def twice_at_most(action: Callable[[], Awaitable[_Result]]) -> _Result:
    """Return what `action` returns; carry it out once more where the guest was stopped in it.

    Raises:
        TrialError: It failed for another reason, or twice for this one.
    """
    try:
        return await action()
    except StoodStillError:
        return await action()
