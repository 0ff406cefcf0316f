"""Where the kernel is that `--kernel` names: an image, a package, a folder, one of Debian's."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from auditrules.library import files
from hardcost.decompress import DamagedError
from hardcost.errors import InputError, MachineError
from hardcost.supply.cache.cache import Cache, digest, file_digest
from hardcost.supply.packages import rpm, unpack
from hardcost.supply.packages.debian import current_kernel, kernel_of, knows_kernel, package_folder

DEBIAN = "debian:"
"""The prefix of the version of one of Debian's kernels."""

KEYS = "HARDCOST_PACKAGE_KEYS"
"""The variable that names a file of keys; a package is used only if one of them signed it."""

_LARGEST_KEYS = 1 << 20
_MODULES = "lib/modules"  # below usr in packages since Debian 13
_PARTS = ("binary", "modules")  # of a kernel, each a package of its own since Linux 7
_PACKAGES = frozenset({".deb", ".rpm"})  # ends of names
_IMAGES = (
    "boot/vmlinuz-*",
    "boot/vmlinux-*",
    f"{_MODULES}/*/vmlinuz",
    f"usr/{_MODULES}/*/vmlinuz",
    "usr/lib/debug/boot/vmlinux-*",
    f"usr/lib/debug/{_MODULES}/*/vmlinux",
    f"usr/lib/debug/usr/{_MODULES}/*/vmlinux",
    "vmlinuz*",
    "vmlinux",
    "bzImage",
)
"""Where a kernel lies: in packages of Debian's and Red Hat's, of debug data, in a user's folder."""


@dataclass(frozen=True)
class KernelFiles:
    """A kernel's image, and the folder below which its modules are, by their release."""

    image: Path
    modules: Path


def debian(cache: Cache, release: str | None = None) -> KernelFiles:
    """Return the kernel of a release of Debian, by default of the host's, fetched on first use.

    Raises:
        MachineError: It can't be fetched, or there is none in the package.
    """
    return _of_debian(
        partial(package_folder, cache, release=release), current_kernel(cache, release)
    )


def kernel_named(cache: Cache, name: Path) -> KernelFiles:
    """Return the kernel of a name: an image, `host`, `debian:VERSION`, a package, or a folder.

    Raises:
        InputError: There is no such thing, or no kernel in it.
        MachineError: It can't be fetched or unpacked.
    """
    text = str(name)
    if text == "host":
        return KernelFiles(Path(f"/boot/vmlinuz-{platform.release()}"), Path("/", _MODULES))
    if text.startswith(DEBIAN):
        package, elsewhere = kernel_of(cache, text.removeprefix(DEBIAN))
        return _of_debian(partial(package_folder, cache, elsewhere=elsewhere), package)
    if name.suffix in _PACKAGES:
        return in_folder(_unpack_package(cache, name), f"the package {name}")
    if name.is_dir():
        return in_folder(name, f"the folder {name}")
    return KernelFiles(name, Path("/", _MODULES))


def is_here(cache: Cache, name: str) -> bool:
    """Say whether nothing has to be fetched for the kernel of a name."""
    return not name.startswith(DEBIAN) or knows_kernel(cache, name.removeprefix(DEBIAN))


def in_folder(folder: Path, what: str) -> KernelFiles:
    """Return the one kernel in a folder.

    Raises:
        InputError: There is none, or more than one.
    """
    found = list(_images(folder))
    if len(found) != 1:
        names = ", ".join(str(one.relative_to(folder)) for one in found[:5])
        raise InputError(
            f"{what} holds no kernel" if not found else f"{what} holds several kernels: {names}",
            hint="name the image itself" if found else f"a kernel lies at {', '.join(_IMAGES[:3])}",
        )
    return KernelFiles(found[0], _modules(folder))


def _images(folder: Path) -> Iterator[Path]:
    for pattern in _IMAGES:
        yield from sorted(one for one in folder.glob(pattern) if one.is_file())


def _modules(folder: Path) -> Path:
    below_usr = folder / "usr" / _MODULES
    return below_usr if below_usr.is_dir() else folder / _MODULES


def _of_debian(fetch: Callable[..., Path], package: str) -> KernelFiles:
    """Return the kernel of a package; since Linux 7 it only depends on those that hold the files.

    `fetch` is `package_folder` for a package and its parts.
    """
    found = _in_package(fetch, package)
    if found is not None:
        return found
    binary, modules = (package.replace("-image-", f"-{part}-", 1) for part in _PARTS)
    found = _in_package(fetch, binary)
    if found is None:
        raise MachineError(
            f"Debian's packages {package} and {binary} hold no kernel",
            hint="name a kernel with --kernel",
        )
    return replace(found, modules=_modules(fetch(modules, ())))


def _in_package(fetch: Callable[..., Path], package: str) -> KernelFiles | None:
    """Return the kernel in a package, None if it holds none.

    Of the package only the image is compared with what was fetched: its modules are many, and
    compared where they are used.
    """
    folder = fetch(package, ())
    if not any(_images(folder)):
        folder = fetch(package)  # if it is damaged
    image = next(_images(folder), None)
    if image is None:
        return None
    parts = [f"{folder.name}/{image.relative_to(folder)}"]
    fetch(package, parts)
    return KernelFiles(image, _modules(folder))


def _unpack_package(cache: Cache, package: Path) -> Path:
    """Return the folder with the files of a package, unpacked on first use."""
    files.check(package, "the package", unpack.LARGEST)
    if os.environ.get(KEYS):
        _check_signed(package, Path(os.environ[KEYS]))

    def fill(folder: Path) -> None:
        try:
            unpack.unpack(package, folder / "files", only_kernel=True)
        except DamagedError as error:
            raise InputError(f"the package {package} can't be used: {error}") from error

    name = digest({"file": file_digest(package), "kind": package.suffix})
    return cache.make("packages", name, f"the package {package}", fill) / "files"


def _check_signed(package: Path, keys: Path) -> None:
    if package.suffix != ".rpm":
        raise InputError(
            f"the package {package} has no signature, and {KEYS} asks for one",
            hint="name Debian's kernels as debian:VERSION, which are checked by Debian's keys",
        )
    known = files.content(keys, f"the file of {KEYS}", _LARGEST_KEYS)
    try:
        rpm.check_signed(package, (known,))
    except DamagedError as error:
        raise InputError(
            f"the package {package} can't be used: {error}",
            hint=f"{KEYS}={keys} says whose packages are used; unset it to use unsigned ones",
        ) from error
