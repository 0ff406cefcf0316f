"""Modules are loaded each after those that it needs."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING

import pytest
import zstandard

from hardcost.errors import MachineError
from hardcost.machines.qemu import modules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def module(folder: Path, name: str, needs: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.ko").write_bytes(f"\x7fELF\0alias=x\0depends={needs}\0name=x\0".encode())


def test_what_a_module_needs_comes_before_it_and_what_nobody_needs_stays_away(
    tmp_path: Path,
) -> None:
    module(tmp_path / "fs", "ext4", "jbd2,mbcache,built_in")
    module(tmp_path / "fs", "jbd2", "")
    module(tmp_path / "fs", "mbcache", "")
    module(tmp_path / "nd", "nd_pmem", "libnvdimm")
    module(tmp_path / "nd", "libnvdimm", "")
    module(tmp_path / "nd", "xfs", "")
    packed = {file.path: file.content for file in modules.files(tmp_path)}
    order = packed.pop("modules/order").decode().split()
    assert {f"modules/{name}" for name in order} == set(packed)
    assert sorted(order) == ["ext4.ko", "jbd2.ko", "libnvdimm.ko", "mbcache.ko", "nd_pmem.ko"]
    assert order.index("jbd2.ko") < order.index("ext4.ko")
    assert order.index("libnvdimm.ko") < order.index("nd_pmem.ko")


def test_a_kernel_with_all_of_them_built_in_has_none(tmp_path: Path) -> None:
    assert [file.content for file in modules.files(tmp_path)] == [b""]


@pytest.mark.parametrize(
    ("ending", "packed"),
    [("xz", lzma.compress), ("zst", lambda text: zstandard.ZstdCompressor().compress(text))],
)
def test_compressed_modules_are_unpacked(
    tmp_path: Path, ending: str, packed: Callable[[bytes], bytes]
) -> None:
    for name, needs in (("ext4", "jbd2"), ("jbd2", "")):
        module(tmp_path, name, needs)
        path = tmp_path / f"{name}.ko"
        (tmp_path / f"{name}.ko.{ending}").write_bytes(packed(path.read_bytes()))
        path.unlink()
    found = {file.path: file.content for file in modules.files(tmp_path)}
    assert found["modules/order"] == b"jbd2.ko\next4.ko\n"
    assert found["modules/ext4.ko"].startswith(b"\x7fELF")


def test_a_damaged_module_is_named(tmp_path: Path) -> None:
    (tmp_path / "ext4.ko.xz").write_bytes(b"no module")
    with pytest.raises(MachineError, match=r"ext4\.ko\.xz can't be unpacked"):
        modules.files(tmp_path)
