"""Debian's packages, fetched and unpacked without installing them and without root."""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hardcost.decompress import DamagedError
from hardcost.errors import InputError, MachineError
from hardcost.files import own_text
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.cache.location import default_root
from hardcost.supply.cache.manifest import WHOLE, damage, is_there
from hardcost.supply.packages import host_release, unpack
from hardcost.supply.packages.apt import Apt
from hardcost.supply.packages.apt_sources import BACKPORTS, UNSTABLE
from hardcost.supply.packages.host_release import HostRelease
from hardcost.supply.packages.mirror import DebianArchive

_CONCRETE_KERNEL = re.compile(r"linux-image-\d\S*")
_ORDINARY = re.compile(r"linux-image-(\d+\.\d+\.\d+(?:[+.-][0-9a-z+.]+)?)-amd64")
_KERNEL_VERSION = re.compile(r"\d{1,3}\.\d{1,3}(?:[.+-][0-9a-z]+)*")
_RELEASES = ("bookworm", "trixie", f"trixie{BACKPORTS}", UNSTABLE)
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_KERNEL = "linux-image-amd64"
_VERSION = "version"  # the file beside a package's files that holds its version
_VERSION_NUMBER = re.compile(r"[0-9][A-Za-z0-9.+:~-]*")


@dataclass(frozen=True)
class _Of:
    """The release of Debian that packages are taken from, by default the host's.

    `elsewhere` is the one that is asked where that has none.
    """

    release: str | None = None
    elsewhere: str | None = None


@dataclass(frozen=True)
class _Kind:
    """Packages of which Debian has one for each version of Linux.

    `pattern` is apt's for their names, `series` the version in a name; `chosen` is the package of a
    version among those that a release has.
    """

    title: str
    pattern: str
    series: re.Pattern[str]
    chosen: Callable[[Sequence[str], str], str | None]


def package_folder(
    cache: Cache,
    package: str,
    parts: Sequence[str] = WHOLE,
    *,
    elsewhere: str | None = None,
    release: str | None = None,
) -> Path:
    """Return the folder with a package's files, fetched on first use.

    `package` may be alternatives as Debian writes them, such as "libauparse0t64 | libauparse0"; the
    first available one is used. `elsewhere` is the release of Debian that has the package if the
    host's own has none. With `release` it is that release's, whatever the host's own has.

    A cached package stays as it is, even when Debian has a newer version, so that results stay
    comparable until the user removes it. A damaged package is fetched again, in the same version if
    Debian still has it. `parts` are the parts of the folder that the caller uses, as for
    `Cache.find`; only they are checked.

    Raises:
        MachineError: The name is not one of Debian's, apt has no such package, or it can't be
            fetched.
    """
    return _entry(cache, package, _Of(release, elsewhere), parts) / "files"


def package_root(package: str, release: str | None = None) -> Path:
    """Return the folder in which a Debian package lies unpacked, in the cache of this user.

    It is the host's, or that of a `release`.

    Raises:
        MachineError: It can't be fetched.
    """
    return package_folder(_of_this_run(default_root()), package, release=release)


@functools.cache
def _of_this_run(root: Path) -> Cache:
    """Return a cache that looks at each package once a run, however many profiles read it."""
    return Cache(root)


def kept_package(cache: Cache, package: str) -> Path | None:
    """Return the folder with a package's files, None if it was not fetched yet."""
    place = _place(cache, package)
    return place / "files" if place.is_dir() else None


def version(
    cache: Cache, package: str, elsewhere: str | None = None, release: str | None = None
) -> str:
    """Return the version of an unpacked package in the cache."""
    return (_entry(cache, package, _Of(release, elsewhere), ()) / _VERSION).read_text()


def offer(cache: Cache, package: str, elsewhere: str | None = None) -> str:
    """Return the name, version and release of a package, for a reader, without fetching it.

    Raises:
        MachineError: It is neither in the cache nor offered by apt.
    """
    place = _place(cache, package)
    if place.is_dir():
        return f"{package} {_recorded_version(place) or 'of an unknown version'}"
    packages, chosen = _release_offering(cache, (package,), _Of(elsewhere=elsewhere))
    return f"{chosen} of {packages.title}"


def release_packages(cache: Cache, codename: str) -> Apt | DebianArchive:
    """Return the packages of a release of Debian, out of Debian's own sources alone.

    Raises:
        MachineError: This host has no way to them.
    """
    return _packages(cache, host_release.check(), codename)


