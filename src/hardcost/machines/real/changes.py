"""Changes of a machine, held for as long as something is measured there, and undone after it.

The keeper makes and undoes them on the machine. Here, too, it is on disk what everything was before
anything is changed; and a line is sent now and then, so that the keeper knows that we are there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from hardcost.errors import HardcostError, InputError, MachineError, TrialError
from hardcost.machines.process import talking
from hardcost.machines.real import keeping
from hardcost.machines.real.bookkeeping import Book
from hardcost.machines.real.conversation import exchange, text_of
from hardcost.machines.restoration import Restored

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from hardcost.machines.real.journal import Change
    from hardcost.machines.real.keeping import Done, Said, Wanted

SILENCE_SECONDS = 60.0
"""How long the machine hears nothing of us until it undoes all changes by itself."""

_BEAT_SECONDS = 5.0
_SECONDS = 300.0  # to make or undo changes: auditctl takes some seconds for thousands of rules
_PATIENCE_SECONDS = 5.0
_MOST_BYTES = 64 << 20
_PIECE = 1 << 16
_OURS = "`hardcost restore {name}` undoes what is left, and says what it can't undo"


class Keeps(Protocol):
    """How a machine's keeper is reached."""

    @property
    def name(self) -> str:
        """The machine's name."""

    def keeper(self, *arguments: str) -> list[str]:
        """Return the command that starts the keeper there."""


class UnfitError(MachineError):
    """A machine is not to be changed at all, for now."""


@dataclass(frozen=True)
class Asked:
    """What is wanted of a machine: for which run; `people`: also where users are logged in."""

    run: str
    changes: Sequence[Wanted]
    people: bool = False


@dataclass
class Hold:
    """Changes that are made: the keeper's answers, and what everything was before."""

    answers: tuple[Done, ...]
    before: tuple[Change, ...]


