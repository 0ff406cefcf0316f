"""One QEMU process: started, spoken to by QMP, ended, its words read back as data."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from qemu.qmp import QMPClient, QMPError

from hardcost.errors import MachineError, TrialError
from hardcost.host.install_command import install
from hardcost.host.output import BoundedOutput
from hardcost.host.process import Guard, kill, running
from hardcost.machines.vm.argv import Streams
from hardcost.machines.vm.confinement import QemuFiles
from hardcost.machines.vm.time_limit import Standstill, StoodStillError, limit_guest_time
from hardcost.supply.emulators.emulator import QEMU

REMEDY = install("qemu-system-x86")
_REASONS = ("Kernel panic", "hardcost-probe: ")  # what begins a console's words on why it ended
_CONSOLE_LIMIT = 4000  # bytes of a console log's end that an error shows
_ANSWERS_LIMIT = 256 << 20  # bytes; more than any job gives, less than a disk
_NOWHERE = Path("/")  # where QEMU works: it makes no files
_STATE = "state"  # what QEMU knows the file of a snapshot by
_WRITES_FILES = 10  # QEMU's version since which a snapshot's file is handed so; 11 takes no other
_POLL_SECONDS = 0.002  # a restore takes some tens of milliseconds, so longer pauses would show
_LAST_SECONDS = 5.0  # of host time, for a QEMU that speaks no more to be gone

logging.getLogger("qemu.qmp").setLevel(logging.CRITICAL)  # a guest that ends is no error to us


@dataclass
class GuestProcess:
    """A running QEMU and its streams."""

    process: asyncio.subprocess.Process
    qmp: QMPClient
    streams: Streams
    errors: Path
    still: Standstill = field(default_factory=Standstill)

    async def command(self, name: str, **arguments: object) -> Any:  # noqa: ANN401  (JSON)
        """Give QEMU a QMP command and return its answer.

        Raises:
            MachineError: QEMU refuses, or is gone.
        """
        try:
            return await self.qmp.execute(name, arguments or None)
        except (QMPError, EOFError, OSError) as error:
            raise await self.exit_error(f"QEMU failed at '{name}': {error}") from error

    async def hand_over(self, file: IO[bytes]) -> str:
        """Give QEMU a file that hardcost has opened; return what it is called in a migration.

        Raises:
            MachineError: QEMU is gone.
        """
        try:
            self.qmp.send_fd_scm(file.fileno())
        except (QMPError, EOFError, OSError) as error:
            raise await self.exit_error(f"QEMU takes no file: {error}") from error
        if (await self.command("query-version"))["qemu"]["major"] < _WRITES_FILES:
            await self.command("getfd", fdname=_STATE)
            return f"fd:{_STATE}"
        return f"file:/dev/fdset/{(await self.command('add-fd'))['fdset-id']}"

    async def until_migrated(self) -> None:
        """Wait until a snapshot is written or read.

        Raises:
            MachineError: It failed.
        """
        while True:
            status = (await self.command("query-migrate")).get("status")
            if status == "completed":
                return
            if status in {"failed", "cancelled"}:
                raise self.failure(f"QEMU could not write or read the snapshot: {status}")
            await asyncio.sleep(_POLL_SECONDS)

    async def until_paused(self, limit_seconds: float) -> None:
        """Wait until the guest has stopped itself.

        Raises:
            MachineError: It died or did not stop within `limit_seconds` of host time.
        """
        try:
            async with limit_guest_time(limit_seconds, self.still):
                while (status := await self._status()) is not None:
                    self._bound_output()
                    if status == "guest-panicked":
                        return
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise self._boot_error(limit_seconds) from None
        raise await self.exit_error("the guest died while it booted")

    async def until_heard(self, limit_seconds: float) -> None:
        """Wait until the guest that boots has given its first answer, or part of it.

        Raises:
            MachineError: It died or did not boot within `limit_seconds` of host time.
        """
        try:
            async with limit_guest_time(limit_seconds, self.still):
                while not any(place.stat().st_size for place in self.streams.places):
                    if self.process.returncode is not None:
                        raise await self.exit_error("the guest died while it booted")
                    self._bound_output()
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            raise self._boot_error(limit_seconds) from None

    def _boot_error(self, limit_seconds: float) -> MachineError:
        return self.late(f"the guest did not boot within {limit_seconds:.0f} s", MachineError)

    def late(
        self, message: str, kind: Callable[..., MachineError], hint: str | None = None
    ) -> MachineError:
        """Return the error of a guest that took too long; of its own kind where it did nothing."""
        if self.still.was_seen:
            message += ", some of which this host or QEMU stood still"
            kind = StoodStillError
        return self.failure(message, kind, hint)

    async def _status(self) -> str | None:
        """Return the guest's status as QEMU reports it; None if QEMU is gone."""
        try:
            answer: Any = await self.qmp.execute("query-status")
        except (QMPError, EOFError, OSError):
            return None
        return str(answer["status"])

    async def until_ended(self, limit_seconds: float) -> None:
        """Wait until QEMU has ended.

        Raises:
            TrialError: It did not within `limit_seconds` of host time, or wrote more than any
                trial does.
        """
        try:
            async with limit_guest_time(limit_seconds, self.still):
                ended = asyncio.ensure_future(self.process.wait())
                while not (await asyncio.wait({ended}, timeout=1))[0]:
                    self._bound_output()
        except TimeoutError:
            raise self.late(
                f"the guest was still running after {limit_seconds:.0f} s",
                TrialError,
                hint="`--timeout SECONDS` gives it longer",
            ) from None
        self._bound_output()  # what it wrote last is read whole
        if _killer(self.process):
            raise await self.exit_error("", TrialError)

    def _bound_output(self) -> None:
        for path in (*self.streams.places, self.streams.console.path):
            if path.stat().st_size > _ANSWERS_LIMIT:
                raise self.failure("the guest wrote without end", TrialError)

    def console(self) -> str:
        """Return the end of the console log, and of QEMU's own words, as text."""
        return _end_of(self.errors) + _end_of(self.streams.console.path)

    async def exit_error(
        self, message: str, kind: Callable[..., MachineError] = MachineError
    ) -> MachineError:
        """Return the error of a QEMU that speaks no more: who killed it, else `message`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_SECONDS):
                await self.process.wait()
        killer = _killer(self.process)
        if killer is None:
            return self.failure(message, kind)
        hint = "if the kernel ran out of memory, its log says so; --jobs 1 takes the least"
        return self.failure(f"QEMU was killed by {killer}", kind, hint)

    def failure(
        self,
        message: str,
        kind: Callable[..., MachineError] = MachineError,
        hint: str | None = None,
        logs: str = "",
    ) -> MachineError:
        """Return an error of `kind` with the reason that the console gives, its end, and `logs`."""
        console = self.console()
        reason = _reason(console)
        # The probe may have said the same to us.
        if reason and reason.removeprefix(_REASONS[1]) not in message:
            message += f" ({reason})"
        return kind(message, hint=hint, console=console + logs)


@contextlib.asynccontextmanager
async def guest_process(
    words: Callable[[int], list[str]],
    streams: Streams,
    files: QemuFiles,
    guard: Guard,
    still: Standstill,
) -> AsyncIterator[GuestProcess]:
    """Give a QEMU that is ready for commands; it is gone when the block ends.

    `words` gets the descriptor of QEMU's end of the QMP connection and returns the command. QEMU
    works behind `guard` with `files`, which are closed here; `still` gets to know its process.

    Raises:
        MachineError: QEMU is missing or does not start.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        argv = words(theirs.fileno())
        errors = streams.folder / "errors"
        keep = [theirs.fileno(), *files]
        async with running(
            argv, said=BoundedOutput(QEMU, errors), keep=keep, folder=_NOWHERE, guard=guard
        ) as process:
            theirs.close()
            files.close()
            qmp = QMPClient("guest")
            guest = GuestProcess(process, qmp, streams, errors, still)
            still.pid = process.pid
            try:
                await qmp.connect(ours)
            except (QMPError, EOFError, OSError, AssertionError) as error:
                # QMPClient asserts that a QEMU which has greeted it is still there.
                await process.wait()
                if "not found" in guest.console():
                    raise guest.failure(f"{QEMU} did not start", hint=REMEDY) from error
                raise await guest.exit_error(f"{QEMU} did not start") from error
            try:
                yield guest
            finally:
                kill(process)
                with contextlib.suppress(QMPError, EOFError, OSError):
                    await qmp.disconnect()


def _reason(console: str) -> str:
    """Return the first words on a console that say why the guest ended, "" where none do."""
    for line in console.splitlines():
        for beginning in _REASONS:
            if beginning in line:
                return line[line.index(beginning) :].strip()
    return ""


def _killer(process: asyncio.subprocess.Process) -> str | None:
    """Return the name of the signal that ended a program, None where none did."""
    if process.returncode is None or process.returncode >= 0:
        return None
    return signal.Signals(-process.returncode).name


def _end_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _CONSOLE_LIMIT))
            return file.read(_CONSOLE_LIMIT).decode(errors="replace")
    except OSError:
        return ""
