"""The programs that build a kernel: which are installed, their versions, and what is missing."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.install_command import install
from hardcost.host.process import run

_COMPILER = "gcc"
_PROGRAMS = {
    _COMPILER: "gcc",
    "ld": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
}
_HEADERS = {"libelf.h": "libelf-dev", "openssl/evp.h": "libssl-dev"}
_PLUGIN_HEADER = "include/plugin-version.h"
_CCACHE = "ccache"
_SYSTEM = frozenset({"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"})  # folders of /
_BESIDE = ("lib", "lib64", "libexec", "include")  # what programs in a folder `bin` may need


@dataclass(frozen=True)
class Tools:
    """Tools that build kernels: `compiler` as passed to make, through ccache if that is installed.

    `versions` is all that affects the result; `missing` are Debian packages.
    """

    compiler: str
    plain_compiler: str
    versions: str
    missing: tuple[str, ...]

    def need_all(self) -> None:
        """Check that nothing is missing.

        Raises:
            MachineError: Something is; the remedy names the packages.
        """
        if self.missing:
            raise MachineError(
                f"building a kernel needs missing packages: {', '.join(self.missing)}",
                hint=install(*self.missing),
            )


def need_patch() -> None:
    """Check that patches can be applied.

    Raises:
        MachineError: The program is missing.
    """
    if shutil.which("patch") is None:
        raise MachineError(
            "applying patches needs a missing program: patch",
            hint=install("patch"),
        )


def find() -> Tools:
    """Return the tools of this machine."""
    missing = [package for name, package in _PROGRAMS.items() if shutil.which(name) is None]
    compiles = _COMPILER not in missing
    if compiles:
        missing += [package for header, package in _HEADERS.items() if not _has_header(header)]
    ccache = shutil.which(_CCACHE) is not None
    versions = ", ".join(_version(name) for name in (_COMPILER, "ld") if shutil.which(name))
    return Tools(
        compiler=f"{_CCACHE} {_COMPILER}" if ccache else _COMPILER,
        plain_compiler=_COMPILER,
        versions=f"{versions}, plugins {'yes' if compiles and _has_plugins() else 'no'}",
        missing=tuple(missing),
    )


def folders() -> tuple[Path, ...]:
    """Return the folders, apart from the system's own, that the tools are in or need."""
    found: dict[Path, None] = {}
    for name in (*_PROGRAMS, _CCACHE):
        program = shutil.which(name)
        for path in () if program is None else (Path(program), Path(program).resolve()):
            folder = path.absolute().parent
            if folder.parts[1:2] and folder.parts[1] not in _SYSTEM:
                beside = _BESIDE if folder.name == "bin" else ()
                found |= dict.fromkeys((folder, *(folder.parent / one for one in beside)))
    return tuple(folder for folder in found if folder.is_dir())


def hint_for(reason: str) -> str | None:
    """Return the remedy for an option dropped because this machine lacks something."""
    if "GCC_PLUGINS" in reason and not _has_plugins():
        return f"{install(f'gcc-{_major()}-plugin-dev')}: the compiler's plugin headers"
    return None


def _has_header(name: str) -> bool:
    try:
        run([_COMPILER, "-E", "-include", name, "-x", "c", "/dev/null"])
    except MachineError:
        return False
    return True


def _has_plugins() -> bool:
    folder = run([_COMPILER, "-print-file-name=plugin"]).strip()
    return (Path(folder) / _PLUGIN_HEADER).is_file()


def _major() -> str:
    return run([_COMPILER, "-dumpversion"]).strip().partition(".")[0]


def _version(program: str) -> str:
    return run([program, "--version"]).splitlines()[0]
