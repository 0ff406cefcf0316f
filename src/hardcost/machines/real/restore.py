"""Undoing what an interrupted run left on a machine, by its keeper and, if need be, a reboot."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import TypeVar

from hardcost.errors import MachineError
from hardcost.machines.real import keeper_messages
from hardcost.machines.real.keeper_messages import WhereSaid
from hardcost.machines.real.keeper_session import SECONDS, Keeps, UnfitError, remedy
from hardcost.machines.real.local_journal import Book
from hardcost.machines.real.probe_session import exchange, last_line
from hardcost.machines.restoration import Restored

UP_SECONDS = 900.0
"""How long a machine may take to go down and come up again: large servers test their memory."""

_Answer = TypeVar("_Answer")

_ASK_SECONDS = 30.0
_PAUSE_SECONDS = 2.0  # between two tries to reach a machine that is booting


@dataclass(frozen=True)
class _Came:
    """A keeper's answer to a restoration."""

    changes: int
    problems: tuple[str, ...]
    left: tuple[str, ...]
    rebooting: bool


def boot_book(reach: Keeps) -> Book:
    """Return the journal that is kept here of a boot that is not the machine's own."""
    return Book(f"{reach.name} boot")


async def restore_machine(reach: Keeps, *, force: bool, people: bool) -> Restored:
    """Undo what an interrupted run left on a machine; `force`: also what others changed since.

    Where it runs a boot that is not its own, it reboots, and this waits until it is up.

    Raises:
        MachineError: The machine can't be reached, or does not say what it did.
    """
    changed, booted = Book(reach.name), boot_book(reach)
    words = [*["--force"] * force, *["--people"] * people]
    # It may be going down just now, also after it has answered.
    patience = UP_SECONDS if booted.leftovers() else 0.0
    before = (
        (await patiently(lambda: running_boot(reach), patience)).boot if booted.leftovers() else ""
    )
    all_came = [await _ask_keeper(reach, words, changed.leftovers(), patience)]
    rebooted = all_came[0].rebooting
    if rebooted:
        await wait_for_boot(reach, before or None)
        all_came.append(await _ask_keeper(reach, words, b"", patience))
    if booted.leftovers() and not any(came.problems for came in all_came):
        all_came.append(
            await _ask_keeper(reach, [*words, "--booted"], booted.leftovers(), patience)
        )
    problems = tuple(one for came in all_came for one in came.problems)
    left = tuple(dict.fromkeys(one for came in all_came for one in came.left))
    if not problems:
        changed.close()
        booted.close()
    return Restored(all_came[0].changes, problems, left, rebooted)


async def patiently(
    asked: Callable[[], Coroutine[object, object, _Answer]], seconds: float
) -> _Answer:
    """Return a machine's answer; it is asked again for so many seconds while there is none.

    Raises:
        MachineError: It does not answer in that time.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return await asked()
        except MachineError:
            if time.monotonic() > until:
                raise
        await asyncio.sleep(_PAUSE_SECONDS)


@contextlib.contextmanager
def lock_machine(reach: Keeps, *, changes: bool) -> Iterator[None]:
    """Keep other runs from here off a machine that changes; those that change nothing go together.

    Raises:
        UnfitError: Another run changes the machine, or measures on it what is to be changed.
        MachineError: The lock can't be written.
    """
    with Book(reach.name).hold_lock(alone=changes) as is_ours:
        if not is_ours:
            does = "measures on" if changes else "changes"
            raise UnfitError(
                f"another run of hardcost {does} {reach.name} just now",
                hint="wait until that run has ended, or end it",
            )
        yield


async def undo_leftovers(reach: Keeps, *, people: bool, note: Callable[[str], None]) -> None:
    """Undo what an interrupted run left, if it left anything.

    Raises:
        UnfitError: Something can't be undone.
        MachineError: The machine can't be reached.
    """
    if not Book(reach.name).leftovers() and not boot_book(reach).leftovers():
        return
    done = await restore_machine(reach, force=False, people=people)
    if done.problems:
        raise UnfitError("; ".join(done.problems), hint=remedy(reach))
    for one in done.left:
        note(one)
    note(f"{done.changes} changes that an interrupted run left on {reach.name} were undone")


async def running_boot(reach: Keeps) -> WhereSaid:
    """Return which boot a machine runs.

    Raises:
        MachineError: It can't be reached, or does not say.
    """
    came = await exchange(reach.keeper("where"), b"", _ASK_SECONDS)
    for line in came.written.splitlines():
        said = keeper_messages.read(line)
        if isinstance(said, keeper_messages.WhereSaid):
            return said
    raise MachineError(
        f"{reach.name} does not say which boot it runs: {last_line(came.said)}", console=came.said
    )


async def wait_for_boot(reach: Keeps, before: str | None, seconds: float = UP_SECONDS) -> WhereSaid:
    """Wait until a machine runs another boot than `before`, or its own if that is None; return it.

    Raises:
        MachineError: It does not come up in so many seconds.
    """
    until = time.monotonic() + seconds
    last = "it does not go down"
    while True:
        try:
            said = await running_boot(reach)
            if said.boot != before if before else said.token is None:
                return said
        except MachineError as error:
            last = str(error)
        if time.monotonic() > until:
            raise MachineError(
                f"{reach.name} was to reboot, and is not up after {seconds:.0f} s: {last}",
                hint="look at its console; whatever it does there, its next boot is its own",
            )
        await asyncio.sleep(_PAUSE_SECONDS)


async def _ask_keeper(reach: Keeps, words: list[str], given: bytes, patience: float) -> _Came:
    """Ask a keeper to undo what is left, and return its answer."""
    return await patiently(lambda: _undo_once(reach, words, given), patience)


async def _undo_once(reach: Keeps, words: list[str], given: bytes) -> _Came:
    came = await exchange(reach.keeper("restore", *words), given, SECONDS)
    changes, rebooting = 0, False
    problems: tuple[str, ...] | None = None
    left: tuple[str, ...] = ()
    for line in came.written.splitlines():
        match said := keeper_messages.read(line):
            case keeper_messages.RestoredSaid():
                changes, left = said.changes, said.left
            case keeper_messages.RebootingSaid():
                rebooting = True
            case keeper_messages.ReleasedSaid():
                problems, left = said.problems, said.left
            case _:
                pass
    if problems is None and not rebooting:
        raise MachineError(
            f"{reach.name} was not restored: {last_line(came.said)}", console=came.said
        )
    return _Came(changes, problems or (), left, rebooting)
