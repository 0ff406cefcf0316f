"""What the tests of exports do in a Debian guest: files put there, programs of packages run."""

from __future__ import annotations

import asyncio
import io
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hardcost.errors import TrialError
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol import ask
from hardcost.protocol.answers import RanAnswer, all_of
from hardcost.protocol.boot import Boot, Init
from hardcost.protocol.requests import Request
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.debian import package_folder
from tests.vm.controls_applied import FAST

_ARCHIVE = "/run/packages.tar.xz"
_UNUSED = ("./usr/share/doc", "./usr/share/man", "./usr/share/locale", "./usr/share/info")


def below(folder: Path, place: str) -> list[Request]:
    """Return what puts a folder's files below a place of the guest."""
    found = sorted(one for one in folder.rglob("*") if one.is_file())
    return [ask.install(f"{place}/{one.relative_to(folder)}", one.read_bytes()) for one in found]


def with_packages(cache_root: Path, names: Sequence[str]) -> list[Request]:
    """Return what unpacks Debian packages in the guest, as far as programs need them."""
    cache = Cache(cache_root)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz", preset=0) as tar:
        for name in names:
            tar.add(package_folder(cache, name), ".", filter=_used)
    options = ("--no-same-owner", "--keep-directory-symlink")  # /lib is a link to /usr/lib
    unpack = ["tar", "-xJf", _ARCHIVE, "-C", "/", *options]
    return [ask.install(_ARCHIVE, data.getvalue()), ask.run("unpack", unpack, limit_seconds=600)]


def _used(one: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if one.name.startswith(_UNUSED) else one


def said(
    cache_root: Path,
    job: Iterable[Request],
    *,
    init: Init = "probe",
    limit_seconds: float = 600,
) -> Mapping[str, str]:
    """Carry out a job in a Debian guest; return what each program printed, by its name."""
    machine = VirtualMachine(Cache(cache_root), FAST)
    boot = Boot(guest="debian", init=init)
    try:
        answers = asyncio.run(machine.execute(boot, list(job), limit_seconds)).answers
    except TrialError as error:
        error.add_note(error.console)  # what the program that failed has printed
        raise
    return {one.name: one.stdout for one in all_of(answers, RanAnswer)}


def shell(name: str, script: str, *, limit_seconds: float = 60) -> Request:
    """Return the request to run a script as root, which has to succeed."""
    return ask.run(name, ["sh", "-euc", script], limit_seconds=limit_seconds)
