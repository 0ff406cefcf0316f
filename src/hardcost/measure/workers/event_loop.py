"""An event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


class Elsewhere:
    """An event loop in a thread of its own.

    Dask's client lives in one as long as a run, which itself has one loop after another in the main
    thread. A worker builds each kernel in one, since a build waits for programs in between.
    """

    def __init__(self, name: str = "workers") -> None:
        self._loop = asyncio.new_event_loop()
        # What Dask leaves behind in its tasks as it ends helps no user; what matters is raised.
        self._loop.set_exception_handler(lambda _loop, _about: None)
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    async def wait(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Run work there and return its result; if this is cancelled, so is the work."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def end(self, last: Coroutine[Any, Any, object] | None = None) -> None:
        """Run the last piece of work, once what was cancelled has ended, and end the thread."""
        asyncio.run_coroutine_threadsafe(self._end_tasks(last), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @staticmethod
    async def _end_tasks(last: Coroutine[Any, Any, object] | None) -> None:
        if last is not None:
            await last
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
