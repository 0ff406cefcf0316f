"""The interface to other programs: the only place in hardcost that starts one."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections import deque
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines.packagenames import install

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Container, Iterator, Mapping, Sequence
    from pathlib import Path

_MESSAGE_LIMIT = 4000  # characters of a failed program's output that an error repeats
_KEPT_LINES = 30  # of a followed program's output, for the same purpose
_FULL = re.compile("No space left on device|enough free space in|Disk quota exceeded")
_SYSTEM_PROGRAMS = "/usr/local/sbin:/usr/sbin:/sbin"
_SILENCE_SECONDS = 1.0
_DEATH_SECONDS = 10.0  # until all processes of a killed program must have ended
# setpriv has the kernel kill the program when hardcost dies, even by SIGKILL. The shell after it
# covers the moment before: it continues only if hardcost is still its parent.
_WITH_US = ("setpriv", "--pdeathsig", "KILL")
_STILL_OURS = ("--", "sh", "-c", 'test "$PPID" = "$0" && exec "$@"')
_BARE = ("PATH", "LC_ALL")  # environment variables that a guarded program gets


@dataclass(frozen=True)
class Guard:
    """What restricts a program's rights: words that run setpriv, and setpriv's own options."""

    before: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def run(
    argv: Sequence[str | Path],
    *,
    folder: Path | None = None,
    remedy: str | None = None,
    limit_seconds: float = 600,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a program to its end and return what it printed, as text; it ends with hardcost.

    Raises:
        MachineError: As `output` does.
    """
    found = output(
        argv,
        folder=folder,
        remedy=remedy,
        limit_seconds=limit_seconds,
        environment=environment,
    )
    return found.decode(errors="replace")


