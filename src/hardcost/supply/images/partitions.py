"""The content of a raw disk: its partitions, and the file system or other thing in each.

Tables are read by `partx` and file systems recognised by `blkid`, as the host does it with its own
disks. What else a user may have taken for a disk is known by the bytes that it begins with.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hardcost.host.install_command import install
from hardcost.host.process import run

EXT4 = "ext4"
SECTOR = 512  # bytes
_EXTENDED = {"0x5", "0xf", "0x85"}  # MBR's kinds of a partition that only holds others
_NAMES = {
    "ext2": "ext2 or ext3",
    "ext3": "ext2 or ext3",
    "xfs": "XFS",
    "btrfs": "Btrfs",
    "squashfs": "SquashFS",
    "vfat": "FAT",
    "crypto_LUKS": "an encrypted volume (LUKS)",
    "LVM2_member": "an LVM volume",
    "swap": "swap space",
    "iso9660": "an ISO 9660 image (a CD)",
}
"""What blkid's types are called; another goes by blkid's own name."""
# (place, bytes, name): what a file that is no disk at all begins with.
_MARKS = (
    (0, b"\x1f\x8b", "compressed by gzip"),
    (0, b"\xfd7zXZ\0", "compressed by xz"),
    (0, b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (0, b"BZh", "compressed by bzip2"),
    (0, b"PK\x03\x04", "a zip archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"070701", "a cpio archive"),
    (0, b"KDMV", "a VMDK image"),
    (0, b"vhdxfile", "a VHDX image"),
    (0x40, b"\x7f\x10\xda\xbe", "a VDI image"),
    (0, b"\x7fELF", "a program"),
    (0, b"!<arch>", "a package or library"),
    (0x202, b"HdrS", "a kernel"),
)
_BEGINNING = 1024  # bytes in which all of these lie
_COLUMNS = "NR,START,SECTORS,TYPE"
# They end with a small status where they find nothing, a large one where they can't work.
_FINDS = '"$@" 2>/dev/null || [ $? -lt 126 ]'
_LIMIT_SECONDS = 60


@dataclass(frozen=True)
class Partition:
    """A part of a disk: its number as Linux counts, its place and size in bytes, what it holds."""

    number: int
    start: int
    size: int
    holds: str


def kind_of_image(image: Path) -> str | None:
    """Return the name of what a file is as a whole, None where it is nothing known.

    Raises:
        MachineError: blkid is missing or dies.
    """
    if found := _type(image):
        return found
    with image.open("rb") as file:
        beginning = file.read(_BEGINNING)
    return next((name for place, mark, name in _MARKS if beginning.startswith(mark, place)), None)


def partitions(image: Path) -> list[Partition] | None:
    """Return a disk's partitions (GPT or MBR); None where it has no table of them.

    Raises:
        MachineError: partx or blkid is missing or dies.
    """
    found: list[Partition] = []
    total = image.stat().st_size
    rows = _run_finder("partx", "--raw", "--noheadings", "--output", _COLUMNS, "--", image)
    for row in rows.splitlines():
        number, first, sectors, *kind = row.split()
        start, size = int(first) * SECTOR, int(sectors) * SECTOR
        is_there = start < total and size <= total  # partx shows what ends before it begins
        if is_there and _EXTENDED.isdisjoint(kind):
            place = ("--offset", str(start), "--size", str(size))
            holds = _type(image, *place) or "unknown content"
            found.append(Partition(int(number), start, size, holds))
    return found or None


def _type(image: Path, *place: str) -> str | None:
    """Return the name of what blkid finds at a place; None where that is nothing, or not one."""
    words = ["--probe", *place, "--match-tag", "TYPE", "--output", "value", "--", str(image)]
    found = _run_finder("blkid", *words).strip()
    return _NAMES.get(found, found) or None


def _run_finder(*words: str | Path) -> str:
    return run(
        ["sh", "-c", _FINDS, "sh", *words],
        remedy=install("util-linux"),
        limit_seconds=_LIMIT_SECONDS,
    )
