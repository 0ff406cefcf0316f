"""Certificates for TLS between the hosts of a lab: the user's, or one that is made for a run.

The latter is certificate, authority and key in one, so whoever has it is in. It lies in the cache
of who started the scheduler, for commands of the same user, and goes with the scheduler.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import dask.config
from distributed import Security

from hardcost.errors import InputError, MachineError
from hardcost.machines.cacheplace import default_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hardcost.run.workers.lab import Lab

_FOLDER = "labs"
_ROLES = ("client", "worker", "scheduler")


def security_of(lab: Lab) -> Security:
    """Return Dask's settings for a lab: with TLS, or for an address of tcp without.

    Raises:
        InputError: The address asks for TLS, and there are no certificates.
    """
    if not lab.is_tls:
        return Security(require_encryption=False)
    if lab.authority is not None:
        return _security(str(lab.authority), str(lab.certificate), str(lab.key))
    one = lab.own or ("" if _is_configured() else _kept(lab))
    if one:
        return _security(one, one, one)
    if not _is_configured():
        raise InputError(
            f"certificates are missing for {lab.address}",
            hint="name them with --tls-ca, --tls-cert and --tls-key, or in Dask's configuration"
            " (distributed.comm.tls); `hardcost cluster scheduler` and `cluster ssh` make one for"
            " commands of the same user on the same host, at the address that they print",
        )
    return Security(require_encryption=True)


@contextlib.contextmanager
def certified(lab: Lab) -> Iterator[Lab]:
    """Give a lab with a certificate, which is made and kept for this block where none is named.

    Raises:
        MachineError: It can't be made or kept.
    """
    if not lab.is_tls or lab.authority is not None or _is_configured():
        yield lab
        return
    try:
        made = Security.temporary()
    except ImportError as error:
        raise MachineError(
            "a certificate for TLS is made by cryptography, which is not installed",
            hint="pip install 'hardcost[dask]'",
        ) from error
    text = f"{made.tls_scheduler_key}{made.tls_scheduler_cert}"
    place = _place(lab)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.parent.chmod(0o700)
        place.unlink(missing_ok=True)
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise MachineError(
            f"the lab's certificate can't be written to {place}: {error.strerror}",
            hint="set HARDCOST_CACHE to a folder of your own",
        ) from error
    try:
        yield replace(lab, own=text)
    finally:
        if _kept(lab) == text:  # not that of a scheduler which was started since
            place.unlink(missing_ok=True)


def _security(authority: str, certificate: str, key: str) -> Security:
    """Return the settings with TLS; each is a path, or the text of such a file."""
    own = {
        f"tls_{role}_{what}": value
        for role in _ROLES
        for what, value in (("cert", certificate), ("key", key))
    }
    return Security(require_encryption=True, tls_ca_file=authority, **own)


def _is_configured() -> bool:
    return bool(dask.config.get("distributed.comm.tls.ca-file"))


def _place(lab: Lab) -> Path:
    name = lab.address.partition("://")[2].replace(":", "-")
    return default_root() / _FOLDER / f"{name}.pem"


def _kept(lab: Lab) -> str:
    """Return the certificate that a scheduler of this user's made; empty if there is none."""
    place = _place(lab)
    try:
        return place.read_text(encoding="ascii") if place.stat().st_uid == os.geteuid() else ""
    except (OSError, UnicodeError):
        return ""
