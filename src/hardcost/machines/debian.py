"""Debian's packages, fetched and unpacked without being installed, and without being root."""

from __future__ import annotations

import platform
import re
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines import host
from hardcost.machines.apt import Apt
from hardcost.machines.cache import digest
from hardcost.machines.process import run

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.machines.cache import Cache

_CONCRETE_KERNEL = re.compile(r"^\s*Depends:\s+(linux-image-\d\S*)", re.MULTILINE)
_SAMPLES = "usr/share/doc/auditd/examples/*rules"  # rules in Debian 12, audit-rules in 13


def unpacked(cache: Cache, package: str, elsewhere: str | None = None) -> Path:
    """Return the folder that holds a package's files, fetched on first use.

    `package` may be alternatives as Debian writes them, such as "libauparse0t64 | libauparse0"; the
    first that is there is taken. `elsewhere` is the release of Debian that has the package where
    the host's own has none.

    What is in the cache stays as it is, even when Debian has a newer version by now: results are
    to stay comparable until the user removes it.

    Raises:
        MachineError: apt has no such package or can't fetch it.
    """
    return _entry(cache, package, elsewhere) / "files"


def version(cache: Cache, package: str, elsewhere: str | None = None) -> str:
    """Return the version of a package as it lies unpacked in the cache."""
    return (_entry(cache, package, elsewhere) / "version").read_text()


def offer(cache: Cache, package: str, elsewhere: str | None = None) -> str:
    """Return the name, version and release of a package, for a reader, without fetching it.

    Raises:
        MachineError: It is neither in the cache nor offered by apt.
    """
    place = _place(cache, package)
    if place.is_dir():
        return f"{package} {(place / 'version').read_text()}"
    apt, chosen = _offering(cache, (package,), elsewhere)
    return f"{chosen} of {apt.title}"


def kernel_package(cache: Cache) -> Path:
    """Return the unpacked package of Debian's present kernel.

    `linux-image-amd64` only depends on the package that holds the kernel; that dependency is
    looked up once and remembered, so that an update of the package lists changes no result.
    """
    place = _place(cache, "linux-image-amd64")

    def fill(folder: Path) -> None:
        apt = Apt(cache, host.check())
        apt.offered(("linux-image-amd64",))
        found = _CONCRETE_KERNEL.search(apt.depends("linux-image-amd64"))
        if found is None:
            raise MachineError("apt knows of no kernel that linux-image-amd64 depends on")
        (folder / "package").write_text(found.group(1))

    cache.make("packages", place.name, "Debian's kernel", fill)
    return unpacked(cache, (place / "package").read_text())


def sample_rules(cache: Cache) -> Path:
    """Return the folder of the rules that the audit package brings as examples.

    Raises:
        MachineError: The package can't be fetched, or has none.
    """
    folder = next(unpacked(cache, "auditd").glob(_SAMPLES), None)
    if folder is None:
        raise MachineError(
            f"the package auditd has no {_SAMPLES}",
            hint="this release of Debian packs it elsewhere; please report it",
        )
    return folder


def _entry(cache: Cache, package: str, elsewhere: str | None) -> Path:
    """Return a package's place in the cache, with its files and its version."""
    if "|" in package:
        package = _chosen(cache, package)
    place = _place(cache, package)

    def fill(folder: Path) -> None:
        archive = _offering(cache, (package,), elsewhere)[0].download(package, folder)
        name = run(["dpkg-deb", "-f", archive, "Package"], remedy="apt-get install dpkg").strip()
        if name != package:
            raise MachineError(f"apt downloaded the package {name} for {package}; please report it")
        run(["dpkg-deb", "-x", archive, folder / "files"])
        (folder / "version").write_text(run(["dpkg-deb", "-f", archive, "Version"]).strip())
        archive.unlink()

    return cache.make("packages", place.name, f"Debian package {package}", fill)


def _chosen(cache: Cache, alternatives: str) -> str:
    """Return the package that was taken of alternatives, chosen on first use and remembered."""

    def fill(folder: Path) -> None:
        names = tuple(name.strip() for name in alternatives.split("|"))
        (folder / "package").write_text(_offering(cache, names, None)[1])

    name = _place(cache, alternatives).name
    place = cache.make("packages", name, f"which of {alternatives} Debian has", fill)
    return (place / "package").read_text()


def _offering(cache: Cache, names: tuple[str, ...], elsewhere: str | None) -> tuple[Apt, str]:
    """Return the apt that offers one of `names`, and which: the host's, else another release's."""
    release = host.check()
    try:
        apt = Apt(cache, release)
        return apt, apt.offered(names)
    except MachineError:
        if elsewhere is None or elsewhere == release.codename:
            raise
    apt = Apt(cache, release, elsewhere)
    return apt, apt.offered(names)


def _place(cache: Cache, package: str) -> Path:
    name = digest({"package": package, "architecture": platform.machine()})
    return cache.root / "packages" / name