@dataclass
class _Stream:
    """What a keeper says, line by line; whatever it is, it is bounded in size and time."""

    reader: asyncio.StreamReader
    rest: bytearray = field(default_factory=bytearray)
    size: int = 0
    ended: bool = False
    lines: list[bytes] = field(default_factory=list)

    async def next(self, seconds: float) -> Said | None:
        """Return what it says next; None at its end.

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
        return keeping.read(self.lines.pop(0))


@contextlib.asynccontextmanager
async def held(
    reach: Keeps, asked: Asked, note: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Hold]:
    """Change a machine for as long as the block runs; give what the keeper answered.

    Raises:
        InputError: The machine is not to be changed so.
        UnfitError: It is not to be changed at all.
        MachineError: A change failed, could not be undone, or was undone before the block ended.
    """
    book = Book(reach.name)
    if book.left():
        done = await restored(reach, force=False, people=asked.people)
        note(f"{done.changes} changes that an interrupted run left on {reach.name} were undone")
        if done.problems:
            raise UnfitError("; ".join(done.problems), hint=_remedy(reach))
    with tempfile.TemporaryFile() as errors:
        async with talking(reach.keeper("hold"), errors=errors, patience=_PATIENCE_SECONDS) as (
            reader,
            writer,
            _,
        ):
            stream = _Stream(reader)
            talk = _Talk(reach, book, stream, writer, note)
            hold = await talk.begun(asked, lambda: text_of(errors))
            beating = asyncio.ensure_future(_beat(writer))
            try:
                yield hold
            finally:
                beating.cancel()
                await talk.ended()


async def restored(reach: Keeps, *, force: bool, people: bool) -> Restored:
    """Undo what an interrupted run left on a machine; `force`: also what others changed since.

    Raises:
        MachineError: The machine can't be reached, or does not say what it did.
    """
    book = Book(reach.name)
    words = ["restore", *["--force"] * force, *["--people"] * people]
    came = await exchange(reach.keeper(*words), book.left(), _SECONDS)
    changes, problems = 0, None
    for line in came.written.splitlines():
        said = keeping.read(line)
        if isinstance(said, keeping.RestoredSaid):
            changes = said.changes
        elif isinstance(said, keeping.ReleasedSaid):
            problems = said.problems
    if problems is None:
        last = (came.said.splitlines() or ["(it said nothing)"])[-1]
        raise MachineError(f"{reach.name} was not restored: {last}", console=came.said)
    if not problems:
        book.close()
    return Restored(changes, problems)


@dataclass(frozen=True)
class _Talk:
    """A conversation with a keeper."""

    reach: Keeps
    book: Book
    stream: _Stream
    writer: asyncio.StreamWriter
    note: Callable[[str], None]

    async def begun(self, asked: Asked, complaints: Callable[[], str]) -> Hold:
        """Have changes made, and return what came of it.

        Raises:
            InputError: They are not to be made.
            MachineError: One failed; all are undone.
        """
        order = {
            "run": asked.run,
            "limit": SILENCE_SECONDS,
            "people": asked.people,
            "changes": [one.model_dump(mode="json") for one in asked.changes],
        }
        await self._say(json.dumps(order))
        planned: list[str] = []
        answers: list[Done] = []
        before: tuple[Change, ...] | None = None
        while True:
            match said := await self.stream.next(_SECONDS):
                case keeping.JournalSaid() if before is None:
                    planned.append(said.line)
                case keeping.JournalSaid():
                    self.book.write([said.line])
                case keeping.PlannedSaid():
                    before = self.book.write(planned).changes
                    await self._say("go")
                case keeping.RestoredSaid():
                    self.note(f"{said.changes} changes that an interrupted run left were undone")
                case keeping.HeldSaid():
                    return Hold(tuple(answers), before or ())
                case keeping.Failure() | keeping.ReleasedSaid() | None:
                    raise await self._failed(said, complaints)
                case _:
                    answers.append(said)

    async def _failed(self, said: Said | None, complaints: Callable[[], str]) -> HardcostError:
        """Return why changes are not made; all that was is undone then.

        Raises:
            MachineError: It is not.
        """
        match said:
            case keeping.UnfitSaid():
                return UnfitError(f"{self.reach.name} is not to be changed: {said.message}")
            case keeping.RefusedSaid():
                return InputError(f"{self.reach.name} is not to be changed so: {said.message}")
            case keeping.FailedSaid():
                await self._undone(said.message)
                return TrialError(f"the machine reports: {said.message}")
            case _:
                last = (complaints().splitlines() or ["(it said nothing)"])[-1]
                return MachineError(f"{self.reach.name}: the keeper ended too early: {last}")

    async def ended(self) -> None:
        """Have all undone.

        Raises:
            MachineError: Something is not as it was, or was undone before it was said.
        """
        with contextlib.suppress(ConnectionError):
            await self._say("undo")
        if not await self._undone("the connection was lost"):
            raise MachineError(
                f"{self.reach.name} heard nothing for {SILENCE_SECONDS:.0f} s, and undid its"
                " changes while the trial ran"
            )

    async def _undone(self, why: str) -> bool:
        """Wait until all is undone; return whether that was since we asked for it.

        Raises:
            MachineError: It is not, or nobody says so.
        """
        while (said := await self.stream.next(_SECONDS)) is not None:
            match said:
                case keeping.JournalSaid():
                    self.book.write([said.line])
                case keeping.ReleasedSaid(problems=()):
                    self.book.close()
                    return said.asked
                case keeping.ReleasedSaid():
                    raise MachineError("; ".join(said.problems), hint=_remedy(self.reach))
                case keeping.FailedSaid():
                    why = said.message
                case _:
                    pass
        raise MachineError(
            f"{self.reach.name} does not say that its changes were undone: {why}",
            hint=_remedy(self.reach),
        )

    async def _say(self, line: str) -> None:
        self.writer.write(f"{line}\n".encode())
        await self.writer.drain()


async def _beat(writer: asyncio.StreamWriter) -> None:
    """Say now and then that we are there."""
    with contextlib.suppress(ConnectionError):
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            writer.write(b"here\n")
            await writer.drain()


def _remedy(reach: Keeps) -> str:
    return _OURS.format(name=reach.name)
