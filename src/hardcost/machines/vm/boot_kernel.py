"""Which kernel a virtual machine boots, as a vmlinux in the cache."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from auditrules.library import files
from hardcost.errors import InputError
from hardcost.machines.vm import kernel_files, vmlinux
from hardcost.supply.cache.cache import Cache, digest, file_digest
from hardcost.supply.images.user_root_kernel import OwnKernel

_BANNER = re.compile(rb"Linux version (\S+) [^\n\0]*")
_RECIPE = "1"


@dataclass(frozen=True)
class BootKernel:
    """A kernel that is ready to boot; `release` is what `uname -r` will say.

    `modules` is the folder of its modules, None where it has none that we know of.
    """

    image: Path
    digest: str
    release: str
    modules: Path | None = None


class Shipped:
    """Kernels that a machine boots as a distribution built them, each looked up once."""

    def __init__(
        self,
        cache: Cache,
        image: Path | None,
        kernel_of_root: Callable[[Cache], OwnKernel | None],
        release: str | None = None,
    ) -> None:
        """The machine's own is the one in `image`, else the one of its root, else Debian's.

        That is the kernel of a release of Debian, by default of the host's.
        """
        self._cache = cache
        self._image = image
        self._kernel_of_root = kernel_of_root
        self._release = release
        self._found: dict[str | None, BootKernel] = {}

    def kernel(self, name: str | None) -> BootKernel:
        """Return the kernel of a name, fetched on first use; None names the machine's own.

        Raises:
            InputError: There is none of that name, or it can't be booted.
            MachineError: It can't be fetched.
        """
        if name not in self._found:
            self._found[name] = (
                self._own_kernel() if name is None else self._kernel_named(Path(name))
            )
        return self._found[name]

    def _own_kernel(self) -> BootKernel:
        if self._image is not None:
            return self._kernel_named(self._image)
        own = self._kernel_of_root(self._cache)
        if own is not None:
            return from_file(self._cache, own.image, own.modules)
        return debian_kernel(self._cache, self._release)

    def _kernel_named(self, name: Path) -> BootKernel:
        found = kernel_files.kernel_named(self._cache, name)
        return from_file(self._cache, found.image, found.modules)


def debian_kernel(cache: Cache, release: str | None = None) -> BootKernel:
    """Return the kernel of a release of Debian, by default of the host's, fetched on first use.

    Raises:
        MachineError: It can't be fetched, or there is none in the package.
    """
    found = kernel_files.debian(cache, release)
    return from_file(cache, found.image, found.modules)


def from_file(cache: Cache, image: Path, modules: Path = Path("/lib/modules")) -> BootKernel:
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
    return BootKernel(folder / "vmlinux", content, release, own if own.is_dir() else None)


def _release(image: Path, content: bytes) -> str:
    banner = _BANNER.search(content)
    if banner is None:
        raise InputError(f"the kernel {image} does not say which version it is")
    return banner.group(1).decode(errors="replace")
