"""A boot of a real machine with added boot parameters, for as long as something is measured.

The machine boots an entry beside its own, once (`crates/keeper/src/boot/one_time_boot.rs`). After
the block it boots its own again. Where we vanish, it does so by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from hardcost.errors import HardcostError, InputError, MachineError, TrialError
from hardcost.machines.real import keeper_messages
from hardcost.machines.real.keeper_messages import KeeperMessage
from hardcost.machines.real.keeper_session import (
    SECONDS,
    SILENCE_SECONDS,
    Keeps,
    UnfitError,
    beat,
    remedy,
    talk,
)
from hardcost.machines.real.probe_session import exchange, last_line
from hardcost.machines.real.restore import (
    boot_book,
    restore_machine,
    running_boot,
    undo_leftovers,
    wait_for_boot,
)

_ASK_SECONDS = 60.0


@dataclass(frozen=True)
class Wished:
    """Words for the command line, for which run; `people`: also where users are logged in.

    `kernel` is the release of the one that boots; None: the one that runs.
    """

    run: str
    parameters: Sequence[str]
    people: bool = False
    kernel: str | None = None

    def __str__(self) -> str:
        """Return the wished boot in words, for a message."""
        kernel = () if self.kernel is None else (f"Linux {self.kernel}",)
        return " ".join((*kernel, *self.parameters))


@contextlib.asynccontextmanager
async def boot_with_parameters(reach: Keeps, wished: Wished) -> AsyncIterator[str]:
    """Boot a machine with added parameters for as long as the block runs; give the boot's name.

    Raises:
        InputError: The machine is not to be booted so.
        UnfitError: It is not to be changed at all.
        TrialError: It did not come up so, and is back with its own boot.
        MachineError: It does not come up at all, or not with its own boot after the block.
    """
    await undo_leftovers(reach, people=wished.people, note=lambda _: None)
    before = (await running_boot(reach)).boot
    token = secrets.token_hex(8)
    try:
        await _ask_for_reboot(reach, wished, token)
        now = await wait_for_boot(reach, before)
        if now.token != token or wished.kernel not in {None, now.release}:
            raise TrialError(
                f"{reach.name} did not come up with {wished}, and is back with its own boot",
                console=await _last_words(reach, before),
                hint="the console of the machine says why",
            )
        async with _keep_boot(reach):
            yield token
    finally:
        # Whatever happened: an entry that was not booted is removed, too.
        if boot_book(reach).leftovers():
            done = await restore_machine(reach, force=False, people=wished.people)
            if done.problems:
                raise MachineError("; ".join(done.problems), hint=remedy(reach))


async def _ask_for_reboot(reach: Keeps, wished: Wished, token: str) -> None:
    """Reboot the machine with added parameters."""
    book, planned = boot_book(reach), list[str]()
    order = {
        "run": wished.run,
        "limit": SILENCE_SECONDS,
        "token": token,
        "people": wished.people,
        "kernel": wished.kernel,
        "parameters": list(wished.parameters),
    }
    async with talk(reach, "boot") as (stream, writer, complaints):
        is_written = False
        writer.write(f"{json.dumps(order)}\n".encode())
        await writer.drain()
        while True:
            match said := await stream.next(SECONDS):
                case keeper_messages.JournalSaid() if is_written:
                    book.write([said.line])
                case keeper_messages.JournalSaid():
                    planned.append(said.line)
                case keeper_messages.PlannedSaid():
                    book.write(planned)
                    is_written = True
                    writer.write(b"go\n")
                    await writer.drain()
                case keeper_messages.RebootingSaid():
                    return
                case keeper_messages.KeeperFailure() | None:
                    raise _reboot_error(reach, said, complaints())
                case _:
                    pass


def _reboot_error(reach: Keeps, said: KeeperMessage | None, complaints: str) -> HardcostError:
    """Return why the machine does not reboot."""
    match said:
        case keeper_messages.UnfitSaid():
            return UnfitError(f"{reach.name} is not to be changed: {said.message}")
        case keeper_messages.RefusedSaid():
            return InputError(f"{reach.name} is not to be booted so: {said.message}")
        case keeper_messages.FailedSaid():
            return TrialError(f"{reach.name} does not reboot: {said.message}")
        case _:
            last = last_line(complaints)
            return MachineError(f"{reach.name}: the keeper ended too early: {last}")


@contextlib.asynccontextmanager
async def _keep_boot(reach: Keeps) -> AsyncIterator[None]:
    """Let the machine know that its boot is wanted, for as long as the block runs."""
    async with talk(reach, "stay", f"{SILENCE_SECONDS:.0f}") as (_, writer, _):
        beating = asyncio.ensure_future(beat(writer))
        try:
            yield
        finally:
            beating.cancel()


async def _last_words(reach: Keeps, before: str) -> str:
    """Return the last lines of the failed boot in the machine's logs."""
    with contextlib.suppress(MachineError):
        came = await exchange(reach.keeper("words", before), b"", _ASK_SECONDS)
        for line in came.written.splitlines():
            said = keeper_messages.read(line)
            if isinstance(said, keeper_messages.WordsSaid) and said.text.strip():
                return said.text
    return "(that boot left nothing in the machine's journal or in pstore)"
