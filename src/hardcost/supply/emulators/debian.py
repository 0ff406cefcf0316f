"""The QEMU of a release of Debian: fetched and unpacked once, and kept in the cache.

Nothing is installed. Of its packages only the program, its libraries, modules and firmware stay. A
kept one stays as it is, as other packages do, so that results stay comparable.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hardcost.errors import InputError, MachineError
from hardcost.files import json_value, own_text
from hardcost.supply.cache.cache import Cache, digest, file_digest
from hardcost.supply.emulators.emulator import (
    LIBRARIES,
    QEMU,
    Emulator,
    answer,
    content_identity,
    in_folder,
)
from hardcost.supply.emulators.releases import PACKAGE, DebianRelease, releases
from hardcost.supply.packages.debian import release_packages, unpacked

_KIND = "emulators"
_ABOUT = "about.json"
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+:~-]*")
_REBUILT = re.compile(r"\+b\d+$")  # a package that was compiled again, without its source
_OF_SOURCE = frozenset({"qemu-system-data"})  # packages that are never compiled again
_KEPT = (
    f"usr/bin/{QEMU}",
    f"{LIBRARIES}/*.so*",
    f"{LIBRARIES}/qemu",
    "usr/share/qemu",
    "usr/share/seabios",
)
_OPEN = 0o755  # for QEMU's own user; the folder above is closed to all others


@dataclass(frozen=True)
class DebianQemu:
    """The QEMU of a release, in a `version` that the user names; None: the one that was tried."""

    number: str
    version: str | None = None

    @property
    def release(self) -> DebianRelease:
        """Its release."""
        return releases()[self.number]

    @property
    def name(self) -> str:
        """What `--qemu` takes for it."""
        return f"debian:{self.number}{'' if self.version is None else f'={self.version}'}"

    @property
    def title(self) -> str:
        """What it is called in lists and notes."""
        return f"QEMU {self.version or self.release.version} of Debian {self.number}"


def debian_qemu(text: str) -> DebianQemu:
    """Return what `RELEASE` or `RELEASE=VERSION` names.

    Raises:
        InputError: There is no such release, or it is no version.
    """
    number, equals, version = text.partition("=")
    if number not in releases():
        known = ", ".join(f"debian:{one}" for one in releases())
        raise InputError(
            f"there is no QEMU 'debian:{number}' that hardcost fetches", hint=f"there is {known}"
        )
    if equals and _VERSION.fullmatch(version) is None:
        raise InputError(
            f"'{version}' is no version of a Debian package",
            hint=f"such as debian:{number}={releases()[number].version}",
        )
    return DebianQemu(number, version if equals else None)


def fetchable() -> tuple[DebianQemu, ...]:
    """Return those that were tried."""
    return tuple(map(DebianQemu, releases()))


def is_here(cache: Cache, wanted: DebianQemu) -> bool:
    """Say whether it was fetched."""
    return cache.is_there(_KIND, _name(wanted))


def emulator(cache: Cache, wanted: DebianQemu, note: Callable[[str], None]) -> Emulator:
    """Return the QEMU of a release, fetched on first use; `note` hears of that.

    Raises:
        InputError: The release does not offer the version that the user names.
        MachineError: It can't be fetched, or the version that was tried is gone.
    """

    def fill(folder: Path) -> None:
        note(f"fetching {wanted.title}; this happens once …")
        archives, whole = folder / "archives", folder / "whole"
        archives.mkdir()
        versions = _fetch(cache, wanted, archives)
        for name, version in versions.items():
            _unpack(archives, name, version, whole)
        shutil.rmtree(archives)
        _keep(whole, folder / "files")
        shutil.rmtree(whole)
        found = in_folder(folder / "files")
        _check_starts(found, wanted)
        about = {"identity": content_identity(found), "packages": versions}
        (folder / _ABOUT).write_text(json.dumps(about))

    place = cache.make(_KIND, _name(wanted), wanted.title, fill)
    identity = str(json_value(own_text(place / _ABOUT))["identity"])
    return replace(in_folder(place / "files"), identity=identity)


def _name(wanted: DebianQemu) -> str:
    """Return the name of its entry in the cache; what was tried is another one if that changes."""
    if wanted.version is not None:
        return digest({"debian": wanted.number, "version": wanted.version})
    pins = {name: one.sha256 for name, one in wanted.release.packages.items()}
    return digest({"debian": wanted.number, **pins})


def _fetch(cache: Cache, wanted: DebianQemu, folder: Path) -> Mapping[str, str]:
    """Download its packages and return their versions; with fresh lists if old ones won't do."""
    source = release_packages(cache, wanted.release.codename)
    names = (*wanted.release.packages, *wanted.release.libraries)

    def download() -> Mapping[str, str]:
        versions = choose_versions(wanted, source.versions(names))
        source.download_all(versions, folder)
        return versions

    try:
        versions = download()
    except (InputError, MachineError):
        source.refresh()
        for left in folder.iterdir():
            left.unlink()
        versions = download()
    if wanted.version is None:
        for name, one in wanted.release.packages.items():
            _check_digest(_archive(folder, name), name, one.sha256)
    return versions