def unpacked(archive: Path, package: str, folder: Path) -> str:
    """Unpack a package into a folder, which may hold others already; return its version.

    Raises:
        MachineError: It is damaged, or another package.
        OSError: The disk is full.
    """
    try:
        said = unpack.unpack(archive, folder)
    except DamagedError as error:
        raise MachineError(f"the package {package} can't be unpacked: {error}") from error
    if said.get("Package") != package:
        raise MachineError(
            f"the package {said.get('Package')} came for {package}; please report this"
        )
    return said.get("Version", "")


def current_kernel(cache: Cache, release: str | None = None) -> str:
    """Return the package that is the current kernel of a release, by default of the host's.

    `linux-image-amd64` only depends on it; that dependency is looked up once and remembered, so
    that an update of the package lists changes no result.
    """
    place = _place(cache, _KERNEL, release)

    def fill(folder: Path) -> None:
        offering = _packages(cache, host_release.check(), release)
        offering.first_offered((_KERNEL,))
        depends = filter(_CONCRETE_KERNEL.fullmatch, offering.depends(_KERNEL))
        found = next(depends, None)
        if found is None:
            raise MachineError(f"{offering.title} has no kernel that {_KERNEL} depends on")
        (folder / "package").write_text(_check_name(found))

    title = "Debian's kernel" if release is None else f"the kernel of Debian's {release}"
    cache.make("packages", place.name, title, fill)
    return (place / "package").read_text()


def knows_current_kernel(cache: Cache, release: str | None = None) -> bool:
    """Say whether the current kernel of a release was looked up before."""
    return _place(cache, _KERNEL, release).is_dir()


def kernel_of(cache: Cache, version: str) -> tuple[str, str]:
    """Return the package of Debian's newest kernel of a version, and the release that has it.

    `version` is as in `uname -r` or begins so: `6.12`, `6.12.117+deb13`. The host's own release is
    asked first, then the others. What was found is remembered, so that later results are
    comparable.

    Raises:
        InputError: It is no version, or Debian has no such kernel; the hint names those it has.
        MachineError: Its lists can't be fetched.
    """
    return _find_package(cache, _KERNELS, version)


def source_of(cache: Cache, version: str) -> tuple[str, str]:
    """Return the package of Linux's source of a version, and the release that has it.

    `version` is as Debian names its sources, such as `6.12`; the rest is as in `kernel_of`.

    Raises:
        InputError: It is no version, or Debian has no such source; the hint names those it has.
        MachineError: Its lists can't be fetched.
    """
    return _find_package(cache, _SOURCES, version)


def knows_kernel(cache: Cache, version: str) -> bool:
    """Say whether Debian's kernel of a version was looked up before."""
    return _kind_place(cache, _KERNELS, version).is_dir()


def _find_package(cache: Cache, kind: _Kind, version: str) -> tuple[str, str]:
    """Return the package of a kind and version, and the release that has it."""
    if _KERNEL_VERSION.fullmatch(version) is None:
        raise InputError(
            f"debian:{version} names no version of Linux", hint="such as debian:6.12 or debian:6.1"
        )

    def fill(folder: Path) -> None:
        own = host_release.check()
        others = [one for one in _RELEASES if one != own.codename]
        seen: set[str] = set()
        for codename in (None, *others):
            offered = _offered_packages(cache, own, codename, kind)
            seen.update(offered)
            found = kind.chosen(offered, version)
            if found is not None:
                (folder / "package").write_text(_check_name(found))
                (folder / "release").write_text(codename or own.codename)
                return
        has = sorted({match[1] for one in seen if (match := kind.series.match(one))}, key=_numbers)
        raise InputError(
            f"Debian has no {kind.title} {version} for this machine",
            hint=f"it has {', '.join(has)}" if has else "apt-get update, then try again",
        )

    name = _kind_place(cache, kind, version).name
    title = f"which of Debian's {kind.title}s is {version}"
    place = cache.make("packages", name, title, fill)
    return (place / "package").read_text(), (place / "release").read_text()


def _kind_place(cache: Cache, kind: _Kind, version: str) -> Path:
    return _place(cache, f"the {kind.title} {version}")


def _offered_packages(
    cache: Cache, own: host_release.HostRelease, codename: str | None, kind: _Kind
) -> tuple[str, ...]:
    """Return a release's packages; none of another release whose lists don't come."""
    try:
        return _packages(cache, own, codename).matching_packages(kind.pattern)
    except MachineError:
        if codename is None:
            raise
        return ()