def output(  # noqa: PLR0913  (each is a thing of its own)
    argv: Sequence[str | Path],
    *,
    folder: Path | None = None,
    remedy: str | None = None,
    limit_seconds: float = 600,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    fine: Container[int] = (0,),
) -> bytes:
    """Run a program to its end and return the bytes that it printed; it ends with hardcost.

    It reads `stdin`; `fine` are the statuses with which it may end.

    Raises:
        MachineError: It is missing, takes longer than `limit_seconds`, or ends with a status
            that is not fine; the message holds the command, ready to paste, and its output.
    """
    words = [str(word) for word in argv]
    environment = {**_plain_environment(), **(environment or {})}
    for program in (words[0], _WITH_US[0]):
        if shutil.which(program, path=environment["PATH"]) is None:
            raise MachineError(f"{program} is not installed", hint=remedy)
    try:
        done = subprocess.run(  # noqa: S603  (no shell but for the guard; the words are ours)
            [*_WITH_US, *_STILL_OURS, str(os.getpid()), *words],
            cwd=folder,
            input=stdin,
            capture_output=True,
            timeout=limit_seconds,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise MachineError(
            f"still running after {limit_seconds:.0f} s: {shlex.join(words)}", hint=remedy
        ) from error
    if done.returncode not in fine:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()[-_MESSAGE_LIMIT:]
        raise MachineError(
            f"failed with status {done.returncode}: {shlex.join(words)}\n{said}",
            hint=_hint(said, remedy),
        )
    return done.stdout


def follow(  # noqa: PLR0913  (each is a thing of its own)
    argv: Sequence[str | Path],
    heard: Callable[[str | None], None],
    *,
    remedy: str | None = None,
    environment: Mapping[str, str] | None = None,
    limit_seconds: float = math.inf,
    shown: Sequence[str] | None = None,
) -> None:
    """Run a program to its end; `heard` receives each line it prints, None for a silent second.

    The program and all its processes end with this call, however it ends. `shown` is its name in
    errors, by default `argv`.

    Raises:
        MachineError: It takes longer than `limit_seconds`, or ends with a status other than 0; the
            message holds the end of its output.
    """
    words = [str(word) for word in argv]
    name = shlex.join(shown or words)
    until = time.monotonic() + limit_seconds
    try:
        process = subprocess.Popen(  # noqa: S603  (no shell but for the guard; the words are ours)
            [*_WITH_US, *_STILL_OURS, str(os.getpid()), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**_plain_environment(), **(environment or {})},
        )
    except FileNotFoundError as error:
        raise MachineError("setpriv is not installed", hint=install("util-linux")) from error
    tail: deque[str] = deque(maxlen=_KEPT_LINES)
    with process:
        try:
            for line in _lines(process, _SILENCE_SECONDS):
                tail.extend(() if line is None else (line,))
                heard(line)
                if time.monotonic() > until:
                    raise MachineError(f"still running after {limit_seconds:.0f} s: {name}")
            status = process.wait()
        finally:
            _end(process)
    if status:
        output = "\n".join(tail)[-_MESSAGE_LIMIT:]
        raise MachineError(
            f"failed with status {status}: {name}\n{output}", hint=_hint(output, remedy)
        )


def _hint(output: str, remedy: str | None) -> str | None:
    """Return the remedy for a failed program, by its output."""
    return "no space is left on the disk: free some" if _FULL.search(output) else remedy


def _lines(process: subprocess.Popen[bytes], silence: float) -> Iterator[str | None]:
    """Yield each line that a program prints, None after `silence` seconds without one."""
    if process.stdout is None:
        return
    rest, descriptor = b"", process.stdout.fileno()
    while True:
        if not select.select([descriptor], [], [], silence)[0]:
            yield None
            continue
        read = os.read(descriptor, 65536)
        *lines, rest = (rest + read).split(b"\n")
        yield from (line.decode(errors="replace") for line in lines)
        if not read:
            if rest:
                yield rest.decode(errors="replace")
            return


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with its group, and wait until nothing holds the pipe that it printed to."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for line in _lines(process, _DEATH_SECONDS):
        if line is None:
            break
    process.wait()


@contextlib.asynccontextmanager
async def running(
    argv: Sequence[str],
    *,
    errors_to: Path,
    keep: Sequence[int] = (),
    folder: Path | None = None,
    guard: Guard | None = None,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Give a running program that ends with the block, and with hardcost, however they end.

    `keep` are file descriptors that the program inherits, `folder` is its working folder. With a
    `guard` its environment is minimal as well. Its output goes to `errors_to`.

    Raises:
        MachineError: setpriv is missing.
    """
    held = guard or Guard()
    words = [*held.before, *_WITH_US, *held.options, *_STILL_OURS, str(os.getpid()), *argv]
    environment = _plain_environment()
    if guard is not None:
        environment = {name: environment[name] for name in _BARE}
    with errors_to.open("wb") as errors:
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                pass_fds=tuple(keep),
                start_new_session=True,
                cwd=folder,
                env=environment,
            )
        except FileNotFoundError as error:
            raise MachineError("setpriv is not installed", hint=install("util-linux")) from error
    try:
        yield process
    finally:
        kill(process)
        await process.wait()


@contextlib.asynccontextmanager
async def talking(
    argv: Sequence[str], *, errors: IO[bytes], patience: float
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter, asyncio.subprocess.Process]]:
    """Give a running program whose standard input and output are the other end of a stream.

    When the block ends, however it does, the stream is closed. A program that does not end within
    `patience` seconds of that is killed with its group. What it says on standard error goes to
    `errors`.

    Raises:
        MachineError: setpriv is missing.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        # The stream comes first: whoever cancels while it opens finds no program to be ended.
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            process = await asyncio.create_subprocess_exec(
                *(*_WITH_US, *_STILL_OURS, str(os.getpid()), *argv),
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=errors,
                start_new_session=True,
                env=_plain_environment(),
            )
        except FileNotFoundError as error:
            writer.close()
            raise MachineError("setpriv is not installed", hint=install("util-linux")) from error
    try:
        yield reader, writer, process
    finally:
        writer.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await process.wait()
        if process.returncode is None:
            kill(process)
            await process.wait()


def kill(process: asyncio.subprocess.Process) -> None:
    """Kill a program and the processes in its group, unless it has ended.

    Its own method is not used: it would poll for the end, take the exit status away from asyncio,
    and so make that warn of an unknown process (CPython's issue 87744).
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def found(program: str) -> str | None:
    """Return the path of a program, if it is installed."""
    return shutil.which(program, path=_plain_environment()["PATH"])


def _plain_environment() -> Mapping[str, str]:
    """Return our environment with English messages, and with the program folders meant for root.

    Debian omits these from other users' path, although some programs (mke2fs) are for everybody.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_PROGRAMS}"
    return {**os.environ, "LC_ALL": "C.UTF-8", "PATH": path}
