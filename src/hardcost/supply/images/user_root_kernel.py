"""The kernel that a user's root brings, with the modules that mount its disk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import run
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.images import ext4, ext4_contents, partitions
from hardcost.supply.images.root_image import RootImage
from hardcost.supply.kernels import module_file

_RECIPE = "1"
_KERNELS = ("vmlinuz-", "vmlinux-")
# Below /lib/modules/RELEASE/kernel: the modules that a disk in memory, its file system and its
# checksums may need.
_PARTS = ("fs/ext4", "fs/jbd2", "fs/mbcache", "drivers/nvdimm", "drivers/dax", "lib", "crypto")
_ENDINGS = ("", ".xz", ".zst", ".gz")
_LISTED = re.compile(r"^/\d+/\d+/\d+/\d+/([^/]+)/", re.MULTILINE)
_NUMBERS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class OwnKernel:
    """A kernel's image, and the folder of its modules by release."""

    image: Path
    modules: Path


def own_kernel(root: RootImage, cache: Cache) -> OwnKernel | None:
    """Return the newest kernel in a root's /boot, copied on first use; None if there is none.

    Raises:
        MachineError: It can't be copied.
    """
    system = ext4.name_at_offset(root.path, _start(root))
    newest = max(_kernels(system), key=_version, default=None)
    if newest is None:
        return None
    name = digest({"kernel of": root.digest, "file": newest, "recipe": _RECIPE})

    def fill(folder: Path) -> None:
        _dump(system, f"/boot/{newest}", folder / "vmlinuz")
        release = newest.partition("-")[2]
        into = folder / "modules" / release
        into.mkdir(parents=True)
        for part in _PARTS:
            _modules(system, release, part, into)

    place = cache.make("kernels", name, f"{newest} of {root.title}, as it is there", fill)
    return OwnKernel(place / "vmlinuz", place / "modules")


def _start(root: RootImage) -> int:
    """Return the start of a root's file system, in bytes."""
    if root.partition is None:
        return 0
    for one in partitions.partitions(root.path) or ():
        if one.number == root.partition:
            return one.start
    raise MachineError(f"{root.path} has no partition {root.partition} any more")


def _kernels(system: str) -> list[str]:
    said = run(["debugfs", "-R", "ls -p /boot", "--", system], remedy=ext4.REMEDY)
    return [name for name in _LISTED.findall(said) if name.startswith(_KERNELS)]


def _version(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key for versions: numbers by value, all else by letters."""
    return [
        (1, int(part), "") if part.isdecimal() else (0, 0, part) for part in _NUMBERS.split(name)
    ]


def _dump(system: str, path: str, target: Path) -> None:
    command = f"dump {ext4_contents.quote_path(path)} {ext4_contents.quote_path(str(target))}"
    run(["debugfs", "-R", command, "--", system])
    if not target.is_file() or not target.stat().st_size:
        raise MachineError(f"{path} can't be copied out of {system}")


def _modules(system: str, release: str, part: str, into: Path) -> None:
    """Copy a part of a kernel's modules, if it has it, and decompress them."""
    for base in ("/usr/lib/modules", "/lib/modules"):
        for ending in ("", *(f".ko{packed}" for packed in _ENDINGS)):
            path = ext4_contents.quote_path(f"{base}/{release}/kernel/{part}{ending}")
            run(
                [
                    "debugfs",
                    "-R",
                    f"rdump {path} {ext4_contents.quote_path(str(into))}",
                    "--",
                    system,
                ]
            )
            _remove_links(into)
    for packed in into.rglob("*.ko.*"):
        packed.with_suffix("").write_bytes(module_file.content(packed))
        packed.unlink()


def _remove_links(folder: Path) -> None:
    """Remove copied links: they may lead out of `folder`, and be written through."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            path.unlink()