def newest_kernel(packages: Sequence[str], version: str) -> str | None:
    """Return the package of the newest of Debian's ordinary kernels of a version, None if none is.

    Not those for clouds and real time, nor those whose name says nothing but the series.
    """
    found = [
        one
        for one in packages
        if (match := _ORDINARY.fullmatch(one))
        and re.match(rf"{re.escape(version)}(?![0-9])", match[1])  # 6.1 is not 6.12
    ]
    return max(found, key=_numbers, default=None)


def _source(packages: Sequence[str], version: str) -> str | None:
    """Return the package of the source of a version, None if it is not there."""
    name = f"linux-source-{version}"
    return name if name in packages else None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


_KERNELS = _Kind(
    "kernel",
    r"^linux-image-[0-9].*-amd64$",
    re.compile(r"linux-image-(\d+\.\d+)\.\d"),
    newest_kernel,
)
_SOURCES = _Kind(
    "source of Linux", r"^linux-source-[0-9]", re.compile(r"linux-source-(\d+\.\d+)$"), _source
)


def _entry(cache: Cache, package: str, of: _Of, parts: Sequence[str]) -> Path:
    """Return a package's place in the cache, with its version and the used `parts`."""
    chosen = _choose_package(cache, package, of) if "|" in package else package
    place = _place(cache, _check_name(chosen), of.release)
    before = _recorded_version(place)

    def fill(folder: Path) -> None:
        archive = _release_offering(cache, (chosen,), of)[0].download(chosen, folder, before)
        (folder / _VERSION).write_text(unpacked(archive, chosen, folder / "files"))
        archive.unlink()  # the cache need not hold its content twice

    title = f"Debian package {chosen}{'' if of.release is None else f' of {of.release}'}"
    return cache.make("packages", place.name, title, fill, parts=(_VERSION, *parts))


def _check_name(package: str) -> str:
    """Return a package's name if it is valid by Debian's policy, section 5.6.1."""
    if _NAME.fullmatch(package) is None:
        raise MachineError(
            f"{package!r} is not a valid name of a Debian package",
            hint="names consist of lower-case letters, digits and .+- and begin with no sign",
        )
    return package


def _recorded_version(place: Path) -> str | None:
    """Return the version of a package in the cache, None if it is unknown."""
    sealed = is_there(place)
    if sealed and damage(place, f"packages/{place.name}", (_VERSION,)) is not None:
        return None
    try:
        found = own_text(place / _VERSION)
    except (OSError, ValueError):
        return None
    return found if _VERSION_NUMBER.fullmatch(found) else None


def _choose_package(cache: Cache, alternatives: str, of: _Of) -> str:
    """Return the package chosen from alternatives, on first use and remembered.

    Where one is only to be had elsewhere, it is named by itself.
    """
    of = replace(of, elsewhere=None)

    def fill(folder: Path) -> None:
        names = tuple(_check_name(name.strip()) for name in alternatives.split("|"))
        (folder / "package").write_text(_release_offering(cache, names, of)[1])

    name = _place(cache, alternatives, of.release).name
    who = "Debian" if of.release is None else f"Debian's {of.release}"
    place = cache.make("packages", name, f"which of {alternatives} {who} has", fill)
    return (place / "package").read_text()


def _packages(cache: Cache, own: HostRelease, codename: str | None = None) -> Apt | DebianArchive:
    """Return the packages of a release, by default the host's own: by apt, or from the archive."""
    if own.has_apt:
        return Apt(cache, own, codename)
    return DebianArchive(cache, codename or own.codename)


def _release_offering(
    cache: Cache, names: tuple[str, ...], of: _Of
) -> tuple[Apt | DebianArchive, str]:
    """Return the release that offers one of `names`, and which."""
    own = host_release.check()
    try:
        packages = _packages(cache, own, of.release)
        return packages, packages.first_offered(names)
    except MachineError:
        if of.elsewhere in {None, own.codename}:
            raise
    packages = _packages(cache, own, of.elsewhere)
    return packages, packages.first_offered(names)


def _place(cache: Cache, package: str, release: str | None = None) -> Path:
    """Return where a package is kept; the same one of another release is kept beside it."""
    of = {} if release is None else {"release": release}
    name = digest({"package": package, "architecture": platform.machine(), **of})
    return cache.root / "packages" / name
