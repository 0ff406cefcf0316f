"""Dask's scheduler and worker with only the one port that they need, which has TLS."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator

import distributed

from hardcost.errors import MachineError
from hardcost.measure.workers.certificates import security_of, with_certificate
from hardcost.measure.workers.dask_settings import DASK_ERRORS, quieten
from hardcost.measure.workers.lab import Lab


class _WithoutHttp:
    """Opens no port for HTTP, which Dask does with and without a dashboard, and never with TLS."""

    def start_http_server(self, *_words: object, **_named: object) -> None:
        """Do nothing."""


class TlsWorker(_WithoutHttp, distributed.Worker):
    """Dask's worker, without HTTP."""


class Scheduler(_WithoutHttp, distributed.Scheduler):
    """Dask's scheduler, without HTTP."""


@contextlib.asynccontextmanager
async def scheduling(lab: Lab) -> AsyncIterator[tuple[Lab, distributed.Scheduler]]:
    """Give a running scheduler, and its lab with a certificate, made if none is named.

    It listens on the lab's host if that is a number, or else on all addresses of this host: its
    name may be one of the loopback here.

    Raises:
        MachineError: It does not start.
    """
    quieten()
    with with_certificate(lab) as known:
        scheduler = Scheduler(
            host=f"{lab.address.partition('://')[0]}://{bracket_ipv6(_interface(lab.host))}",
            port=lab.port,
            dashboard=False,
            security=security_of(known),
        )
        try:
            await scheduler
        except DASK_ERRORS as error:
            raise MachineError(
                f"the Dask scheduler does not start at {lab.address}: {error.__cause__ or error}",
                hint="is the port taken? --address names another",
            ) from error
        try:
            yield known, scheduler
        finally:
            await scheduler.close()


def bracket_ipv6(host: str) -> str:
    """Return a host as Dask takes it: an address of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def address_towards(lab: Lab) -> str:
    """Return this host's address by which it reaches a scheduler; nothing is sent.

    Raises:
        MachineError: There is none.
    """
    try:
        found = socket.getaddrinfo(lab.host, lab.port, type=socket.SOCK_DGRAM)
        family, kind, _, _, there = found[0]
        with socket.socket(family, kind) as one:
            one.connect(there)
            return str(one.getsockname()[0])
    except OSError as error:
        raise MachineError(
            f"no Dask scheduler answers at {lab.address}: {error.strerror}",
            hint="check its name and this host's network",
        ) from error


def _interface(host: str) -> str:
    """Return where a scheduler listens whose lab is at a host."""
    if host == "localhost":
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return "0.0.0.0"  # noqa: S104  (with TLS, or where the user insists)
