"""The machine `ssh:USER@HOST[:PORT]`: another host, by OpenSSH's own client.

ssh is the user's, with whatever its configuration says of keys, agents, proxies and known hosts. It
asks nothing: what would need an answer fails. The other side needs `sh`, `cat`, `mkdir`, `mv` and
`sha256sum`; our programs are copied into a cache folder there, by the hash of their content.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from hardcost.errors import InputError, MachineError
from hardcost.host.install_command import install
from hardcost.host.process import find_program
from hardcost.machines.options import MachineOptions
from hardcost.machines.real import host, probe_command
from hardcost.machines.real.machine import RealMachine, reach_machine
from hardcost.machines.real.probe_session import Exchange, exchange, last_line
from hardcost.machines.real.restore import UP_SECONDS, boot_book, patiently, restore_machine
from hardcost.machines.restoration import Restored
from hardcost.supply.programs import program_path
from hardcost.supply.progress import Listener

_ADDRESS = re.compile(
    r"(?:(?P<user>[\w.+][\w.+-]*)@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+(?:%\w+)?\]|[\w][\w.-]*)"
    r"(?::(?P<port>\d{1,5}))?",
    re.ASCII,
)
_MOST_PORT = 65535
# No terminal and no questions; a dead connection is noticed; and ssh would refuse a command where
# the user's configuration has one of its own.
_OPTIONS = (
    *("-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-o", "LogLevel=ERROR"),
    *("-o", "RemoteCommand=none"),
)
_SSH_FAILED = 255  # ssh's status for its own failures; the command's own otherwise
_SECONDS = 120.0  # for a question or a file, where the network is slow
_FOLDER = '"${XDG_CACHE_HOME:-$HOME/.cache}/hardcost/probe-%s"'
_MISSING = "missing"
_HASHES = (
    f'for n in {" ".join(probe_command.COPIED)}; do sha256sum < "$d/$n" || echo {_MISSING}; done'
    " 2>/dev/null"
)


@dataclass(frozen=True)
class Address:
    """Where a host is, as ssh takes it."""

    user: str | None
    host: str
    port: int | None

    @property
    def words(self) -> tuple[str, ...]:
        """Return ssh's words for it; nothing in it is taken for an option."""
        port = ("-p", str(self.port)) if self.port is not None else ()
        host = self.host.strip("[]")  # which ssh takes for a part of the name
        return (*port, "--", f"{self.user}@{host}" if self.user else host)


