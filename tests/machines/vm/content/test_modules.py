"""Modules are loaded each after those that it needs."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from hardcost.errors import MachineError
from hardcost.machines.vm.content import modules


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


def test_modules_in_a_circle_are_taken_once_each(tmp_path: Path) -> None:
    module(tmp_path, "ext4", "jbd2")
    module(tmp_path, "jbd2", "ext4,\udcff".encode("utf-8", "surrogateescape").decode("latin-1"))
    assert modules.in_order({"a": ("b",), "b": ("a",)}) == ["b", "a"]
    packed = {file.path: file.content for file in modules.files(tmp_path)}
    assert packed["modules/order"] == b"jbd2.ko\next4.ko\n"


def test_a_name_that_is_no_text_is_no_module(tmp_path: Path) -> None:
    (tmp_path / "ext4.ko").write_bytes(b"\x7fELF\0depends=\xff\xfe\0")
    assert modules.files(tmp_path)[-1].content == b"ext4.ko\n"


@pytest.mark.parametrize(("count", "size"), [(200, 0), (6, 60 << 20)], ids=["many", "large"])
def test_more_or_larger_modules_than_any_kernel_needs_are_refused(
    tmp_path: Path, count: int, size: int
) -> None:
    for at in range(count):
        start = f"\x7fELF\0depends=m{at + 1}\0".encode()
        name = f"m{at}" if at else "ext4"
        (tmp_path / f"{name}.ko.zst").write_bytes(zstandard.compress(start + bytes(size)))
    with pytest.raises(MachineError, match=r"more than 100, or larger than 256 MiB"):
        modules.files(tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"no module", zstandard.compress(b"no module"), zstandard.compress(bytes(65 << 20))],
    ids=["text", "packed text", "65 MiB"],
)
@pytest.mark.parametrize("ending", ["", ".xz", ".zst"])
def test_what_is_no_module_or_too_large_is_refused(
    tmp_path: Path, ending: str, content: bytes
) -> None:
    (tmp_path / f"ext4.ko{ending}").write_bytes(content)
    with pytest.raises(MachineError, match=r"the module ext4\.ko.* can't be unpacked: it is"):
        modules.files(tmp_path)
