"""A Dask scheduler on this host and a worker on each of several others, started with OpenSSH.

ssh is the user's own, with whatever its configuration says of hosts, keys and proxies. Each worker
has a terminal, so that it gets a hang-up and ends with its guests when the connection does, however
that ends; so nothing is left running when this ends, even by SIGKILL.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import shlex
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.errors import InputError, MachineError
from hardcost.machines.packagenames import install
from hardcost.machines.process import found, running
from hardcost.units import count

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Callable, Sequence

    from hardcost.run.workers.lab import Lab

_QUIETLY = ("-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "LogLevel=ERROR", "-tt")
_START_SECONDS = 60.0  # that the scheduler may take
_POLL_SECONDS = 0.2
_LISTENS = "Scheduler at:"
_KEPT_LINES = 5  # of what a scheduler said that did not start


@dataclass(frozen=True)
class OnHosts:
    """What is started: on which hosts, by which words, and how many guests and builds at a time.

    `ssh` begins the command that reaches a host, `hardcost` the one that is run there. None leaves
    a number to the host.
    """

    hosts: Sequence[str]
    ssh: Sequence[str] = ("ssh",)
    hardcost: Sequence[str] = ("hardcost",)
    guests: int | None = None
    builds: int | None = None

    def argv(self, host: str, lab: Lab) -> list[str]:
        """Return the words that start the worker of a host."""
        numbers = {"--guests": self.guests, "--builds": self.builds}
        options = [word for key, n in numbers.items() if n is not None for word in (key, str(n))]
        files = {"--tls-ca": lab.authority, "--tls-cert": lab.certificate, "--tls-key": lab.key}
        options += [word for key, path in files.items() if path for word in (key, str(path))]
        worker = ["env", "TERM=dumb", *self.hardcost, "worker", lab.address, "--name", host]
        return [*self.ssh, *_QUIETLY, "--", host, f"exec {shlex.join([*worker, *options])}"]


@dataclass
class _Log:
    """What a program says, from the line on that was not read yet."""

    path: Path
    _read: int = field(default=0)

    def lines(self, *, whole: bool = True) -> list[str]:
        """Return the lines that came since; the last too, `whole` or not."""
        data = self.path.read_bytes()[self._read :]
        end = data.rfind(b"\n") + 1 if whole else len(data)
        self._read += end
        said = data[:end].decode(errors="replace").splitlines()
        return [line.strip() for line in said if line.strip()]


async def run_over_ssh(lab: Lab, what: OnHosts, say: Callable[[str], None]) -> None:
    """Run a scheduler here and workers there until cancelled; `say` hears what they say.

    Raises:
        InputError: A host's name is none.
        MachineError: ssh is missing, the scheduler does not run, or no worker is left.
    """
    for host in what.hosts:
        if host.startswith("-") or not host.strip():
            raise InputError(f"'{host}' is no host's name")
    if found(what.ssh[0]) is None:
        raise MachineError(f"{what.ssh[0]} is not installed", hint=install("openssh-client"))
    async with contextlib.AsyncExitStack() as started:
        folder = Path(started.enter_context(tempfile.TemporaryDirectory(prefix="hardcost-lab-")))
        said = _Log(folder / "scheduler.log")
        scheduler = await started.enter_async_context(running(_scheduler(lab), errors_to=said.path))
        await _listens(scheduler, said, lab)
        say(f"scheduler at {lab.address}; use it with --workers {lab.address}; Ctrl-C ends all")
        workers = {}
        for number, host in enumerate(what.hosts):
            log = _Log(folder / f"{number}.log")
            argv = what.argv(host, lab)
            workers[host] = (
                await started.enter_async_context(running(argv, errors_to=log.path)),
                log,
            )
        await _looked_after(scheduler, workers, say)


def _scheduler(lab: Lab) -> list[str]:
    """Return the words that start the scheduler, on one address if the lab's is a number."""
    scheme, _, place = lab.address.partition("://")
    host, _, port = place.rpartition(":")
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        host = "0.0.0.0"  # noqa: S104  (its name may be one of the loopback on this host)
    words = [sys.executable, "-m", "dask", "scheduler", "--no-dashboard"]
    words += ["--host", f"{scheme}://{host}:{port}"]
    files = {"--tls-ca-file": lab.authority, "--tls-cert": lab.certificate, "--tls-key": lab.key}
    return [*words, *(word for key, path in files.items() if path for word in (key, str(path)))]


async def _listens(scheduler: Process, said: _Log, lab: Lab) -> None:
    """Wait until a scheduler listens.

    Raises:
        MachineError: It does not.
    """
    heard: list[str] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_START_SECONDS):
            while not any(_LISTENS in line for line in heard) and scheduler.returncode is None:
                await asyncio.sleep(_POLL_SECONDS)
                heard += said.lines()
    if not any(_LISTENS in line for line in heard):
        last = "; ".join([*heard, *said.lines(whole=False)][-_KEPT_LINES:])
        raise MachineError(
            f"the Dask scheduler does not start at {lab.address}: {last}",
            hint="is the port taken? --address names another",
        )


async def _looked_after(
    scheduler: Process, workers: dict[str, tuple[Process, _Log]], say: Callable[[str], None]
) -> None:
    """Pass on what workers say, as long as there is one.

    Raises:
        MachineError: None is left, or the scheduler has ended.
    """
    running_on = dict(workers)
    while running_on and scheduler.returncode is None:
        await asyncio.sleep(_POLL_SECONDS)
        for host, (process, log) in list(running_on.items()):
            status = process.returncode
            for line in log.lines(whole=status is None):
                say(f"{host}: {line}")
            if status is not None:
                del running_on[host]
                say(f"{host}: its worker has ended, with status {status}")
    if running_on:
        raise MachineError("the Dask scheduler has ended", hint="start the command again")
    raise MachineError(
        f"no worker runs any more on {count(len(workers), 'host')}",
        hint="`ssh -o BatchMode=yes HOST hardcost --version` has to work without a question",
    )
