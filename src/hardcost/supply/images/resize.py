"""The same root with more room on it, for workloads that write more than fits."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from hardcost.errors import InputError
from hardcost.host.install_command import install
from hardcost.host.process import run
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.images import record
from hardcost.supply.images.root_image import RootImage

_GIB = 1 << 30
_FILE = "root.img"


def grow_image(cache: Cache, image: RootImage, gib: int) -> RootImage:
    """Return `image` with at least `gib` GiB; the host allocates only what is written.

    Raises:
        InputError: It is smaller, and has a partition table, which is left unchanged.
        MachineError: resize2fs is missing or fails.
    """
    if image.size >= gib * _GIB:
        return image
    if image.partition is not None:
        raise InputError(
            f"{image.title} has {image.size / _GIB:.1f} GiB, and the workload needs {gib}",
            hint="give it a larger disk, or the workload less to do",
        )
    name = digest({"image": image.digest, "gib": str(gib)})

    def fill(folder: Path) -> None:
        larger = folder / _FILE
        run(["cp", "--sparse=always", "--", image.path, larger])
        os.truncate(larger, gib * _GIB)
        run(["resize2fs", "-f", "--", larger], remedy=install("e2fsprogs"))
        title = f"{image.title}, {gib} GiB"
        record.keep(folder, replace(image, path=larger, digest=name, title=title, size=gib * _GIB))

    return record.load_image(cache.make("images", name, f"{image.title}, {gib} GiB", fill))
