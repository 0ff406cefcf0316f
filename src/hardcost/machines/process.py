"""The seam to other programs: the only place in hardcost that starts one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import subprocess
from typing import TYPE_CHECKING

from hardcost.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

_MESSAGE_LIMIT = 4000  # characters of a failed program's own words that an error repeats


def run(
    argv: Sequence[str | Path],
    *,
    folder: Path | None = None,
    remedy: str | None = None,
    limit_seconds: float = 600,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a program to its end and return what it printed.

    Raises:
        MachineError: It is missing, takes longer than `limit_seconds`, or ends with a status
            other than 0; the message holds the command, fit to be pasted, and its own words.
    """
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(  # noqa: S603  (no shell; the words are ours)
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_seconds,
            check=False,
            env={**_plain_environment(), **(environment or {})},
        )
    except FileNotFoundError as error:
        raise MachineError(f"{words[0]} is not installed", hint=remedy) from error
    except subprocess.TimeoutExpired as error:
        raise MachineError(
            f"still running after {limit_seconds:.0f} s: {shlex.join(words)}", hint=remedy
        ) from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()[-_MESSAGE_LIMIT:]
        raise MachineError(
            f"failed with status {done.returncode}: {shlex.join(words)}\n{said}", hint=remedy
        )
    return done.stdout.decode(errors="replace")


@contextlib.asynccontextmanager
async def running(
    argv: Sequence[str],
    *,
    errors_to: Path,
    keep: Sequence[int] = (),
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Give a running program that ends with the block, and with hardcost, whatever ends that.

    `setpriv` asks the kernel to kill the program when hardcost dies, by SIGKILL too; the shell
    behind it covers the moment before: it goes on only if hardcost is still its parent. `keep`
    are file descriptors that the program inherits, `environment` what is set besides hardcost's
    own. What it prints goes to `errors_to`.

    Raises:
        MachineError: setpriv is missing.
    """
    guard = 'test "$PPID" = "$0" && exec "$@"'
    words = ["setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", guard, str(os.getpid()), *argv]
    with errors_to.open("wb") as errors:
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                pass_fds=tuple(keep),
                start_new_session=True,
                env={**_plain_environment(), **(environment or {})},
            )
        except FileNotFoundError as error:
            raise MachineError(
                "setpriv is not installed", hint="apt-get install util-linux"
            ) from error
    try:
        yield process
    finally:
        kill(process)
        await process.wait()


def kill(process: asyncio.subprocess.Process) -> None:
    """Kill a program and what it has started in its group, unless it has ended.

    Not by its own method, which would look whether it has ended, take its exit status away from
    asyncio, and so make that warn of an unknown process (CPython's issue 87744).
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _plain_environment() -> Mapping[str, str]:
    return {**os.environ, "LC_ALL": "C.UTF-8"}
