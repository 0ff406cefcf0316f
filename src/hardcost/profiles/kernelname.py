"""The kernel that a TOML file names: one that is built from a configuration, or one that exists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hardcost.controls.control import Kernel

if TYPE_CHECKING:
    from pathlib import Path

DEBIAN = "debian:"
"""What stands before the version of one of Debian's kernels."""

INSTALLED = "installed:"
"""What stands before the release of a kernel that is installed on a machine."""

HOST = "host"
"""The kernel that runs this host."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_VERSION = re.compile(r"\d{1,3}\.\d{1,3}(?:[.+-][0-9a-z]+)*")
_RELEASE = re.compile(r"\d[\w.+~-]{0,63}", re.ASCII)
_PACKAGES = frozenset({".deb", ".rpm"})
_LOOKED_AT = 4096  # bytes, among which every kernel has a zero, and no configuration


def is_bare(name: str) -> bool:
    """Say whether a kernel or series of patches comes with hardcost; others are paths."""
    return _BARE.fullmatch(name) is not None


def is_elsewhere(name: str) -> bool:
    """Say whether a kernel's name is neither one that comes with hardcost nor a path."""
    return name == HOST or name.startswith((DEBIAN, INSTALLED))


def named(name: str, folder: Path) -> Kernel:
    """Return the kernel of a name; paths begin at `folder`.

    Raises:
        ValueError: It is no version of Debian's and no release of an installed kernel, or there is
            nothing at that path.
    """
    if name.startswith(DEBIAN) and _VERSION.fullmatch(name.removeprefix(DEBIAN)) is None:
        raise ValueError(f"'{name}' names no version of Linux, such as debian:6.12")
    if name.startswith(INSTALLED) and not _RELEASE.fullmatch(name.removeprefix(INSTALLED)):
        raise ValueError(f"'{name}' names no release, such as installed:6.1.0-44-amd64")
    if is_elsewhere(name):
        return Kernel(name, shipped=True)
    if is_bare(name):
        return Kernel(name)
    path = folder / name
    try:
        if name and path.is_dir():
            return Kernel(str(path), shipped=True)
        if path.is_file():
            return Kernel(str(path), shipped=path.suffix in _PACKAGES or _is_binary(path))
        why = "there is no such file or folder"
    except (OSError, ValueError) as error:
        why = str(error)
    raise ValueError(f"the kernel '{name}' can't be read: {why}")


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        return b"\0" in file.read(_LOOKED_AT)
