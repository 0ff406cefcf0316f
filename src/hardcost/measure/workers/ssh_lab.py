"""A Dask scheduler on this host and a worker on each of several others, started with OpenSSH.

ssh is the user's own, with whatever its configuration says of hosts, keys and proxies. Each worker
is attended: it gets the lab's certificate on its standard input, so that this lies on no disk
there, and ends with its guests when that input does. The connection's end is the input's, however
it ends; so nothing is left running when this ends, even by SIGKILL.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import tempfile
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Scheduler

from hardcost.errors import InputError, MachineError
from hardcost.host.install_command import install
from hardcost.host.output import BoundedOutput
from hardcost.host.process import find_program, talking
from hardcost.measure.workers import ssh_worker
from hardcost.measure.workers.dask_tls import scheduling
from hardcost.measure.workers.lab import Lab
from hardcost.units import count

_QUIETLY = ("-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "LogLevel=ERROR", "-T")
_POLL_SECONDS = 0.2
_PATIENCE_SECONDS = 10.0  # for workers to end with their guests
_MOST_SAID = 1 << 20  # bytes, of all that a worker says: a few lines for each run


@dataclass(frozen=True)
class OnHosts:
    """The workers to start: hosts, command, and how many guests and builds at a time.

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
        options += ["--attended", *["--insecure"] * (not lab.is_tls)]
        return [*self.ssh, *_QUIETLY, "--", host, f"exec {shlex.join([*worker, *options])}"]


@dataclass
class _Worker:
    """A worker behind ssh, and what it says, from the line on that was not read yet."""

    process: Process
    said: BoundedOutput
    log: Path
    _read: int = field(default=0)

    def lines(self, *, whole: bool) -> list[str]:
        """Return the lines that came since; the last too, `whole` or not."""
        with self.log.open("rb") as file:
            file.seek(self._read)
            data = file.read()
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
    if find_program(what.ssh[0]) is None:
        raise MachineError(f"{what.ssh[0]} is not installed", hint=install("openssh-client"))
    async with contextlib.AsyncExitStack() as started:
        folder = Path(started.enter_context(tempfile.TemporaryDirectory(prefix="hardcost-lab-")))
        known, scheduler = await started.enter_async_context(scheduling(lab))
        say(f"scheduler at {lab.address}; use it with --workers {lab.address}; Ctrl-C ends all")
        workers = {}
        writers = []
        try:
            for number, host in enumerate(what.hosts):
                said = BoundedOutput(f"ssh to {host}", folder / f"{number}.log", _MOST_SAID)
                talk = talking(what.argv(host, lab), said=said, patience=_PATIENCE_SECONDS)
                _, writer, process = await started.enter_async_context(talk)
                writers.append(writer)
                writer.write(ssh_worker.introduction(known))
                workers[host] = _Worker(process, said, folder / f"{number}.log")
            await _relay_output(scheduler, workers, say)
        finally:
            for writer in writers:  # at once, so that all end at the same time
                writer.close()


async def _relay_output(
    scheduler: Scheduler, workers: Mapping[str, _Worker], say: Callable[[str], None]
) -> None:
    """Pass on what workers say, as long as there is one."""
    running_on = dict(workers)
    ended = asyncio.ensure_future(scheduler.finished())
    try:
        while running_on and not ended.done():
            await asyncio.sleep(_POLL_SECONDS)
            for host, worker in list(running_on.items()):
                status = worker.process.returncode
                for line in worker.lines(whole=status is None):
                    say(f"{host}: {line}")
                if status is not None:
                    del running_on[host]
                    ended_so = f"its worker has ended, with status {status}"
                    say(f"{host}: {worker.said.fault or ended_so}")
    finally:
        ended.cancel()
    if running_on:
        raise MachineError("the Dask scheduler has ended", hint="start the command again")
    raise MachineError(
        f"no worker runs any more on {count(len(workers), 'host')}",
        hint="`ssh -o BatchMode=yes HOST hardcost --version` has to work without a question",
    )
