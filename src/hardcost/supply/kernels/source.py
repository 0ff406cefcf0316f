"""The source of kernel builds: Debian's, or a folder of the user's."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TypeVar

from hardcost.errors import InputError, MachineError
from hardcost.host.install_command import install
from hardcost.host.process import run
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.kernels.build_tree import lay_out, link
from hardcost.supply.kernels.patch_overlay import Overlay
from hardcost.supply.packages import debian, host_release

DEBIAN = "debian:"
"""The prefix of the version of one of Debian's sources."""

_PACKAGES = "linux-source-"
PACKAGE = f"{_PACKAGES}6.1"
"""The Linux source of kernel builds, unless another is named: figures are for 6.1."""

_RELEASE = "bookworm"  # the Debian release with this kernel; others have another source
_VERSION = re.compile(r"^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)$", re.MULTILINE)
_MUST_HAVE = ("Makefile", "Kconfig", "arch/x86/Kconfig", "scripts/Makefile.build")
_BUILT_IN_PLACE = (".config", "include/config")
Taken = TypeVar("Taken")
_FIT = re.compile(r"[\w./+,@%=-]+", re.ASCII)
_LOOKED_AT = ("Makefile", "*Kconfig*")  # the parts checked if nothing is built from a source
_UNPACK_LIMIT_SECONDS = 1800.0
_ARCHIVE = "source.tar.gz"
# Git's own files are left out, and one content is one archive.
_ALIKE = (
    *("--use-compress-program=gzip -1n", "--exclude=.git", "--sort=name", "--mtime=@1000000000"),
    *("--owner=0", "--group=0", "--numeric-owner"),
)


@dataclass(frozen=True)
class SourceParts:
    """A source without its place: the hash of its content, its names, and whose it is."""

    digest: str
    title: str
    version: str
    is_debians: bool


@dataclass(frozen=True)
class KernelSource:
    """A kernel's source: its location, the hash of its content, and its name for a reader."""

    folder: Path
    digest: str
    title: str
    version: str

    def check_unchanged(self) -> None:
        """Check that a folder of the user's is unchanged.

        Raises:
            MachineError: It has changed, so the build's source is unknown.
        """
        if self.title == str(self.folder) and _digest(self.folder) != self.digest:
            raise MachineError(
                f"{self.folder} changed during a kernel build",
                hint="build again, and leave the source alone meanwhile",
            )


def fit_for_make(path: Path, what: str, hint: str) -> Path:
    """Return the resolved path, if make and its shells can take it unquoted.

    Raises:
        InputError: It has a character that they would interpret.
    """
    path = path.resolve()
    if not _FIT.fullmatch(str(path)):
        raise InputError(
            f"kernels can't be built in {what} {path}: its name has a character other than letters,"
            " digits and _./+,@%=-",
            hint=hint,
        )
    return path


def fit_for_cache(cache: Cache) -> None:
    """Check that make can work in the cache.

    Raises:
        InputError: It can't.
    """
    fit_for_make(cache.root, "the cache", "set HARDCOST_CACHE to a folder with a plain name")


@dataclass(frozen=True)
class Package:
    """Debian's package of Linux's source: its archive and version."""

    archive: Path
    version: str


@dataclass(frozen=True)
class DebianSource:
    """One of Debian's sources: its package, and the release that has it if the host's has not."""

    package: str = PACKAGE
    release: str = _RELEASE

    @property
    def series(self) -> str:
        """The version of Linux, as in the package's name."""
        return self.package.removeprefix(_PACKAGES)


def named_debian_source(cache: Cache, source: Path | None) -> DebianSource | None:
    """Return which of Debian's sources is named: `debian:7.3`; None: it is a folder.

    Raises:
        InputError: Debian has no source of that version.
        MachineError: Its lists can't be fetched.
    """
    if source is None:
        return DebianSource()
    if not str(source).startswith(DEBIAN):
        return None
    version = str(source).removeprefix(DEBIAN)
    if version == DebianSource().series:
        return DebianSource()
    return DebianSource(*debian.source_of(cache, version))


def debian_package(cache: Cache, which: DebianSource = DebianSource()) -> Package:
    """Return Debian's package of the source, fetched on first use.

    Debian 12 has that of Linux 6.1. Later releases use that of Debian 12 too, from the mirror of
    the host's apt and checked by Debian's keys, so that all hosts build from one source.

    Raises:
        MachineError: It is unavailable; the remedy names other sources.
    """
    files = _of_debian(
        lambda: debian.package_folder(cache, which.package, elsewhere=which.release), which
    )
    archive = files / "usr/src" / f"{which.package}.tar.xz"
    return Package(archive, _debian_version(cache, which))


def _debian_version(cache: Cache, which: DebianSource) -> str:
    return _of_debian(lambda: debian.version(cache, which.package, elsewhere=which.release), which)


def debian_offer(cache: Cache) -> str:
    """Return the source that kernels would be built from, without fetching it.

    Raises:
        MachineError: None is available.
    """
    return _of_debian(lambda: debian.offer(cache, PACKAGE, elsewhere=_RELEASE), DebianSource())


def debian_source(cache: Cache, which: DebianSource = DebianSource()) -> KernelSource:
    """Return a source that Debian builds a kernel from, unpacked on first use."""
    version = _debian_version(cache, which)
    name = digest({"source": which.package, "version": version, "architecture": platform.machine()})

    def fill(folder: Path) -> None:
        _unpack(debian_package(cache, which).archive, folder, "--strip-components=1")

    title = f"{which.package} {version}, unpacked"
    folder = cache.make("sources", name, title, fill, parts=_LOOKED_AT)
    return KernelSource(folder, name, f"{which.package} {version}", _version(folder))


