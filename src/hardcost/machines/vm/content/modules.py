"""The kernel's modules that a guest's initramfs loads, so that it can mount its root."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.machines.vm.content import cpio
from hardcost.supply.kernels import module_file

FOLDER = "modules"
"""Where they lie in the initramfs, with the file `order`, which names them as they are loaded."""

# A disk in memory, as the kernel's own command line declares it (memmap=…!…), and ext4 on it, whose
# check sums it looks up by name when it mounts.
_WANTED = ("nd_e820", "nd_pmem", "crc32c_generic", "libcrc32c", "ext4")
_MOST = 100  # modules that these may need; they need some ten
_MOST_BYTES = 256 << 20  # of all of them
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


def files(folder: Path) -> list[cpio.ArchiveFile]:
    """Return the modules out of the folder of a kernel's modules, and the order to load them in.

    What is not there as a module is taken to be built into the kernel.

    Raises:
        MachineError: A module can't be read, or they need too many.
    """
    found = _closure(dict(module_file.modules(folder)))
    order = in_order({name: _depends(content) for name, content in found.items()})
    return [
        *(cpio.regular(f"{FOLDER}/{name}.ko", found[name]) for name in order),
        cpio.regular(f"{FOLDER}/order", "".join(f"{name}.ko\n" for name in order).encode()),
    ]


def in_order(needs: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the names so that each comes after those that it needs; names not listed don't count.

    Modules that can be loaded never need each other in a circle.
    """
    order: list[str] = []
    begun: set[str] = set()

    def add(name: str) -> None:
        if name in needs and name not in begun:
            begun.add(name)
            for other in needs[name]:
                add(other)
            order.append(name)

    for name in needs:
        add(name)
    return order


def _closure(present: Mapping[str, Path]) -> dict[str, bytes]:
    """Return the wanted modules and all that these need, of those that are present."""
    found: dict[str, bytes] = {}
    open_names = list(_WANTED)
    while open_names:
        name = open_names.pop(0)
        if name in present and name not in found:
            found[name] = module_file.content(present[name])
            size = sum(map(len, found.values()))
            if len(found) > _MOST or size > _MOST_BYTES:
                raise MachineError(
                    f"the kernel's module {name} can't be taken: those that ext4 needs are more"
                    f" than {_MOST}, or larger than {_MOST_BYTES >> 20} MiB",
                    hint="name another kernel",
                )
            open_names += _depends(found[name])
    return found


def _depends(module: bytes) -> tuple[str, ...]:
    """Return the names of the modules that one needs, out of its section .modinfo."""
    found = _DEPENDS.search(module)
    if found is None or not found[1]:
        return ()
    return tuple(name.replace("-", "_") for name in found[1].decode(errors="replace").split(","))
