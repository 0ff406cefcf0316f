"""Which kernel a virtual machine boots, as a vmlinux in the cache."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost import files
from hardcost.errors import InputError, MachineError
from hardcost.machines import debianpackages
from hardcost.machines.cache import digest, file_digest
from hardcost.machines.qemu import vmlinux

if TYPE_CHECKING:
    from hardcost.machines.cache import Cache

_BANNER = re.compile(rb"Linux version (\S+) [^\n\0]*")
_RECIPE = "1"
_MODULES = "lib/modules"  # below usr in packages since Debian 13


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
    package = debianpackages.kernel_package(cache, ["files/boot/*"])
    images = sorted((package / "boot").glob("vmlinuz-*"))
    if not images:
        raise MachineError(
            f"Debian's kernel package holds no kernel: there is no {package}/boot/vmlinuz-*",
            hint="name a kernel with --kernel",
        )
    below_usr = package / "usr" / _MODULES
    return from_file(cache, images[0], below_usr if below_usr.is_dir() else package / _MODULES)


def from_file(cache: Cache, image: Path, modules: Path = Path("/", _MODULES)) -> Kernel:
    """Return the kernel in `image`, a bzImage or a vmlinux; `host` stands for the running one.

    Its modules are looked for below `modules`, by its release.

    Raises:
        InputError: It can't be read or booted.
    """
    if str(image) == "host":
        image = Path(f"/boot/vmlinuz-{platform.release()}")
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
