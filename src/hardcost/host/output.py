"""The output of a running program, bounded so that it fills neither disk nor memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from hardcost.errors import MachineError

MOST_BYTES = 64 << 20
"""Of what a program prints into a file: a kernel build prints up to some megabytes."""

_PIECE = 1 << 16  # bytes; as much as a pipe holds, so that one reading empties it
_TAIL = 1 << 14  # bytes of the end that are kept in memory


class BoundedOutput:
    """A program's output: its end in memory, and all of it in a file, if one is given.

    Once that is more than `most` bytes, nothing more is taken, and the program is to be killed.
    """

    def __init__(self, name: str, path: Path | None = None, most: int = MOST_BYTES) -> None:
        self._name = name
        self._path = path
        self._most = most
        self.kill: Callable[[], None] = lambda: None  # set by who has started it
        self._size = 0
        self._tail = bytearray()

    @property
    def tail(self) -> bytes:
        """The end of what it has printed."""
        return bytes(self._tail)

    @property
    def fault(self) -> str | None:
        """Why the program was killed; None if it was not, for what it has printed."""
        if self._size <= self._most:
            return None
        return f"{self._name} was killed: it printed more than {self._most >> 10} KiB"

    @contextlib.contextmanager
    def pipe(self) -> Iterator[int]:
        """Give the end of a pipe for the program, as long as it runs; the event loop reads it.

        By the time that asyncio says it has ended, what it printed last was read.

        Raises:
            MachineError: It printed without end, whatever else has failed since.
        """
        loop = asyncio.get_running_loop()
        with contextlib.ExitStack() as opened:
            file = None if self._path is None else opened.enter_context(self._path.open("wb", 0))
            ours, theirs = os.pipe()
            opened.callback(os.close, theirs)
            opened.callback(os.close, ours)
            os.set_blocking(ours, False)

            def read() -> None:
                try:
                    piece = os.read(ours, _PIECE)
                except BlockingIOError:
                    return
                taken = piece[: max(0, self._most - self._size)]
                self._size += len(piece)
                self._tail[:] = (self._tail + taken)[-_TAIL:]
                if file is not None:
                    with contextlib.suppress(OSError):  # a full disk is reported by who writes more
                        file.write(taken)
                if self._size > self._most:
                    loop.remove_reader(ours)
                    self.kill()

            loop.add_reader(ours, read)
            opened.callback(loop.remove_reader, ours)
            try:
                yield theirs
            except MachineError as error:
                if self.fault:
                    raise type(error)(self.fault, console=error.console) from error
                raise
            finally:
                read()
            if self.fault:
                raise MachineError(self.fault)
