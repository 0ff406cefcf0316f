"""The QEMU that `--qemu` names: this host's, Debian's, one in a folder, or a program."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hardcost.errors import InputError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators import debian
from hardcost.supply.emulators.emulator import (
    HOST,
    Emulator,
    content_identity,
    in_folder,
    of_program,
)

HOSTS = "host"
"""The name of this host's QEMU."""

DEBIAN = "debian:"
"""The prefix of a release of Debian."""


def is_hosts(name: str | None) -> bool:
    """Say whether a name is that of this host's QEMU, which it is if none is given."""
    return name in {None, HOSTS}


def check_emulator(name: str | None) -> None:
    """Check that there is a QEMU of that name, before anything is fetched.

    Raises:
        InputError: There is none.
    """
    if name is not None and name.startswith(DEBIAN):
        debian.debian_qemu(name.removeprefix(DEBIAN))
    elif name is not None and not is_hosts(name):
        _found(Path(name))


def emulator_named(cache: Cache, name: str | None, note: Callable[[str], None]) -> Emulator:
    """Return the QEMU of a name; one of Debian's is fetched on first use, of which `note` hears.

    Raises:
        InputError: There is none of that name.
        MachineError: It can't be fetched.
    """
    if name is None or is_hosts(name):
        return HOST
    if name.startswith(DEBIAN):
        wanted = debian.debian_qemu(name.removeprefix(DEBIAN))
        return debian.emulator(cache, wanted, note)
    found = _found(Path(name))
    try:
        return replace(found, identity=content_identity(found))
    except OSError as error:
        raise InputError(f"{error.filename} can't be read: {error.strerror}") from error


def _found(path: Path) -> Emulator:
    """Return the QEMU in a folder, or that of a program; it has no identity yet."""
    path = path.absolute()
    if path.is_dir():
        return in_folder(path)
    if not path.is_file():
        raise InputError(
            f"there is no QEMU at {path}",
            hint="name debian:13, host, a folder that holds one, or a program",
        )
    if not os.access(path, os.X_OK):
        raise InputError(f"{path} is no program: it can't be executed")
    return of_program(path)
