"""How this host installs packages: a command in its own package manager's words and names.

hardcost names packages as Debian does. Where another distribution calls one otherwise, the table
says how; where it has none that is known, the command says so. The names are those of Fedora's,
openSUSE's, Arch's, Alpine's and Nix's own recipes and install instructions in 2025 and 2026; Red
Hat and its rebuilds have Fedora's names but for QEMU: their qemu-kvm is no qemu-system-x86_64, and
can't emulate.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from typing import Literal

Manager = Literal["apt", "dnf", "dnf of Red Hat", "zypper", "pacman", "apk", "nix"]

_COMMANDS: Mapping[Manager, str] = {
    "apt": "apt-get install",
    "dnf": "dnf install",
    "dnf of Red Hat": "dnf install",
    "zypper": "zypper install",
    "pacman": "pacman -S",
    "apk": "apk add",
    "nix": "nix-shell -p",
}

_BY_SYSTEM: Mapping[str, Manager] = {
    "debian": "apt",
    "ubuntu": "apt",
    "fedora": "dnf",
    "rhel": "dnf of Red Hat",
    "centos": "dnf of Red Hat",
    "amzn": "dnf of Red Hat",
    "suse": "zypper",
    "opensuse": "zypper",
    "sles": "zypper",
    "opensuse-leap": "zypper",
    "opensuse-tumbleweed": "zypper",
    "arch": "pacman",
    "alpine": "apk",
    "nixos": "nix",
}
"""The package manager of a system, by ID or ID_LIKE of its os-release."""

_NONE = ""
_NAMES: Mapping[str, Mapping[Manager, str]] = {
    "qemu-system-x86": {
        "dnf of Red Hat": _NONE,
        "zypper": "qemu-x86",
        "apk": "qemu-system-x86_64",
        "nix": "qemu",
    },
    "qemu-utils": {
        "dnf": "qemu-img",
        "zypper": "qemu-img",
        "pacman": "qemu-img",
        "apk": "qemu-img",
        "nix": "qemu",
    },
    "mmdebstrap": {"dnf of Red Hat": _NONE, "zypper": _NONE, "pacman": _NONE, "apk": _NONE},
    "gpgv": {
        "dnf": "gnupg2",
        "zypper": "gpg2",
        "pacman": "gnupg",
        "nix": "gnupg",
    },
    "e2fsprogs": {"apk": "e2fsprogs e2fsprogs-extra"},
    "openssh-client": {
        "dnf": "openssh-clients",
        "zypper": "openssh-clients",
        "pacman": "openssh",
        "apk": "openssh-client-default",
        "nix": "openssh",
    },
    "libarchive13": {
        "dnf": "libarchive",
        "pacman": "libarchive",
        "apk": "libarchive",
        "nix": "libarchive",
    },
    "xz-utils": {"dnf": "xz", "zypper": "xz", "pacman": "xz", "apk": "xz", "nix": "xz"},
    "libelf-dev": {
        "dnf": "elfutils-libelf-devel",
        "zypper": "libelf-devel",
        "pacman": "libelf",
        "apk": "elfutils-dev",
        "nix": "elfutils",
    },
    "libssl-dev": {
        "dnf": "openssl-devel",
        "zypper": "libopenssl-devel",
        "pacman": "openssl",
        "apk": "openssl-dev",
        "nix": "openssl",
    },
}
"""The names of Debian's packages in other distributions, where they differ."""


def install(*packages: str) -> str:
    """Return the command that installs packages, named as Debian does, on this host."""
    return command(_manager(), packages)


def command(manager: Manager, packages: tuple[str, ...]) -> str:
    """Return the command that installs packages of Debian's names by a package manager."""
    names = {one: _name(manager, one) for one in packages}
    known = " ".join(dict.fromkeys(name for name in names.values() if name != _NONE))
    lacking = ", ".join(one for one, name in names.items() if name == _NONE)
    words = [f"{_COMMANDS[manager]} {known}"] if known else []
    words += [f"no package of {manager} is known for {lacking}"] if lacking else []
    return "; ".join(words)


def _name(manager: Manager, package: str) -> str:
    """Return a package's name here; Red Hat's names are Fedora's unless it has its own."""
    known = _NAMES.get(package, {})
    usual = known.get("dnf", package) if manager == "dnf of Red Hat" else package
    return known.get(manager, usual)


def manager(os_release: Mapping[str, str]) -> Manager:
    """Return the package manager of a system by its os-release; apt if that says nothing known."""
    for name in (os_release.get("ID", ""), *os_release.get("ID_LIKE", "").split()):
        if name in _BY_SYSTEM:
            return _BY_SYSTEM[name]
    return "apt"


@cache
def _manager() -> Manager:
    try:
        return manager(platform.freedesktop_os_release())
    except OSError:
        return "apt"
