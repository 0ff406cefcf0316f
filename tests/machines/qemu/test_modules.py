"""Modules are loaded each after those that it needs."""

from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.machines.qemu import modules


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


def test_compressed_modules_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ext4.ko.xz").write_bytes(b"")
    with pytest.raises(MachineError, match="compressed"):
        modules.files(tmp_path)