def is_unpacked(cache: Cache, which: DebianSource) -> bool:
    """Say whether one of Debian's sources lies in the cache."""
    wanted = f"{which.series}."
    found = (cache.root / "sources").glob("*/Makefile")
    return any(f"{_version(makefile.parent)}.".startswith(wanted) for makefile in found)


def from_folder(folder: Path) -> KernelSource:
    """Return the source in a folder of the user's; its digest is that of all its files.

    Raises:
        InputError: It is not a kernel source, or was built in place.
    """
    folder = fit_for_make(folder, "the source", "give it another name, or bind-mount it elsewhere")
    missing = [name for name in _MUST_HAVE if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{folder} is not a Linux source: it has no {missing[0]}",
            hint="name the folder that holds Linux's own Makefile and Kconfig",
        )
    if any((folder / name).exists() for name in _BUILT_IN_PLACE):
        raise InputError(
            f"a kernel was built or configured in {folder} itself",
            hint=f"`make -C {folder} mrproper` clears that; keep the .config elsewhere",
        )
    return KernelSource(folder, _digest(folder), str(folder), _version(folder))


def archive_source(cache: Cache, source: KernelSource) -> Path:
    """Return an archive of a folder of the user's, for other hosts."""
    name = digest({"archive of": source.digest})

    def fill(folder: Path) -> None:
        words: list[str | Path] = [
            "tar",
            "-c",
            "-f",
            folder / _ARCHIVE,
            "-C",
            source.folder,
            *_ALIKE,
            ".",
        ]
        run(words, remedy=install("tar", "gzip"), limit_seconds=_UNPACK_LIMIT_SECONDS)
        source.check_unchanged()

    return cache.make("sources", name, f"archive of {source.title}", fill) / _ARCHIVE


def unpack_source(cache: Cache, parts: SourceParts, archive: Path) -> KernelSource:
    """Return the source that came from another host in an archive, unpacked on first use.

    Debian's is the entry that `debian_source` makes.

    Raises:
        MachineError: What is in the archive is another source.
    """
    name = parts.digest if parts.is_debians else digest({"unpacked": parts.digest})
    inside = "." if parts.is_debians else "source"

    def fill(folder: Path) -> None:
        (folder / inside).mkdir(exist_ok=True)
        _unpack(archive, folder / inside, *(("--strip-components=1",) * parts.is_debians))
        if not parts.is_debians and _digest(folder / inside) != parts.digest:
            raise MachineError(f"the archive of {parts.title} does not hold that source")

    looked_at = tuple(str(PurePath(inside, part)) for part in _LOOKED_AT)
    folder = cache.make("sources", name, f"{parts.title}, unpacked", fill, parts=looked_at)
    return KernelSource(folder / inside, parts.digest, parts.title, parts.version)


def _unpack(archive: Path, folder: Path, *words: str) -> None:
    run(
        ["tar", "-x", "-f", archive, "-C", folder, "--no-same-owner", *words],
        remedy=install("tar", "xz-utils"),
        limit_seconds=_UNPACK_LIMIT_SECONDS,
    )


def copy_source(cache: Cache, source: KernelSource) -> KernelSource:
    """Return a copy of a folder of the user's, kept and never written to."""
    name = digest({"copy of": source.digest})

    def fill(folder: Path) -> None:
        lay_out(source.folder, folder / "source", shutil.copy2)
        source.check_unchanged()

    title, parts = f"copy of {source.title}", tuple(f"source/{part}" for part in _LOOKED_AT)
    folder = cache.make("sources", name, title, fill, parts=parts) / "source"
    return KernelSource(folder, name, source.title, source.version)


def patch_source(cache: Cache, source: KernelSource, overlay: Overlay) -> KernelSource:
    """Return a patched source, kept and never written to, as a source of its own."""
    name = digest({"source": source.digest, "patches": overlay.digest})
    title = f"{source.title}, patched"

    def fill(folder: Path) -> None:
        cache.check(source.folder)
        whole = folder / "source"
        lay_out(source.folder, whole, link)
        for path, file in overlay.files.items():
            (whole / path).unlink(missing_ok=True)
            if file is not None:
                file.write(whole / path)

    parts = tuple(f"source/{part}" for part in _LOOKED_AT)
    folder = cache.make("sources", name, title, fill, parts=parts) / "source"
    return KernelSource(folder, name, title, _version(folder))


def _of_debian(take: Callable[[], Taken], which: DebianSource) -> Taken:
    """Return the source of Debian's package; an error explains the use of another release."""
    try:
        return take()
    except MachineError as error:
        release = host_release.check()
        if release.codename == which.release:
            raise
        raise MachineError(
            f"{release.title} has no source of Linux {which.series}, and that of Debian's"
            f" {which.release} is unavailable: {error.problems[0].message}",
            hint=f"give apt a mirror that has Debian's {which.release} too, or name the folder of a"
            f" source of Linux {which.series}: --source FOLDER",
        ) from error


def _version(folder: Path) -> str:
    try:
        text = (folder / "Makefile").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise MachineError(f"{folder}/Makefile can't be read: {error.strerror}") from error
    parts = dict(_VERSION.findall(text))
    if "VERSION" not in parts:
        raise InputError(f"{folder}/Makefile does not say which version of Linux it is")
    return ".".join(parts.get(key, "0") for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))


def _digest(folder: Path) -> str:
    """Return the hash of the names and contents of all files except git's."""
    total = hashlib.sha256()
    for path in _files(folder):
        name = os.fsencode(path.relative_to(folder))
        if path.is_symlink():
            content = hashlib.sha256(b"link " + os.fsencode(path.readlink())).digest()
        else:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").digest()
        total.update(len(name).to_bytes(4, "big") + name + content)
    return total.hexdigest()[:16]


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name == ".git":
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_symlink() or path.is_file():
            yield path
