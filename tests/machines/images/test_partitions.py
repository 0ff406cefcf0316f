"""Tables of partitions, hostile ones too."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from hardcost.machines.images import partitions

if TYPE_CHECKING:
    from pathlib import Path


def test_a_table_that_points_beyond_any_disk_holds_nothing(tmp_path: Path) -> None:
    disk = bytearray(2048)
    disk[510:512] = b"\x55\xaa"
    disk[512:520] = b"EFI PART"
    struct.pack_into("<QII", disk, 512 + 72, (1 << 64) - 1, 4, 128)
    path = tmp_path / "disk"
    path.write_bytes(disk)
    assert partitions.partitions(path) is None


def test_a_partition_that_begins_beyond_any_disk_holds_nothing_that_is_known(
    tmp_path: Path,
) -> None:
    disk = bytearray(2048)
    disk[510:512] = b"\x55\xaa"
    disk[512:520] = b"EFI PART"
    struct.pack_into("<QII", disk, 512 + 72, 2, 1, 128)
    disk[1024:1040] = b"x" * 16
    struct.pack_into("<QQ", disk, 1024 + 32, 1 << 62, (1 << 62) + 1)
    path = tmp_path / "disk"
    path.write_bytes(disk)
    found = partitions.partitions(path)
    assert found is not None
    assert [one.holds for one in found] == ["unknown content"]
