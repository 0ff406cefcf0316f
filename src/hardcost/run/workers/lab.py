"""Where the workers of a run are found, as a user says it; nothing here imports Dask."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

GUESTS = "hardcost.guests"
"""The resource of Dask that a worker announces: how many guests it runs at a time."""

BUILDS = "hardcost.builds"
"""The same of kernels: how many it builds at a time."""

_PORT = 8786  # Dask's own
_ADDRESS = re.compile(r"(?:(tcp|tls)://)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?")


@dataclass(frozen=True)
class Lab:
    """The address of a Dask scheduler, and the certificates for TLS; None: those of Dask's config.

    `authority` is whom both sides have to be certified by, `certificate` and `key` are our own.
    """

    address: str
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def lab_at(
    address: str,
    authority: Path | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
) -> Lab:
    """Return the lab at an address such as `tcp://host:8786`, `tls://host` or `host`.

    Raises:
        InputError: It is no such address, or the certificates don't fit it or each other.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[3] or _PORT) < 1 << 16:
        raise InputError(
            f"'{address}' is no address of a Dask scheduler",
            hint="write it as tcp://host:8786, or tls://host:8786",
        )
    given = [one for one in (authority, certificate, key) if one is not None]
    if given and len(given) < 3:  # noqa: PLR2004  (all of them)
        raise InputError("--tls-ca, --tls-cert and --tls-key are needed together")
    if given and found[1] == "tcp":
        raise InputError(
            f"certificates are of no use at {address}",
            hint=f"write tls://{address.removeprefix('tcp://')}",
        )
    scheme = found[1] or ("tls" if given else "tcp")
    return Lab(f"{scheme}://{found[2]}:{found[3] or _PORT}", authority, certificate, key)
