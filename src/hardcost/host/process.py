"""The interface to other programs: the only place in hardcost that starts one."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import os
import re
import select
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hardcost.errors import MachineError
from hardcost.host import no_network
from hardcost.host.install_command import install
from hardcost.host.output import BoundedOutput

_MESSAGE_LIMIT = 4000  # characters of a failed program's output that an error repeats
_KEPT_LINES = 30  # of a followed program's output, for the same purpose
_MOST_BYTES = 256 << 20  # of what a program prints that is waited for or followed
_LONGEST_LINE = 1 << 20  # bytes, of what a program prints that is followed
_PIECE = 1 << 16
_FULL = re.compile("No space left on device|enough free space in|Disk quota exceeded")
_SYSTEM_PROGRAMS = "/usr/local/sbin:/usr/sbin:/sbin"
_SILENCE_SECONDS = 1.0  # after which the time limit is looked at, though nothing was printed
_DEATH_SECONDS = 10.0  # that all processes of a killed program are waited for
# setpriv has the kernel kill the program when hardcost dies, even by SIGKILL. The shell after it
# covers the moment before: it continues only if hardcost is still its parent.
_WITH_US = ("setpriv", "--pdeathsig", "KILL")
_STILL_OURS = ("--", "sh", "-c", 'test "$PPID" = "$0" && exec "$@"')
_BARE = ("PATH", "LC_ALL")  # environment variables that a guarded program gets
_waited_for: set[subprocess.Popen[bytes]] = set()  # by `output`, in any thread


@dataclass(frozen=True)
class Guard:
    """Restrictions of a program's rights: setpriv's options, and a user namespace if it gets one.

    `namespace` has the user and group id that are root there, and all that there is.
    """

    options: tuple[str, ...] = ()
    namespace: tuple[int, int] | None = None


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
    stdin: IO[bytes] | None = None,
    fine: Container[int] = (0,),
) -> bytes:
    """Run a program to its end and return the bytes that it printed; it ends with hardcost.

    It reads `stdin`, by default nothing; `fine` are the statuses with which it may end. It has no
    terminal, and a session of its own: where it fails to end, its whole group is killed.

    Raises:
        MachineError: It is missing, takes longer than `limit_seconds`, prints without end, or ends
            with a status that is not fine; the message holds the command, ready to paste, and its
            output.
    """
    words = [str(word) for word in argv]
    environment = {**_plain_environment(), **(environment or {})}
    # `which` asks access(2), which leaves out what only a capability allows; a path is just tried.
    is_path = "/" in words[0]
    if not is_path and shutil.which(words[0], path=environment["PATH"]) is None:
        raise MachineError(f"{words[0]} is not installed", hint=remedy)
    name = shlex.join(words)
    with subprocess.Popen(  # noqa: S603  (no shell but for the guard; the words are ours)
        _guarded_words(words),
        cwd=folder,
        stdin=stdin or subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment,
    ) as process:
        try:
            _waited_for.add(process)
            out, errors = _read_until_end(process, name, limit_seconds, remedy)
        finally:
            kill(process)  # which does nothing to one that was waited for
            _waited_for.discard(process)
    if process.returncode not in fine:
        said = (errors or out).decode(errors="replace").strip()[-_MESSAGE_LIMIT:]
        raise MachineError(
            f"failed with status {process.returncode}: {name}\n{said}", hint=_hint(said, remedy)
        )
    return bytes(out)


def interrupt() -> None:
    """Kill what `output` waits for, in any thread.

    Ctrl-C on the terminal does not reach it, since it is in another session.
    """
    for process in tuple(_waited_for):
        kill(process)


def _read_until_end(
    process: subprocess.Popen[bytes], name: str, limit_seconds: float, remedy: str | None
) -> tuple[bytearray, bytearray]:
    """Return a program's standard output and standard error, when it has ended."""
    until = time.monotonic() + limit_seconds
    out, errors = bytearray(), bytearray()
    with selectors.DefaultSelector() as open_ends:
        for pipe, into in ((process.stdout, out), (process.stderr, errors)):
            if pipe is not None:
                open_ends.register(pipe, selectors.EVENT_READ, into)
        while (left := until - time.monotonic()) > 0:
            if not open_ends.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(left)
                    return out, errors
            for key, _ in open_ends.select(left):
                if not (piece := os.read(key.fd, _PIECE)):
                    open_ends.unregister(key.fileobj)
                key.data.extend(piece)
                if len(key.data) > _MOST_BYTES:
                    raise _without_end(name, remedy)
    raise MachineError(f"still running after {limit_seconds:.0f} s: {name}", hint=remedy)


