"""Changes of a machine, held for as long as something is measured there, and undone after it.

The keeper makes and undoes them on the machine. Here, too, it is on disk what everything was before
anything is changed; and a line is sent now and then, so that the keeper knows that we are there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from hardcost.errors import HardcostError, InputError, MachineError, TrialError
from hardcost.machines.real import keeper_messages
from hardcost.machines.real.journal import JournalChange
from hardcost.machines.real.keeper_messages import Done, KeeperMessage, WantedState
from hardcost.machines.real.keeper_session import (
    SECONDS,
    SILENCE_SECONDS,
    Keeps,
    Stream,
    UnfitError,
    beat,
    remedy,
    remedy_of_left,
    talk,
)
from hardcost.machines.real.local_journal import Book
from hardcost.machines.real.probe_session import last_line
from hardcost.machines.real.restore import undo_leftovers


@dataclass(frozen=True)
class RunClaim:
    """A run's claim on a machine; `people`: also where users are logged in.

    `booted` names the boot that it has to run, if that is not its own.
    """

    run: str
    changes: Sequence[WantedState]
    people: bool = False
    booted: str | None = None


@dataclass
class Hold:
    """Changes that are made: the keeper's answers, and what everything was before."""

    answers: tuple[Done, ...]
    before: tuple[JournalChange, ...]


@contextlib.asynccontextmanager
async def hold_changes(
    reach: Keeps, asked: RunClaim, note: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Hold]:
    """Change a machine for as long as the block runs; give what the keeper answered.

    Raises:
        InputError: The machine is not to be changed so.
        UnfitError: It is not to be changed at all.
        MachineError: A change failed, could not be undone, or was undone before the block ended.
    """
    book = Book(reach.name)
    if asked.booted is None:  # else that was done before the boot, which is pending itself
        await undo_leftovers(reach, people=asked.people, note=note)
    async with talk(reach, "hold") as (stream, writer, complaints):
        conversation = _Talk(reach, book, stream, writer, note)
        hold = await conversation.begin(asked, complaints)
        beating = asyncio.ensure_future(beat(writer))
        try:
            yield hold
        finally:
            beating.cancel()
            await conversation.undo_all()


@dataclass(frozen=True)
class _Talk:
    """A conversation with a keeper."""

    reach: Keeps
    book: Book
    stream: Stream
    writer: asyncio.StreamWriter
    note: Callable[[str], None]

    async def begin(self, asked: RunClaim, complaints: Callable[[], str]) -> Hold:
        """Make changes, and return the result.

        Raises:
            InputError: They are not to be made.
            MachineError: One failed; all are undone.
        """
        order = {
            "run": asked.run,
            "limit": SILENCE_SECONDS,
            "people": asked.people,
            "booted": asked.booted,
            "changes": [one.model_dump(mode="json") for one in asked.changes],
        }
        await self._say(json.dumps(order))
        planned: list[str] = []
        answers: list[Done] = []
        before: tuple[JournalChange, ...] | None = None
        while True:
            match said := await self.stream.next(SECONDS):
                case keeper_messages.JournalSaid() if before is None:
                    planned.append(said.line)
                case keeper_messages.JournalSaid():
                    self.book.write([said.line])
                case keeper_messages.PlannedSaid():
                    before = self.book.write(planned).changes
                    await self._say("go")
                case keeper_messages.RestoredSaid():
                    self.note(f"{said.changes} changes that an interrupted run left were undone")
                    for one in said.left:
                        self.note(one)
                case keeper_messages.HeldSaid():
                    return Hold(tuple(answers), before or ())
                case keeper_messages.KeeperFailure() | keeper_messages.ReleasedSaid() | None:
                    raise await self._changes_error(said, complaints)
                case (
                    keeper_messages.RebootingSaid()
                    | keeper_messages.WhereSaid()
                    | keeper_messages.WordsSaid()
                ):
                    raise TrialError(f"the keeper of {self.reach.name} gave an unexpected answer")
                case _:
                    answers.append(said)

    async def _changes_error(
        self, said: KeeperMessage | None, complaints: Callable[[], str]
    ) -> HardcostError:
        """Return why changes are not made; all that was is undone then."""
        match said:
            case keeper_messages.UnfitSaid():
                return UnfitError(f"{self.reach.name} is not to be changed: {said.message}")
            case keeper_messages.RefusedSaid():
                return InputError(f"{self.reach.name} is not to be changed so: {said.message}")
            case keeper_messages.FailedSaid():
                await self._wait_until_undone(said.message)
                return TrialError(f"the machine reports: {said.message}")
            case _:
                last = last_line(complaints())
                return MachineError(f"{self.reach.name}: the keeper ended too early: {last}")

    async def undo_all(self) -> None:
        """Undo all changes.

        Raises:
            MachineError: Something is not as it was, or was undone before it was said.
        """
        with contextlib.suppress(ConnectionError):
            await self._say("undo")
        if not await self._wait_until_undone("the connection was lost"):
            raise MachineError(
                f"{self.reach.name} heard nothing for {SILENCE_SECONDS:.0f} s, and undid its"
                " changes while the trial ran"
            )

    async def _wait_until_undone(self, why: str) -> bool:
        """Wait until all is undone; return whether that was since we asked for it."""
        while (said := await self.stream.next(SECONDS)) is not None:
            match said:
                case keeper_messages.JournalSaid():
                    self.book.write([said.line])
                case keeper_messages.ReleasedSaid(problems=(), left=()):
                    self.book.close()
                    return said.asked
                case keeper_messages.ReleasedSaid(problems=()):
                    self.book.close()  # the machine keeps its own until another run begins
                    raise MachineError("; ".join(said.left), hint=remedy_of_left(self.reach))
                case keeper_messages.ReleasedSaid():
                    every = (*said.problems, *said.left)
                    raise MachineError("; ".join(every), hint=remedy(self.reach))
                case keeper_messages.FailedSaid():
                    why = said.message
                case _:
                    pass
        raise MachineError(
            f"{self.reach.name} does not say that its changes were undone: {why}",
            hint=remedy(self.reach),
        )

    async def _say(self, line: str) -> None:
        self.writer.write(f"{line}\n".encode())
        await self.writer.drain()
