"""Running work that waits for guests, so that Ctrl-C, once or often, ends it in good order."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from hardcost.errors import MachineError
from hardcost.host.process import interrupt
from hardcost.library.terminal import leave_lost_terminal

_Result = TypeVar("_Result")
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def until_done(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run `work` to its end and return its result.

    The first signal cancels it, later ones change nothing: what `work` started ends in its own
    order. Python's own way, an exception wherever the program is when the second signal arrives,
    breaks asyncio in the middle of its work.

    Where a loop runs already, as in a notebook, `work` runs in a thread of its own.

    Raises:
        KeyboardInterrupt: SIGINT, SIGTERM or SIGHUP came, and `work` has ended.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _with_signals(work)
    return _in_thread(work)


def _with_signals(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run work in this thread; signals cancel it, where this thread is the one that gets them."""
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(work)
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


def _in_thread(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run work in a thread, and wait for it; Ctrl-C cancels it."""
    begun, result = threading.Event(), Future[_Result]()
    task: asyncio.Task[_Result] | None = None
    loop = asyncio.new_event_loop()

    async def run() -> _Result:
        nonlocal task
        task = asyncio.ensure_future(work)
        begun.set()
        return await task

    def carry_out() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                result.set_result(runner.run(run()))
        except BaseException as error:  # noqa: BLE001  (the thread that waits raises it)
            begun.set()
            result.set_exception(error)

    thread = threading.Thread(target=carry_out)
    thread.start()
    try:
        return result.result()
    except KeyboardInterrupt:
        begun.wait()
        interrupt()
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