def _guarded_words(words: Sequence[str], guard: Sequence[str] = ()) -> list[str]:
    """Return the words that run a program which ends with us, behind `guard`, setpriv's options."""
    if find_program(_WITH_US[0]) is None:
        raise MachineError("setpriv is not installed", hint=install("util-linux"))
    return [*_WITH_US, *guard, *_STILL_OURS, str(os.getpid()), *words]


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
        MachineError: It takes longer than `limit_seconds`, prints without end, or ends with a
            status other than 0; the message holds the end of its output.
    """
    words = [str(word) for word in argv]
    name = shlex.join(shown or words)
    until = time.monotonic() + limit_seconds
    process = subprocess.Popen(  # noqa: S603  (no shell but for the guard; the words are ours)
        _guarded_words(words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**_plain_environment(), **(environment or {})},
    )
    tail: deque[str] = deque(maxlen=_KEPT_LINES)
    size = 0
    with process:
        try:
            for line in _lines(process, _SILENCE_SECONDS):
                tail.extend(() if line is None else (line,))
                heard(line)
                size += 0 if line is None else len(line) + 1  # an empty line is output, too
                if size > _MOST_BYTES:
                    raise _without_end(name, remedy)
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


def _without_end(name: str, remedy: str | None) -> MachineError:
    most = f"{_MOST_BYTES >> 20} MiB"
    return MachineError(f"killed, since it printed more than {most}: {name}", hint=remedy)


def _hint(output: str, remedy: str | None) -> str | None:
    """Return the remedy for a failed program, by its output."""
    return "no space is left on the disk: free some" if _FULL.search(output) else remedy


def _lines(process: subprocess.Popen[bytes], silence: float) -> Iterator[str | None]:
    """Yield each line that a program prints, None after `silence` seconds without one.

    What is too long for a line is yielded in pieces.
    """
    if process.stdout is None:
        return
    rest, descriptor = b"", process.stdout.fileno()
    while True:
        if not select.select([descriptor], [], [], silence)[0]:
            yield None
            continue
        read = os.read(descriptor, _PIECE)
        *lines, rest = (rest + read).split(b"\n")
        if len(rest) > _LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        yield from (line.decode(errors="replace") for line in lines)
        if not read:
            if rest:
                yield rest.decode(errors="replace")
            return


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with its group, and wait until nothing holds the pipe that it printed to.

    A process that left the group may hold it for ever, and print to it: hence a deadline.
    """
    if process.returncode is not None or process.stdout is None:
        return
    kill(process)
    pipe, until = process.stdout.fileno(), time.monotonic() + _DEATH_SECONDS
    while (left := until - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0] or not os.read(pipe, _PIECE):
            break
    process.wait()


@contextlib.asynccontextmanager
async def running(
    argv: Sequence[str],
    *,
    said: BoundedOutput,
    keep: Sequence[int] = (),
    folder: Path | None = None,
    guard: Guard | None = None,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Give a running program that ends with the block, and with hardcost, however they end.

    `keep` are file descriptors that the program inherits, `folder` is its working folder. With a
    `guard` its environment is minimal as well, and it has no sockets but those of AF_UNIX. What it
    prints goes to `said`.

    Raises:
        MachineError: setpriv is missing, or it prints without end.
    """
    environment = _plain_environment()
    words = _guarded_words(argv, () if guard is None else guard.options)
    if guard is not None:
        # Before setpriv, since another user may not get at our Python.
        words = [*no_network.words(guard.namespace), *words]
        environment = {name: environment[name] for name in _BARE}
    with said.pipe() as end:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=subprocess.DEVNULL,
            stdout=end,
            stderr=end,
            pass_fds=tuple(keep),
            start_new_session=True,
            cwd=folder,
            env=environment,
        )
        said.kill = functools.partial(kill, process)
        try:
            yield process
        finally:
            kill(process)
            await process.wait()


@contextlib.asynccontextmanager
async def talking(
    argv: Sequence[str], *, said: BoundedOutput, patience: float
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter, asyncio.subprocess.Process]]:
    """Give a running program whose standard input and output are the other end of a stream.

    When the block ends, however it does, the stream is closed. A program that does not end within
    `patience` seconds of that is killed with its group. What it says on standard error goes to
    `said`.

    Raises:
        MachineError: setpriv is missing, or it says things without end on standard error.
    """
    words = _guarded_words(argv)
    ours, theirs = socket.socketpair()
    with theirs, said.pipe() as end:
        # The stream comes first: whoever cancels while it opens finds no program to be ended.
        reader, writer = await asyncio.open_connection(sock=ours)
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=end,
            start_new_session=True,
            env=_plain_environment(),
        )
        theirs.close()
        said.kill = functools.partial(kill, process)
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


def kill(process: asyncio.subprocess.Process | subprocess.Popen[bytes]) -> None:
    """Kill a program and the processes in its group, unless it has ended.

    The own method of asyncio's is not used: it would poll for the end, take the exit status away
    from asyncio, and so make that warn of an unknown process (CPython's issue 87744).
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def find_program(program: str) -> str | None:
    """Return the path of a program, if it is installed."""
    return shutil.which(program, path=_plain_environment()["PATH"])


def _plain_environment() -> Mapping[str, str]:
    """Return our environment with English messages, and with the program folders meant for root.

    Debian omits these from other users' path, although some programs (mke2fs) are for everybody.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_PROGRAMS}"
    return {**os.environ, "LC_ALL": "C.UTF-8", "PATH": path}
