"""The host, and the release of Debian whose packages it uses: kernels, libraries, auditctl.

Debian 12 and 13 have their own, from their apt. Everywhere else Debian 12's come straight from
Debian's archive, so that two such hosts boot the same guests.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass

from hardcost.errors import MachineError
from hardcost.host.install_command import install
from hardcost.host.process import find_program
from hardcost.supply.packages.signatures import GPGV

RELEASES = {"12": "bookworm", "13": "trixie"}
"""The releases that hardcost was tested with: their code names by their numbers."""

_USUAL = "bookworm"
_APT = ("apt-get", "apt-cache")
_NEEDS = "guests with services are made by the apt of Debian 12 or 13"
_REMEDY = "run hardcost on one of these; a container will do, and no KVM is needed"


@dataclass(frozen=True)
class HostRelease:
    """A release of Debian: its code name, its title for a reader, and whether apt here has it."""

    codename: str
    title: str
    has_apt: bool = True


def release(os_release: Mapping[str, str] | None = None) -> HostRelease:
    """Return the host's release of Debian, by its os-release, which is read here if not given.

    Raises:
        MachineError: The host is not Debian, or a release with which hardcost was not tested.
    """
    os_release = _os_release() if os_release is None else os_release
    title = os_release.get("PRETTY_NAME", "an unknown system")
    codename = RELEASES.get(os_release.get("VERSION_ID", ""))
    if os_release.get("ID") == "debian" and codename is not None:
        return HostRelease(codename, title)
    if os_release.get("ID") == "debian":
        why = "hardcost was not tested with it"
    elif "debian" in os_release.get("ID_LIKE", "").split():
        why = "its packages are not Debian's own, and hardcost was not tested with them"
    else:
        why = "it is not Debian"
    raise MachineError(f"{_NEEDS}. This host is {title}: {why}", hint=_REMEDY)


def check(os_release: Mapping[str, str] | None = None) -> HostRelease:
    """Return the release whose packages this host uses: its own by apt, or Debian 12's.

    Raises:
        MachineError: The host is not x86_64, or has neither Debian's apt nor gpgv.
    """
    if platform.machine() != "x86_64":
        raise MachineError(
            f"guests are x86_64, and this host is {platform.machine()}",
            hint="run hardcost on x86_64; a virtual machine will do, and no KVM is needed",
        )
    os_release = _os_release() if os_release is None else os_release
    try:
        own = release(os_release)
    except MachineError:
        own = HostRelease(_USUAL, os_release.get("PRETTY_NAME", "an unknown system"), has_apt=False)
    if own.has_apt and all(find_program(name) for name in _APT):
        return own
    if find_program(GPGV) is None:
        raise MachineError(
            f"{own.title} has no apt of Debian 12 or 13, so packages come from Debian's archive,"
            f" and no {GPGV}, which checks its signatures",
            hint=install(GPGV),
        )
    return HostRelease(
        own.codename,
        f"{own.title}, with packages of Debian's {own.codename} from its archive",
        has_apt=False,
    )


def _os_release() -> Mapping[str, str]:
    """Return the host's os-release; empty if there is none."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}
