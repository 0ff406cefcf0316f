"""The address of a run's workers, as a user gives it; nothing here imports Dask."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from hardcost.errors import InputError, MachineError

GUESTS = "hardcost.guests"
"""The resource of Dask that a worker announces: how many guests it runs at a time."""

BUILDS = "hardcost.builds"
"""The same of kernels: how many it builds at a time."""

_PORT = 8786  # Dask's own
_HOST = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?"
_ADDRESS = re.compile(rf"(?:(tcp|tls)://)?{_HOST}")
_LISTENS = re.compile(_HOST)
_PORTS = 1 << 16


@dataclass(frozen=True)
class Lab:
    """The address of a Dask scheduler, and the certificates for TLS; None: those of Dask's config.

    `authority` is whom both sides have to be certified by, `certificate` and `key` are our own.
    `own` is the text of all three in one, where the lab's scheduler was started by hardcost.
    """

    address: str
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    own: str | None = field(default=None, repr=False)

    @property
    def is_tls(self) -> bool:
        """Whether it is encrypted, and both sides have to have certificates."""
        return self.address.startswith("tls:")

    @property
    def host(self) -> str:
        """The scheduler's host, without brackets."""
        return self.address.partition("://")[2].rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """The scheduler's port."""
        return int(self.address.rpartition(":")[2])

    @property
    def risk(self) -> str | None:
        """The warning about who can connect; None with TLS."""
        if self.is_tls:
            return None
        who = "every user of this machine" if is_loopback(self.host) else "whoever reaches it"
        return f"{self.address} has no TLS: {who} can run programs as you"


def lab_at(
    address: str,
    authority: Path | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    *,
    insecure: bool = False,
) -> Lab:
    """Return the lab at an address such as `tls://host:8786`, `tcp://127.0.0.1` or `host`.

    Raises:
        InputError: It is no such address, or the certificates don't fit it or each other, or it
            has no TLS and is not this machine's alone, and that is not said to be meant.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[3] or _PORT) < _PORTS:
        raise InputError(
            f"'{address}' is no address of a Dask scheduler",
            hint="write it as tls://host:8786, or tcp://127.0.0.1:8786",
        )
    given = [one for one in (authority, certificate, key) if one is not None]
    if given and len(given) < 3:  # noqa: PLR2004  (all of them)
        raise InputError("--tls-ca, --tls-cert and --tls-key are needed together")
    if given and found[1] == "tcp":
        raise InputError(
            f"certificates are of no use at {address}",
            hint=f"write tls://{address.removeprefix('tcp://')}",
        )
    scheme = found[1] or ("tcp" if insecure and not given else "tls")
    lab = Lab(f"{scheme}://{found[2]}:{found[3] or _PORT}", authority, certificate, key)
    if not (lab.is_tls or insecure or is_loopback(lab.host)):
        raise _insecure(lab.address)
    return lab


def listening_address(lab: Lab, text: str, *, insecure: bool) -> tuple[str, int]:
    """Return the host and the port (0: any) on which a lab's worker is to listen.

    Raises:
        InputError: They are none, or the lab has no TLS and they are not this machine's alone.
    """
    found = _LISTENS.fullmatch(text)
    if found is None or int(found[2] or 0) >= _PORTS:
        raise InputError(
            f"--listen: '{text}' is no address of this host",
            hint="write it as 192.0.2.7, 192.0.2.7:9000 or [2001:db8::7]:9000",
        )
    host = found[1].strip("[]")
    if not (lab.is_tls or insecure or is_loopback(host)):
        raise _insecure(f"--listen {text}")
    return host, int(found[2] or 0)


def is_loopback(host: str) -> bool:
    """Say whether a host, as it is written, can be reached from this machine alone.

    A name is not looked up: what it is now it need not be when it is connected to.
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _insecure(what: str) -> InputError:
    return InputError(
        f"{what}: without TLS, whoever reaches it can run programs as you",
        hint="write tls:// (`hardcost cluster` makes a certificate; --tls-ca, --tls-cert and"
        " --tls-key name yours), or add --insecure if you trust everyone on that network",
    )


def need_dask() -> None:
    """Check that Dask, which workers need, is installed.

    Raises:
        MachineError: It is not.
    """
    try:
        import_module("distributed")
    except ModuleNotFoundError as error:
        raise MachineError(
            f"workers need Dask, of which {error.name} is not installed",
            hint="pip install 'distributed>=2025.1', on each host",
        ) from error
