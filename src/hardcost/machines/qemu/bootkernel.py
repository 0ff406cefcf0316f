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


def debian_kernel(cache: Cache) -> Kernel:
    """Return Debian's own kernel, fetched on first use.

    Raises:
        MachineError: It can't be fetched, or there is none in the package.
    """
    found = kernelfiles.debian(cache)
    return from_file(cache, found.image, found.modules)


def named_kernel(cache: Cache, name: Path) -> Kernel:
    """Return the kernel that `--kernel` names; see `kernelfiles.named`.

    Raises:
        InputError: There is none of that name, or it can't be booted.
        MachineError: It can't be fetched.
    """
    found = kernelfiles.named(cache, name)
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
