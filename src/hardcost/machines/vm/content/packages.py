"""Files out of Debian packages, with the libraries that programs among them need."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import run
from hardcost.machines.vm.content import cpio
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian

_LIBRARIES = "lib/x86_64-linux-gnu"
_LOADER = f"{_LIBRARIES}/ld-linux-x86-64.so.2"
_LOADER_IN_GUEST = "lib64/ld-linux-x86-64.so.2"
_ELF = b"\x7fELF"


class Packages:
    """Unpacked packages, searched as if they were installed together."""

    def __init__(self, cache: Cache, names: Sequence[str], release: str | None = None) -> None:
        """Take the packages of a release of Debian, by default of the host's."""
        self._names = names
        self._roots = [debian.package_folder(cache, name, release=release) for name in names]

    def files(self, patterns: Iterable[str]) -> list[cpio.ArchiveFile]:
        """Return the files and links that match, each pattern at least one.

        Raises:
            MachineError: A pattern matches nothing.
        """
        return [file for pattern in patterns for file in self._matching(pattern)]

    def programs(self, patterns: Iterable[str]) -> list[cpio.ArchiveFile]:
        """Return the matching files, and the libraries that the programs among them need.

        Raises:
            MachineError: A pattern matches nothing, or a library is in none of the packages.
        """
        files = self.files(patterns)
        needed = {
            name for file in files if _is_program(file) for name in self._libraries_of(file.path)
        }
        libraries = [self._regular(f"{_LIBRARIES}/{name}") for name in sorted(needed)]
        loader = self._find(_LOADER).read_bytes()
        return [*files, cpio.regular(_LOADER_IN_GUEST, loader, 0o755), *libraries]

    def _matching(self, pattern: str) -> Iterator[cpio.ArchiveFile]:
        """Yield the matching files by the path that was asked for, also if packed below usr."""
        found = [
            (place, path)
            for root in self._roots
            for base in (root, root / "usr")
            for place, path in _places(base, pattern)
        ]
        if not found:
            raise self._missing_error(pattern)
        for place, path in found:
            if place.is_symlink():
                yield cpio.link(path, str(place.readlink()))
            elif place.is_file():
                permissions = stat.S_IMODE(place.stat().st_mode)
                yield cpio.regular(path, place.read_bytes(), permissions)

    def _libraries_of(self, path: str) -> set[str]:
        """Return the names of the libraries that the loader lists for a program."""
        folders = [
            root / part for root in self._roots for part in (_LIBRARIES, f"usr/{_LIBRARIES}")
        ]
        search = ":".join(str(folder) for folder in folders if folder.is_dir())
        listed = run([self._find(_LOADER), "--library-path", search, "--list", self._find(path)])
        words = [line.split()[0] for line in listed.splitlines() if "=>" in line]
        return {Path(word).name for word in words if not word.startswith("/lib64/")}

    def _regular(self, path: str) -> cpio.ArchiveFile:
        return cpio.regular(path, self._find(path).read_bytes(), 0o755)

    def _find(self, path: str) -> Path:
        for root in self._roots:
            for place in (root / path, root / "usr" / path):
                if place.exists():
                    return place
        raise self._missing_error(path)

    def _missing_error(self, path: str) -> MachineError:
        return MachineError(
            f"{path} is in none of the packages {', '.join(self._names)}",
            hint="this release of Debian packs it elsewhere; please report it",
        )


def _places(root: Path, pattern: str) -> list[tuple[Path, str]]:
    """Return the matching files below `root`, each with its path there.

    A link counts also where it leads to another package.
    """
    if "*" in pattern:
        return [(place, str(place.relative_to(root))) for place in sorted(root.glob(pattern))]
    place = root / pattern
    return [(place, pattern)] if place.exists() or place.is_symlink() else []


def _is_program(file: cpio.ArchiveFile) -> bool:
    """Say whether a file is a program; libraries are executable too."""
    is_executable = stat.S_ISREG(file.mode) and bool(file.mode & 0o111)
    return is_executable and file.content.startswith(_ELF) and ".so" not in file.path
