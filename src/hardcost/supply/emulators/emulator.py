"""How a QEMU is started: this host's, or one in a folder, with what that has of its own."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hardcost.errors import InputError, MachineError
from hardcost.host.install_command import install
from hardcost.host.process import run
from hardcost.supply.cache.cache import digest, file_digest

QEMU = "qemu-system-x86_64"
"""The name of the program, on this host and in a folder."""

LIBRARIES = "usr/lib/x86_64-linux-gnu"
"""Where Debian's packages have their libraries, among them the loader."""

_VERSION = re.compile(r"version (\S+(?: \([^)]*\))?)")
_LOADER = "ld-linux-x86-64.so.2"
_PROGRAMS = tuple(f"{one}{QEMU}" for one in ("usr/bin/", "usr/local/bin/", "bin/", ""))
_LIBRARIES = (LIBRARIES, "usr/lib64", "lib/x86_64-linux-gnu", "lib64")
_MODULES = (*(f"{one}/qemu" for one in _LIBRARIES), "lib/qemu")
_FIRMWARE = ("usr/share/qemu", "usr/share/seabios", "share/qemu", "share/seabios", "pc-bios")
_LOOKED_UP = stat.S_IROTH | stat.S_IXOTH  # what any user may do with a folder or program


@dataclass(frozen=True)
class Emulator:
    """A QEMU: a program on the PATH, or a path below the folder `root`, as all others here.

    With a `loader` it has the `libraries` there, else this host's. `modules` is the folder of
    QEMU's modules, `firmware` those of its firmware. `identity` is a hash of what of it decides
    counts; "" for this host's, of which the version does.
    """

    program: str = QEMU
    root: Path | None = None
    loader: str = ""
    libraries: tuple[str, ...] = ()
    modules: str = ""
    firmware: tuple[str, ...] = ()
    identity: str = ""

    def words(self) -> list[str]:
        """Return the words that start it; QEMU's options follow."""
        if self.root is None:
            return [self.program]
        words = ["env"]
        if self.modules:
            words += [f"QEMU_MODULE_DIR={self.root / self.modules}"]
        if self.loader:
            path = ":".join(str(self.root / one) for one in self.libraries)
            words += [self._at(self.loader), "--library-path", path]
        words += [self._at(self.program)]
        return words + [word for one in self.firmware for word in ("-L", self._at(one))]

    def _at(self, path: str) -> str:
        """Return a path with a slash in it, so that nothing looks for it on the PATH."""
        return f"{self.root}/{path}"

    def closed_to_others(self) -> str:
        """Return what of it only its owner can read or execute; "" if any user can.

        Folders above `root` have no part in it.
        """
        if self.root is None:
            return ""
        used = ("", self.program, self.loader, *self.libraries, self.modules, *self.firmware)
        places = (self.root / one for one in used)
        return next(
            (str(one) for one in places if one.stat().st_mode & _LOOKED_UP != _LOOKED_UP), ""
        )


HOST = Emulator()
"""The QEMU that is installed on this host."""


def answer(emulator: Emulator, *words: str) -> str:
    """Return what a QEMU prints for words with which it starts no guest.

    Raises:
        MachineError: It is missing, or refuses.
    """
    if emulator.root is None:
        return run([*emulator.words(), *words], remedy=install("qemu-system-x86"))
    # From its own folder, since a colon in a path of libraries would end it.
    here = replace(emulator, root=Path())
    return run([*here.words(), *words], folder=emulator.root)


def stated_version(emulator: Emulator) -> str:
    """Return a QEMU's version as it states it, with the distribution's own part.

    Raises:
        MachineError: It is missing, or states none.
    """
    said = answer(emulator, "--version")
    found = _VERSION.search(said)
    if found is None:
        raise MachineError(f"{QEMU} does not say its version: {said[:80]!r}")
    return found.group(1)


def in_folder(root: Path) -> Emulator:
    """Return the QEMU in a folder: that of unpacked packages or another root, or an installed one.

    It has no identity yet.

    Raises:
        InputError: There is none.
    """
    program = next(_there(root, _PROGRAMS), None)
    if program is None:
        raise InputError(
            f"the folder {root} holds no {QEMU}",
            hint=f"it is looked for at {', '.join(_PROGRAMS)}",
        )
    loader = next(_there(root, [f"{one}/{_LOADER}" for one in _LIBRARIES]), "")
    libraries = tuple(_there(root, _LIBRARIES)) if loader else ()
    return _with_parts(Emulator(program, root, loader, libraries))


def of_program(program: Path) -> Emulator:
    """Return a QEMU by its program; its firmware is where an installation or a build has it."""
    is_installed = program.parent.name == "bin"
    root = program.parent.parent if is_installed else program.parent
    return _with_parts(Emulator(str(program.relative_to(root)), root))


def _with_parts(found: Emulator) -> Emulator:
    """Return a QEMU with the modules and the firmware in its folder."""
    root = found.root or Path()
    modules = next(_there(root, _MODULES), "")
    return replace(found, modules=modules, firmware=tuple(_there(root, _FIRMWARE)))


def _there(root: Path, paths: Sequence[str]) -> Iterator[str]:
    """Yield those paths below a folder that exist, and that no link leads out of it."""
    top = root.resolve()
    for one in paths:
        place = (root / one).resolve()
        if place.exists() and place.is_relative_to(top):
            yield one


def content_identity(emulator: Emulator) -> str:
    """Return the hash of what of a QEMU in a folder decides counts: program, modules, firmware.

    Its libraries have no part in that: what a guest executes is QEMU's own.
    """
    root = emulator.root or Path()
    folders = (emulator.modules, *emulator.firmware)
    paths = [emulator.program]
    for folder in filter(None, folders):
        inside = (root / folder).rglob("*")
        paths += sorted(str(one.relative_to(root)) for one in inside if one.is_file())
    return digest({path: file_digest(root / path) for path in paths})
