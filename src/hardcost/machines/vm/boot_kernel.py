"""Which kernel a virtual machine boots, as a vmlinux in the cache."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost import files
from hardcost.errors import InputError
from hardcost.machines.cache import digest, file_digest
from hardcost.machines.qemu import kernelfiles, vmlinux

if TYPE_CHECKING:
    from hardcost.machines.cache import Cache
    from hardcost.machines.qemu.roots import Roots

_BANNER = re.compile(rb"Linux version (\S+) [^\n\0]*")
_RECIPE = "1"


@dataclass(frozen=True)
class Kernel:
    """A kernel that is ready to boot; `release` is what `uname -r` will say.

    `modules` is the folder of its modules, None where it has none that we know of.
    """

    image: Path
    digest: str
    release: str
    modules: Path | None = None


class Shipped:
    """The kernels of a machine that boot as somebody else built them, each found once."""

    def __init__(self, cache: Cache, image: Path | None, roots: Roots) -> None:
        """The machine's own is the one in `image`, else the one of `roots`, else Debian's."""
        self._cache = cache
        self._image = image
        self._roots = roots
        self._found: dict[str | None, Kernel] = {}

    def kernel(self, name: str | None) -> Kernel:
        """Return the kernel of a name, fetched on first use; None names the machine's own.

        Raises:
            InputError: There is none of that name, or it can't be booted.
            MachineError: It can't be fetched.
        """
        if name not in self._found:
            self._found[name] = self._own() if name is None else self._named(Path(name))
        return self._found[name]

    def _own(self) -> Kernel:
        if self._image is not None:
            return self._named(self._image)
        own = self._roots.kernel(self._cache)
        if own is not None:
            return from_file(self._cache, own.image, own.modules)
        return debian_kernel(self._cache)

    def _named(self, name: Path) -> Kernel:
        found = kernelfiles.named(self._cache, name)
        return from_file(self._cache, found.image, found.modules)


def debian_kernel(cache: Cache) -> Kernel:
    """Return Debian's own kernel, fetched on first use.

    Raises:
        MachineError: It can't be fetched, or there is none in the package.
    """
    found = kernelfiles.debian(cache)
    return from_file(cache, found.image, found.modules)


def from_file(cache: Cache, image: Path, modules: Path = Path("/lib/modules")) -> Kernel:
    """Return the kernel in `image`, a bzImage or a vmlinux.

    Its modules are looked for below `modules`, by its release.

    Raises:
        InputError: It can't be read or booted.
    """
    files.check(image, "the kernel", vmlinux.LARGEST, vmlinux.HINT)
    content = file_digest(image)
    name = digest({"image": content, "recipe": _RECIPE})

    def fill(folder: Path) -> None:
        extracted = vmlinux.extract(image)
        (folder / "vmlinux").write_bytes(extracted)
        (folder / "release").write_text(_release(image, extracted))

    folder = cache.make("kernels", name, f"kernel {image}", fill)
    release = (folder / "release").read_text()
    own = modules / release
    return Kernel(folder / "vmlinux", content, release, own if own.is_dir() else None)


def _release(image: Path, content: bytes) -> str:
    banner = _BANNER.search(content)
    if banner is None:
        raise InputError(f"the kernel {image} does not say which version it is")
    return banner.group(1).decode(errors="replace")
