"""More room on a root: the same files, and the image that it came from as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.host.process import run
from hardcost.supply.cache.cache import Cache, file_digest
from hardcost.supply.images.resize import grow_image
from hardcost.supply.images.root_image import RootImage

MIB = 1 << 20


@pytest.fixture
def small(tmp_path: Path) -> RootImage:
    """Return a file system of 128 MiB with one file."""
    files = tmp_path / "files"
    files.mkdir()
    (files / "greeting").write_text("hello")
    path = tmp_path / "small.img"
    run(["mke2fs", "-q", "-t", "ext4", "-b", "4096", "-d", files, path, "128M"])
    return RootImage(path, "d", "a small root", 128 * MIB)


def test_a_grown_root_has_the_room_and_the_files(small: RootImage, tmp_path: Path) -> None:
    before = file_digest(small.path)
    larger = grow_image(Cache(tmp_path / "cache"), small, 1)
    assert larger.size == larger.path.stat().st_size == 1024 * MIB
    assert run(["debugfs", "-R", "cat /greeting", larger.path]) == "hello"
    assert "Block count:              262144" in run(["dumpe2fs", "-h", larger.path])
    assert larger.digest != small.digest
    assert file_digest(small.path) == before
    run(["e2fsck", "-fn", larger.path])


def test_a_root_with_room_enough_stays_as_it_is(small: RootImage, tmp_path: Path) -> None:
    assert grow_image(Cache(tmp_path / "cache"), small, 0) is small
    assert not (tmp_path / "cache").exists()


def test_a_disk_with_partitions_is_left_to_its_user(tmp_path: Path) -> None:
    disk = RootImage(tmp_path / "disk", "d", "a disk", 128 * MIB, partition=1)
    with pytest.raises(InputError, match="the workload needs 9"):
        grow_image(Cache(tmp_path / "cache"), disk, 9)
