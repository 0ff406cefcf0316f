"""Tables of partitions, hostile ones too."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.supply.images import partitions
from tests.supply.images.test_user_root import gpt_of, mbr

BIG = (1 << 64) - 1


def written(folder: Path, content: bytes) -> Path:
    path = folder / "disk"
    path.write_bytes(content.ljust(1 << 20, b"\0"))
    return path


def test_partitions_are_those_of_the_table(tmp_path: Path) -> None:
    found = partitions.partitions(written(tmp_path, mbr((0x83, 8, 16), (0, 0, 0), (0x82, 64, 1))))
    nothing = "unknown content"
    assert found == [
        partitions.Partition(1, 8 * 512, 16 * 512, nothing),
        partitions.Partition(3, 64 * 512, 512, nothing),
    ]


@pytest.mark.parametrize(
    "entry",
    [(0, BIG), (1 << 62, (1 << 62) + 1), (BIG, BIG), (100, 50)],
)
def test_a_partition_that_no_disk_holds_is_none(entry: tuple[int, int], tmp_path: Path) -> None:
    entries = struct.pack("<16s16sQQ", b"a kind", b"an id", *entry).ljust(128 * 128, b"\0")
    assert partitions.partitions(written(tmp_path, gpt_of(entries, 2000))) is None


@pytest.mark.parametrize("said", [0, 1 << 20, (1 << 32) - 1])
def test_a_table_of_more_than_there_can_be_holds_nothing(said: int, tmp_path: Path) -> None:
    assert partitions.partitions(written(tmp_path, gpt_of(bytes(128 * 128), 2000, said))) is None


def test_a_chain_of_tables_that_leads_to_itself_ends(tmp_path: Path) -> None:
    again = mbr((0x83, 1, 1), (0x05, 0, 8))
    path = written(tmp_path, (mbr((0x05, 8, 100)).ljust(8 * 512, b"\0") + again))
    assert len(partitions.partitions(path) or ()) <= 60


def test_a_program_that_is_missing_is_an_error_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "_FINDS", "exit 127")
    with pytest.raises(MachineError) as error:
        partitions.partitions(written(tmp_path, b""))
    assert error.value.exit_status == 3