def choose_versions(wanted: DebianQemu, offered: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
    """Return the version of each package to be fetched; `offered` has the newest first.

    Raises:
        InputError: The version that the user names is not offered.
        MachineError: The one that was tried is gone, or a package is not offered at all.
    """
    release, chosen = wanted.release, {}
    for name, one in release.packages.items():
        versions = offered.get(name, ())
        version = one.version if wanted.version is None else _beside(wanted, name, versions)
        if version not in versions:
            raise _gone_error(wanted, name, version, offered.get(PACKAGE, ()))
        chosen[name] = version
    for name in release.libraries:
        if not offered.get(name):
            raise MachineError(
                f"Debian {wanted.number} offers no package {name}, which its QEMU needs",
                hint="check that this host reaches Debian's mirror (apt-get update)",
            )
        chosen[name] = offered[name][0]
    return chosen


def _beside(wanted: DebianQemu, name: str, versions: Sequence[str]) -> str:
    """Return the version of a package that belongs to a version of QEMU that the user names."""
    version = wanted.version or wanted.release.version
    if wanted.release.packages[name].version != wanted.release.version:
        return versions[0] if versions else ""  # firmware, with versions of its own
    return _REBUILT.sub("", version) if name in _OF_SOURCE else version


def _gone_error(
    wanted: DebianQemu, package: str, version: str, newest: Sequence[str]
) -> InputError | MachineError:
    if not newest:
        return MachineError(
            f"Debian {wanted.number} offers no {PACKAGE} here",
            hint="check that this host reaches Debian's mirror (apt-get update)",
        )
    if wanted.version is not None:
        return InputError(
            f"Debian {wanted.number} has no {package} {version}", hint=f"it has {', '.join(newest)}"
        )
    return MachineError(
        f"Debian {wanted.number} no longer has {package} {version}, with which hardcost was tried",
        hint=f"the newest QEMU there is taken by `--qemu debian:{wanted.number}={newest[0]}`;"
        " hardcost was not tried with it",
    )


def _archive(folder: Path, name: str) -> Path:
    """Return the downloaded file of a package."""
    found = list(folder.glob(f"{name}_*.deb"))
    if len(found) != 1:
        raise MachineError(f"nothing was downloaded for the package {name}")
    return found[0]


def _check_digest(archive: Path, name: str, expected: str) -> None:
    found = file_digest(archive)
    if found != expected:
        raise MachineError(
            f"the package {name} that came has the SHA-256 {found[:16]}…, and hardcost was tried"
            f" with {expected[:16]}…",
            hint="the mirror may be damaged; please report this where another one gives the same",
        )


def _unpack(archives: Path, name: str, version: str, folder: Path) -> None:
    came = unpacked(_archive(archives, name), name, folder)
    if came != version:
        raise MachineError(f"the package {name} {came} came for {version}; please report this")


def _keep(whole: Path, folder: Path) -> None:
    """Move what QEMU needs of unpacked packages to a folder that its own user can read."""
    for path in [one for pattern in _KEPT for one in whole.glob(pattern)]:
        place = folder / path.relative_to(whole)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.rename(place)
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(_OPEN)


def _check_starts(found: Emulator, wanted: DebianQemu) -> None:
    try:
        answer(found, "--version")
    except MachineError as error:
        raise MachineError(
            f"{wanted.title} does not start here: {error}",
            hint="it may need a library that hardcost does not fetch with it; please report this",
        ) from error
