"""The hosts from which hardcost takes its packages: Debian 12 and 13, with apt."""

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


def release(os_release: Mapping[str, str] | None = None) -> Release:
    """Return the host's release of Debian, by its os-release, which is read here if not given.

    Raises:
        MachineError: The host is not Debian, or a release with which hardcost was not tested.
    """
    os_release = _os_release() if os_release is None else os_release
    title = os_release.get("PRETTY_NAME", "an unknown system")
    codename = _RELEASES.get(os_release.get("VERSION_ID", ""))
    if os_release.get("ID") == "debian" and codename is not None:
        return Release(codename, title)
    if os_release.get("ID") == "debian":
        why = "hardcost was not tested with it"
    elif "debian" in os_release.get("ID_LIKE", "").split():
        why = "its packages are not Debian's own, and hardcost was not tested with them"
    else:
        why = "it is not Debian"
    raise MachineError(f"{_NEEDS}. This host is {title}: {why}", hint=_REMEDY)


def check(os_release: Mapping[str, str] | None = None) -> Release:
    """Return the host's release, if packages can be taken from its apt.

    Raises:
        MachineError: The host is not Debian 12 or 13 on x86_64, or lacks apt.
    """
    found_release = release(os_release)
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
    """Return the host's os-release; empty if there is none."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}
