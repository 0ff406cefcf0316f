"""The parts of a conversation with a machine's keeper."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Protocol

from hardcost.errors import MachineError, TrialError
from hardcost.host.process import talking
from hardcost.machines.real import keeper_messages
from hardcost.machines.real.keeper_messages import KeeperMessage
from hardcost.machines.real.probe_session import complaints, text_of

SILENCE_SECONDS = 60.0
"""How long the machine hears nothing of us until it undoes all changes by itself."""

SECONDS = 300.0
"""To make or undo changes: auditctl takes some seconds for thousands of rules."""

_PATIENCE_SECONDS = 5.0  # for a keeper to end after its input was closed
_BEAT_SECONDS = 5.0  # a slow network may swallow several before the machine undoes everything
_MOST_BYTES = 64 << 20  # of all that the keeper says: the other machine is not trusted
_PIECE = 1 << 16


class Keeps(Protocol):
    """How a machine's keeper is reached."""

    @property
    def name(self) -> str:
        """The machine's name."""

    def keeper(self, *arguments: str) -> list[str]:
        """Return the command that starts the keeper there."""


class UnfitError(MachineError):
    """A machine is not to be changed at all, for now."""


@dataclass
class Stream:
    """A keeper's messages, line by line, bounded in size and time."""

    reader: asyncio.StreamReader
    rest: bytearray = field(default_factory=bytearray)
    size: int = 0
    ended: bool = False
    lines: list[bytes] = field(default_factory=list)

    async def next(self, seconds: float) -> KeeperMessage | None:
        """Return the next message; None at the end.

        Raises:
            TrialError: It says nothing for so long, what it says is none of its answers, or has no
                end.
        """
        while not self.lines:
            if self.ended:
                return None
            try:
                async with asyncio.timeout(seconds):
                    piece = await self.reader.read(_PIECE)
            except TimeoutError:
                raise TrialError(f"the keeper said nothing for {seconds:.0f} s") from None
            except ConnectionError:
                piece = b""
            self.ended, self.size = not piece, self.size + len(piece)
            if self.size > _MOST_BYTES:
                raise TrialError("the keeper wrote without end")
            self.rest += piece
            if b"\n" in piece:
                *self.lines, rest = bytes(self.rest).split(b"\n")
                self.rest = bytearray(rest)
        return keeper_messages.read(self.lines.pop(0))


@contextlib.asynccontextmanager
async def talk(
    reach: Keeps, *words: str
) -> AsyncIterator[tuple[Stream, asyncio.StreamWriter, Callable[[], str]]]:
    """Start a machine's keeper, and give what it says, where to answer, and its complaints."""
    argv = reach.keeper(*words)
    said = complaints(argv[0])
    async with talking(argv, said=said, patience=_PATIENCE_SECONDS) as (reader, writer, _):
        yield Stream(reader), writer, lambda: text_of(said)


async def beat(writer: asyncio.StreamWriter) -> None:
    """Say now and then that we are there."""
    with contextlib.suppress(ConnectionError):
        while True:
            writer.write(b"here\n")
            await writer.drain()
            await asyncio.sleep(_BEAT_SECONDS)


def remedy(reach: Keeps) -> str:
    """Return the remedy for changes that are left."""
    return f"`hardcost restore {reach.name}` undoes what is left, and says what it can't undo"


def remedy_of_left(reach: Keeps) -> str:
    """Return the remedy for changes by others, too."""
    return f"`hardcost restore --force {reach.name}` undoes that too, until another run begins"
