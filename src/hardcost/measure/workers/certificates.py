"""Certificates for TLS between the hosts of a lab: the user's, or one that is made for a run.

The latter is certificate, authority and key in one, so whoever has it is in. It lies in the cache
of who started the scheduler, for commands of the same user, and goes with the scheduler.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dask.config
from distributed import Security

from hardcost.errors import InputError, MachineError
from hardcost.measure.workers.lab import Lab
from hardcost.supply.cache import folders
from hardcost.supply.cache.location import default_root

_FOLDER = "labs"
_ROLES = ("client", "worker", "scheduler")


def security_of(lab: Lab) -> Security:
    """Return Dask's settings for a lab: with TLS, or for an address of tcp without.

    Raises:
        InputError: The address asks for TLS, and there are no certificates.
        MachineError: They would be read through a link in the cache.
    """
    if not lab.is_tls:
        return Security(require_encryption=False)
    if lab.authority is not None:
        return _security(str(lab.authority), str(lab.certificate), str(lab.key))
    one = lab.own or ("" if _is_configured() else _kept_certificate(lab))
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
def with_certificate(lab: Lab) -> Iterator[Lab]:
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
            hint="pip install 'cryptography>=44'",
        ) from error
    text = f"{made.tls_scheduler_key}{made.tls_scheduler_cert}"
    place = _place(lab)
    with contextlib.ExitStack() as opened:
        try:
            place.parent.parent.mkdir(mode=folders.OURS, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):  # whatever it is: it is looked at next
                place.parent.mkdir(mode=folders.OURS)
            folder = opened.enter_context(_open_folder(place.parent))
            os.fchmod(folder, folders.OURS)  # an older hardcost may have left it open
            _write(folder, place.name, text)
        except OSError as error:
            raise MachineError(
                f"the lab's certificate can't be written to {place}: {error.strerror}",
                hint="set HARDCOST_CACHE to a folder of your own",
            ) from error
        try:
            yield replace(lab, own=text)
        finally:
            with contextlib.suppress(OSError, UnicodeError):
                # Not that of a scheduler which was started since.
                if _read(folder, place.name) == text:
                    os.unlink(place.name, dir_fd=folder)


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


@contextlib.contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    """Open the folder of certificates, so that nothing put in its place later is used instead."""
    refusal = MachineError(
        f"{folder} in the cache is no folder of this user's, and is not used",
        hint="remove it: it is made again; HARDCOST_CACHE keeps the whole cache elsewhere",
    )
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise refusal
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise refusal
        yield descriptor
    finally:
        os.close(descriptor)


def _write(folder: int, name: str, text: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "w", encoding="ascii") as file:
        file.write(text)


def _read(folder: int, name: str) -> str:
    """Return a certificate of this user's; empty if it is something else."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, dir_fd=folder), encoding="ascii") as file:
        status = os.fstat(file.fileno())
        is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        return file.read() if is_ours else ""


def _kept_certificate(lab: Lab) -> str:
    """Return the certificate that a scheduler of this user's made; empty if there is none."""
    place = _place(lab)
    with contextlib.suppress(OSError, UnicodeError), _open_folder(place.parent) as folder:
        return _read(folder, place.name)
    return ""
