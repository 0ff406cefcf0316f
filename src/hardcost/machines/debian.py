"""Debian's packages, fetched and unpacked without being installed, and without being root."""

from __future__ import annotations

import platform
import re
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines.cache import digest
from hardcost.machines.process import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hardcost.machines.cache import Cache

_REMEDY = "apt-get update, then try again; hardcost takes packages from apt's own sources"
_CONCRETE_KERNEL = re.compile(r"^\s*Depends:\s+(linux-image-\d\S*)", re.MULTILINE)


def unpacked(cache: Cache, package: str) -> Path:
    """Return the folder that holds a package's files, fetched on first use.

    What is in the cache stays as it is, even when Debian has a newer version by now: results are
    to stay comparable until the user removes it.

    Raises:
        MachineError: apt has no such package or can't fetch it.
    """

    def fill(folder: Path) -> None:
        archive = _fetch(cache, package, folder)
        run(["dpkg-deb", "-x", archive, folder / "files"], remedy="apt-get install dpkg")
        version = run(["dpkg-deb", "-f", archive, "Version"]).strip()
        (folder / "version").write_text(version)
        archive.unlink()

    return cache.make("packages", _name(package), f"Debian package {package}", fill) / "files"


def kept(cache: Cache, package: str) -> Path | None:
    """Return the folder that holds a package's files, None where it was not fetched yet."""
    place = cache.root / "packages" / _name(package)
    return place / "files" if place.is_dir() else None


def version(cache: Cache, package: str) -> str:
    """Return the version of a package as it lies unpacked in the cache."""
    return (unpacked(cache, package).parent / "version").read_text()


def kernel_package(cache: Cache) -> Path:
    """Return the unpacked package of Debian's present kernel.

    `linux-image-amd64` only depends on the package that holds the kernel; that dependency is
    looked up once and remembered, so that an update of the package lists changes no result.
    """
    name = _name("linux-image-amd64")

    def fill(folder: Path) -> None:
        depends = run(["apt-cache", *_lists(cache), "depends", "linux-image-amd64"])
        found = _CONCRETE_KERNEL.search(depends)
        if found is None:
            raise MachineError("apt knows of no package linux-image-amd64", hint=_REMEDY)
        (folder / "package").write_text(found.group(1))

    def known() -> bool:
        return (cache.root / "packages" / name).is_dir()

    if not known():
        _with_fresh_lists(cache, lambda: str(cache.make("packages", name, "Debian's kernel", fill)))
    return unpacked(cache, (cache.root / "packages" / name / "package").read_text())


def _name(package: str) -> str:
    return digest({"package": package, "architecture": platform.machine()})


def _fetch(cache: Cache, package: str, folder: Path) -> Path:
    """Download a package's archive into `folder`, with package lists of our own if need be."""

    def download() -> str:
        return run(["apt-get", *_lists(cache), "download", package], folder=folder, remedy=_REMEDY)

    _with_fresh_lists(cache, download)
    archives = list(folder.glob("*.deb"))
    if len(archives) != 1:
        raise MachineError(f"apt downloaded nothing for {package}", hint=_REMEDY)
    return archives[0]


def _with_fresh_lists(cache: Cache, action: Callable[[], str]) -> None:
    """Carry out `action`; if it fails, fetch package lists into the cache and try once more."""
    try:
        action()
    except MachineError:
        own = cache.root / "apt"
        for folder in ("lists/partial", "archives/partial"):
            (own / folder).mkdir(parents=True, exist_ok=True)
        run(["apt-get", *_lists(cache), "update"], remedy=_REMEDY)
        action()


def _lists(cache: Cache) -> list[str]:
    """Return apt's options: the package lists in our cache where we had to fetch some."""
    own = cache.root / "apt"
    if not own.is_dir():
        return []
    return [f"-oDir::State::Lists={own}/lists", f"-oDir::Cache={own}", "-oDebug::NoLocking=1"]