def address(text: str) -> Address:
    """Return the address that follows `ssh:`.

    Raises:
        InputError: It is none.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or (match["port"] and not 0 < int(match["port"]) <= _MOST_PORT):
        raise InputError(
            f"ssh:{text[:80]!r} names no host",
            hint="write ssh:HOST, ssh:USER@HOST or ssh:USER@HOST:PORT; HOST may be an alias of your"
            " ssh configuration, and an IPv6 address has brackets",
        )
    return Address(match["user"], match["host"], int(match["port"]) if match["port"] else None)


class SshReach:
    """A host behind ssh."""

    reboots = True

    def __init__(self, text: str) -> None:
        """Reach the host at that address.

        Raises:
            InputError: It is none.
        """
        self.name = f"ssh:{text}"
        self._address = address(text)
        quoted = shlex.join(("ssh", *self._address.words))
        self.remedy: str | None = f"try it by hand: {quoted} true"
        self._hash = probe_command.programs_hash()

    async def prepare(self) -> None:
        """Copy our programs there, unless they are; either way compare them with their hashes.

        Raises:
            MachineError: The host can't be reached, has no room, or what is there then is not what
                was copied.
        """
        wanted = list(probe_command.hashes().values())
        if await self._there() == wanted:
            return
        # Under another name first: half a copy must not be taken for a whole one.
        fresh = f".{secrets.token_hex(8)}"
        for name in probe_command.COPIED:
            await self._ask(
                f'd={self._folder}; t="$d{fresh}"; umask 022; mkdir -p "$t" && cat > "$t/{name}"'
                f' && chmod 755 "$t/{name}" || {{ rm -rf "$t"; exit 1; }}',
                f"copying {name}",
                program_path(name).read_bytes(),
            )
        await self._ask(
            f'd={self._folder}; rm -rf "$d"; mv "$d{fresh}" "$d"', "putting our programs there"
        )
        if await self._there() != wanted:
            raise MachineError(
                f"{self.name}: our programs did not arrive there as they were sent",
                hint="free space on its disk, and install coreutils there if sha256sum is missing",
            )

    def words(self, cpu: int | None, scratch: str, seconds: float, job_bytes: int) -> list[str]:
        """Return the command that starts the probe there."""
        there = probe_command.words("$FOLDER", cpu, scratch, seconds, job_bytes)
        inner = " ".join(self._folder if word == "$FOLDER" else shlex.quote(word) for word in there)
        return self._command(f"exec {inner}")

    def keeper(self, *arguments: str) -> list[str]:
        """Return the command that starts the keeper there."""
        return self._command(
            f"exec {self._folder}/{shlex.join((probe_command.KEEPER, *arguments))}"
        )

    @property
    def _folder(self) -> str:
        """The folder of our programs there, as its shell takes it."""
        return _FOLDER % self._hash

    def _command(self, script: str) -> list[str]:
        # Whatever the user's shell is there, sh reads the script.
        return ["ssh", *_OPTIONS, *self._address.words, f"exec sh -c {shlex.quote(script)}"]

    async def _there(self) -> list[str]:
        """Return the hashes of our programs there."""
        came = await self._ask(f"d={self._folder}; {_HASHES}; exit 0", "looking for our programs")
        lines = came.written.decode(errors="replace").splitlines()
        return [line.split()[0] if line.split() else "" for line in lines]

    async def _ask(self, script: str, what: str, sent: bytes = b"") -> Exchange:
        """Run a script there."""
        came = await exchange(self._command(script), sent, _SECONDS)
        if came.status:
            failed = f"{what} failed with status {came.status}"
            why = "can't be reached" if came.status == _SSH_FAILED else failed
            last = last_line(came.said)
            raise MachineError(f"{self.name}: {why}: {last}", hint=self.remedy, console=came.said)
        return came


async def output_of_script(
    text: str, script: str, arguments: Sequence[str], limit_seconds: float
) -> bytes:
    """Return what a shell's script prints at an address, over one connection.

    Raises:
        InputError: It is no address.
        MachineError: The host can't be reached, or the script fails.
    """
    where = address(text)
    words = " ".join(map(shlex.quote, arguments))
    # Whatever the user's shell is there, sh reads the script, which comes by its standard input.
    argv = ["ssh", *_OPTIONS, *where.words, f"exec sh -s -- {words}"]
    came = await exchange(argv, script.encode(), limit_seconds)
    if came.status:
        raise MachineError(
            f"ssh:{text}: it can't be looked at: {last_line(came.said)}",
            hint=f"try it by hand: {shlex.join(('ssh', *where.words))} true",
        )
    return came.written


def check(wanted: MachineOptions) -> None:
    """Check the address, and that nothing is wanted that only a guest has.

    Raises:
        InputError: The address is none, or it is.
        MachineError: There is no ssh.
    """
    address(wanted.address)
    host.check(wanted)
    if find_program("ssh") is None:
        raise MachineError("ssh is not installed", hint=install("openssh-client"))


async def make(wanted: MachineOptions, listener: Listener) -> RealMachine:
    """Return a host as a machine; `listener` hears that it is asked what it is.

    Raises:
        MachineError: It can't be reached, or our programs do not run there.
    """
    reach = SshReach(wanted.address)
    listener.note(f"asking {reach.name} what it is …")
    return await reach_machine(
        reach, probe_command.programs_hash(), (host.REMARK,), changing=True, people=wanted.yes
    )


async def restore(address: str, *, force: bool, people: bool) -> Restored:
    """Undo what an interrupted run left changed on the host at an address.

    Raises:
        InputError: The address is none.
        MachineError: The host can't be reached, or something can't be undone.
    """
    reach = SshReach(address)
    await patiently(reach.prepare, UP_SECONDS if boot_book(reach).leftovers() else 0.0)
    return await restore_machine(reach, force=force, people=people)
