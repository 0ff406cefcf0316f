"""Which hosts hardcost takes its packages from: Debian 12 and 13, with apt."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines.process import found

if TYPE_CHECKING:
    from collections.abc import Mapping

_RELEASES = {"12": "bookworm", "13": "trixie"}
_PROGRAMS = {"apt-get": "apt", "apt-cache": "apt", "dpkg-deb": "dpkg"}
_NEEDS = "hardcost takes kernels and programs from the apt of Debian 12 or 13 on x86_64"
_REMEDY = "run hardcost on one of these; a container will do, and no KVM is needed"


@dataclass(frozen=True)
class Release:
    """A release of Debian: its code name, and its title for a reader."""

    codename: str
    title: str


def release(said: Mapping[str, str] | None = None) -> Release:
    """Return the host's release of Debian; `said` is what its os-release says, if not read here.

    Raises:
        MachineError: The host is no Debian, or a release of it with which hardcost was not tried.
    """
    said = _os_release() if said is None else said
    title = said.get("PRETTY_NAME", "an unknown system")
    codename = _RELEASES.get(said.get("VERSION_ID", ""))
    if said.get("ID") == "debian" and codename is not None:
        return Release(codename, title)
    if said.get("ID") == "debian":
        why = "hardcost was not tried with it"
    elif "debian" in said.get("ID_LIKE", "").split():
        why = "its packages are not Debian's own, and hardcost was not tried with them"
    else:
        why = "it is no Debian"
    raise MachineError(f"{_NEEDS}. This host is {title}: {why}", hint=_REMEDY)


def check(said: Mapping[str, str] | None = None) -> Release:
    """Return the host's release, if packages can be taken from its apt.

    Raises:
        MachineError: The host is no Debian 12 or 13 on x86_64, or lacks apt.
    """
    found_release = release(said)
    if platform.machine() != "x86_64":
        raise MachineError(f"{_NEEDS}. This host is {platform.machine()}", hint=_REMEDY)
    missing = [name for name in _PROGRAMS if found(name) is None]
    if missing:
        raise MachineError(
            f"{_NEEDS}. This host has no {', '.join(missing)}",
            hint=f"install the packages {', '.join(sorted({_PROGRAMS[one] for one in missing}))}",
        )
    return found_release


def _os_release() -> Mapping[str, str]:
    """Return what the host says of itself; nothing where it says nothing."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}
