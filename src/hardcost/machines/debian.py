"""Debian's packages, fetched and unpacked without being installed, and without being root."""

from __future__ import annotations

import contextlib
import platform
import re
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines.cache import digest
from hardcost.machines.manifest import WHOLE, damage, is_there
from hardcost.machines.process import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from hardcost.machines.cache import Cache

_REMEDY = "apt-get update, then try again; hardcost takes packages from apt's own sources"
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_VERSION = "version"  # the file beside a package's files that holds it
_VERSION_NUMBER = re.compile(r"[0-9][A-Za-z0-9.+:~-]*")
_CONCRETE_KERNEL = re.compile(r"^\s*Depends:\s+(linux-image-\d\S*)", re.MULTILINE)


def unpacked(cache: Cache, package: str, parts: Sequence[str] = WHOLE) -> Path:
    """Return the folder that holds a package's files, fetched on first use.

    What is in the cache stays as it is, even when Debian has a newer version by now: results are
    to stay comparable until the user removes it. What is damaged is fetched again, in the version
    that it had, where Debian still has that. `parts` are what the caller uses of the package's
    folder, as `Cache.find` takes them; only they are checked.

    Raises:
        MachineError: The name is none that Debian gives, apt has no such package, or it can't be
            fetched.
    """
    name = digest({"package": _checked(package), "architecture": platform.machine()})
    before = _recorded_version(cache, name)

    def fill(folder: Path) -> None:
        archive = _fetch(cache, package, before, folder)
        run(["dpkg-deb", "-x", "--", archive, folder / "files"], remedy="apt-get install dpkg")
        version = run(["dpkg-deb", "-f", "--", archive, "Version"]).strip()
        (folder / _VERSION).write_text(version)
        archive.unlink()

    title = f"Debian package {package}"
    return cache.make("packages", name, title, fill, parts=(_VERSION, *parts)) / "files"


def version(cache: Cache, package: str) -> str:
    """Return the version of a package as it lies unpacked in the cache."""
    return (unpacked(cache, package, (_VERSION,)).parent / _VERSION).read_text()


def kernel_package(cache: Cache, parts: Sequence[str] = WHOLE) -> Path:
    """Return the unpacked package of Debian's present kernel.

    `linux-image-amd64` only depends on the package that holds the kernel; that dependency is
    looked up once and remembered, so that an update of the package lists changes no result.
    `parts` are those of `unpacked`.
    """
    name = digest({"package": "linux-image-amd64", "architecture": platform.machine()})

    def fill(folder: Path) -> None:
        depends = run(["apt-cache", *_lists(cache), "depends", "--", "linux-image-amd64"])
        found = _CONCRETE_KERNEL.search(depends)
        if found is None:
            raise MachineError("apt knows of no package linux-image-amd64", hint=_REMEDY)
        (folder / "package").write_text(_checked(found.group(1)))

    if cache.find("packages", name) is None:
        _with_fresh_lists(cache, lambda: str(cache.make("packages", name, "Debian's kernel", fill)))
    return unpacked(cache, (cache.root / "packages" / name / "package").read_text(), parts)


def _checked(package: str) -> str:
    """Return a package's name if it is one by Debian's policy, section 5.6.1.

    Raises:
        MachineError: It is not; apt might take it for an option.
    """
    if _NAME.fullmatch(package) is None:
        raise MachineError(
            f"{package!r} is no name of a Debian package",
            hint="names are of lower-case letters, digits and .+- and begin with no sign",
        )
    return package


def _recorded_version(cache: Cache, name: str) -> str | None:
    """Return the version that a package in the cache had, None where that is not known."""
    place = cache.root / "packages" / name
    sealed = is_there(place)
    if sealed and damage(place, f"packages/{name}", (_VERSION,)) is not None:
        return None
    try:
        found = (place / _VERSION).read_text()
    except (OSError, ValueError):
        return None
    return found if _VERSION_NUMBER.fullmatch(found) else None


def _fetch(cache: Cache, package: str, version: str | None, folder: Path) -> Path:
    """Download a package's archive into `folder`, with package lists of our own if need be.

    Where there was a `version` of it before, that is tried first.
    """

    def download(what: str = package) -> str:
        words = ["apt-get", *_lists(cache), "download", "--", what]
        return run(words, folder=folder, remedy=_REMEDY)

    if version is not None:
        with contextlib.suppress(MachineError):
            download(f"{package}={version}")
    if not list(folder.glob("*.deb")):
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
