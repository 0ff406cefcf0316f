"""The content of a raw disk: its partitions, and the file system or other content of each."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EXT4 = "ext4"
SECTOR = 512  # bytes
_BOOT_MARK = (510, b"\x55\xaa")
_GPT = b"EFI PART"
_MBR_ENTRIES = 446
_EXTENDED = (0x05, 0x0F, 0x85)
_MOST_LOGICAL = 60
# (offset, bytes, name): the signature of a partition, or of a file that is not a disk at all.
_MARKS = (
    (0, b"XFSB", "XFS"),
    (0x10040, b"_BHRfS_M", "Btrfs"),
    (0, b"hsqs", "SquashFS"),
    (0x36, b"FAT1", "FAT"),
    (0x52, b"FAT32", "FAT"),
    (0, b"LUKS\xba\xbe", "an encrypted volume (LUKS)"),
    (512, b"LABELONE", "an LVM volume"),
    (0xFF6, b"SWAPSPACE2", "swap space"),
    (0x8001, b"CD001", "an ISO 9660 image (a CD)"),
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
_EXT_MAGIC = (1024 + 56, b"\x53\xef")
_EXT_FEATURES = 1024 + 92  # three little-endian words: compatible, incompatible, read-only
_FARTHEST = (1 << 63) - (1 << 20)  # bytes: beyond any file and any seek
_HAS_EXTENTS = 0x40  # of the incompatible ones: marks ext4


@dataclass(frozen=True)
class Partition:
    """A part of a disk: its number as Linux counts, its offset and size in bytes, its content."""

    number: int
    start: int
    size: int
    holds: str


def held(image: Path, start: int = 0) -> str | None:
    """Return the name of the content that begins at `start`, None if it is unknown."""
    with image.open("rb") as file:
        return _held(file, start)


def partitions(image: Path) -> list[Partition] | None:
    """Return a disk's partitions (GPT or MBR); None if it has no partition table."""
    with image.open("rb") as file:
        if _read(file, *_sized(_BOOT_MARK)) != _BOOT_MARK[1]:
            return None
        found = _gpt(file) if _read(file, SECTOR, len(_GPT)) == _GPT else _mbr(file)
        places = list(found)
        if not places:
            return None
        return [
            Partition(number, start, size, _held(file, start) or "unknown content")
            for number, start, size in places
        ]


def _held(file: IO[bytes], start: int) -> str | None:
    place, mark = _EXT_MAGIC
    if _read(file, start + place, len(mark)) == mark:
        _, incompatible, _ = struct.unpack("<3I", _read(file, start + _EXT_FEATURES, 12))
        return EXT4 if incompatible & _HAS_EXTENTS else "ext2 or ext3"
    for place, mark, name in _MARKS:
        if _read(file, start + place, len(mark)) == mark:
            return name
    return None


def _gpt(file: IO[bytes]) -> Iterator[tuple[int, int, int]]:
    header = _read(file, SECTOR, 92)
    first, count, length = struct.unpack_from("<QII", header, 72)
    for index in range(min(count, 128)):
        entry = _read(file, first * SECTOR + index * length, 48)
        begin, end = struct.unpack_from("<QQ", entry, 32)
        if any(entry[:16]) and end >= begin:
            yield index + 1, begin * SECTOR, (end - begin + 1) * SECTOR


def _mbr(file: IO[bytes]) -> Iterator[tuple[int, int, int]]:
    for number, (kind, begin, sectors) in enumerate(_entries(file, 0), 1):
        if kind in _EXTENDED:
            yield from _logical(file, begin)
        elif kind and sectors:
            yield number, begin * SECTOR, sectors * SECTOR


def _logical(file: IO[bytes], extended: int) -> Iterator[tuple[int, int, int]]:
    """Yield the partitions in an extended one: a chain of tables, each with one and a link."""
    table = extended
    for number in range(5, 5 + _MOST_LOGICAL):
        (kind, begin, sectors), (_, onward, more) = _entries(file, table)[:2]
        if kind and sectors:
            yield number, (table + begin) * SECTOR, sectors * SECTOR
        if not more:
            return
        table = extended + onward


def _entries(file: IO[bytes], sector: int) -> list[tuple[int, int, int]]:
    """Return type, first sector and number of sectors of the four entries of a table."""
    data = _read(file, sector * SECTOR + _MBR_ENTRIES, 64)
    return [
        (data[offset + 4], *struct.unpack_from("<II", data, offset + 8))
        for offset in range(0, 64, 16)
    ]


def _sized(mark: tuple[int, bytes]) -> tuple[int, int]:
    return mark[0], len(mark[1])


def _read(file: IO[bytes], place: int, count: int) -> bytes:
    """Return `count` bytes at `place`; beyond the end they are zeros."""
    if place > _FARTHEST:
        return bytes(count)
    file.seek(place)
    return file.read(count).ljust(count, b"\0")
