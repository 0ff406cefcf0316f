"""Running what waits for guests, so that Ctrl-C ends it in good order, pressed once or often."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any, TypeVar

from hardcost.cli.terminal import leave_lost_terminal
from hardcost.errors import MachineError
from hardcost.machines.process import interrupt

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

_Result = TypeVar("_Result")
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def until_done(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run `work` to its end and return its result.

    The first signal cancels it, later ones change nothing: what `work` started ends in its own
    order. Python's own way, an exception wherever the program stands at the second signal, breaks
    asyncio in its midst.

    Raises:
        KeyboardInterrupt: SIGINT, SIGTERM or SIGHUP came, and `work` has ended.
    """
    before = {number: signal.getsignal(number) for number in _ENDING}
    if before[signal.SIGHUP] is signal.SIG_IGN:
        del before[signal.SIGHUP]  # below nohup
    try:
        return asyncio.run(_cancelled_by_signals(work, tuple(before)))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _cancelled_by_signals(
    work: Coroutine[Any, Any, _Result], numbers: Sequence[signal.Signals]
) -> _Result:
    task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
    is_stopped = False

    def cancel_once() -> None:
        if not task.cancelling():
            task.cancel()

    def stop(_signal: int, _frame: object) -> None:
        nonlocal is_stopped
        leave_lost_terminal()
        if not is_stopped:
            is_stopped = True
            interrupt()  # the loop may wait for a program, and sees nothing before that has ended
        if not loop.is_closed():
            loop.call_soon_threadsafe(cancel_once)

    for number in numbers:
        signal.signal(number, stop)
    try:
        return await task
    except MachineError:
        if is_stopped:  # it may well be of the program that was killed for it
            raise asyncio.CancelledError from None
        raise
