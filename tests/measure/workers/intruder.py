"""An intruder who tries to run a program by a Dask address; prints `in` or `out` and the reason.

    python intruder.py ADDRESS MARK [CA CERT KEY]

The program makes the folder MARK. Each way that Dask has is tried: as a client of a scheduler, and
straight at the port, as a scheduler does with its workers. Then bytes that no Dask sends, and HTTP.
$INTRUDER is the number of the user to become.

    python intruder.py --ports HOST

prints the ports that take connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import socket
import sys
from pathlib import Path

from distributed import Client, Security
from distributed.core import rpc

SECONDS = int(os.environ.get("INTRUDER_SECONDS", "20"))  # Dask repeats a refused one as long


def security(files: list[str]) -> Security:
    if not files:
        return Security(require_encryption=False)
    ca, cert, key = files
    roles = ("client", "worker", "scheduler")
    own = {
        f"tls_{role}_{what}": path
        for role in roles
        for what, path in (("cert", cert), ("key", key))
    }
    return Security(require_encryption=True, tls_ca_file=ca, **own)


async def as_client(address: str, mark: str, known: Security) -> None:
    async with (
        asyncio.timeout(SECONDS),
        Client(address, asynchronous=True, timeout=SECONDS, security=known) as client,
    ):
        await client.run_on_scheduler(os.mkdir, mark)


async def as_scheduler(address: str, mark: str, known: Security) -> None:
    words = known.get_connection_args("worker")
    async with (
        asyncio.timeout(SECONDS),
        rpc(address, timeout=SECONDS, connection_args=words) as peer,
    ):
        await peer.run(function=pickle.dumps(os.mkdir), args=pickle.dumps((mark,)), wait=True)


def heard(address: str, sent: bytes) -> bytes:
    """Return what comes back from a port."""
    host, _, port = address.partition("://")[2].rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), SECONDS) as one:
        one.settimeout(1)
        one.sendall(sent)
        with contextlib.suppress(OSError):
            return one.recv(4096)
    return b""


async def every_way(address: str, mark: str, known: Security) -> list[str]:
    """Try to run the program; return why that failed."""
    came = await asyncio.gather(
        *(way(address, mark, known) for way in (as_client, as_scheduler)), return_exceptions=True
    )
    return [repr(one) for one in came if isinstance(one, BaseException)]


def ports(host: str) -> list[int]:
    """Return the ports of a host that take connections."""
    found = []
    for port in range(1, 1 << 16):
        with socket.socket() as one:
            one.settimeout(1)
            if not one.connect_ex((host, port)):
                found.append(port)
    return found


def main() -> None:
    address, mark, *files = sys.argv[1:]
    if address == "--ports":
        sys.stdout.write(" ".join(map(str, ports(mark))))
        return
    if user := os.environ.get("INTRUDER"):
        os.setgroups([])
        os.setgid(int(user))
        os.setuid(int(user))
    reasons = asyncio.run(every_way(address, mark, security(files)))
    for sent in (b"GET /info/main/workers.html HTTP/1.0\r\n\r\n", os.urandom(4096)):
        try:
            if b"HTTP/1" in heard(address, sent):
                reasons.append("HTTP answers")
        except OSError as error:
            reasons.append(f"connecting: {type(error).__name__}")
    sys.stdout.write("; ".join(["in" if Path(mark).exists() else "out", *reasons]))
    sys.stdout.flush()
    os._exit(0)  # Dask's threads may still try


if __name__ == "__main__":
    main()
