"""Roots that users bring: found in disks, copied, and refused with the reason where none is."""

import lzma
import os
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.images import ext4, ext4_contents
from hardcost.supply.images.root_image import GRAIN
from hardcost.supply.images.user_root import image_file, rootfs_dir
from hardcost.supply.images.user_root_kernel import own_kernel

MIB = 1 << 20
SECTORS = MIB // 512  # of a MiB


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def system(folder: Path, name: str = "Some Linux 5") -> Path:
    tree = folder / "tree"
    (tree / "etc").mkdir(parents=True)
    (tree / "etc" / "os-release").write_text(f'ID=some\nPRETTY_NAME="{name}"\n')
    (tree / "var" / "lib" / "dpkg").mkdir(parents=True)
    (tree / "var" / "lib" / "dpkg" / "status").write_text(
        "Package: fio\nStatus: install ok installed\nSection: x\nVersion: 3.33-3\n"
        "Description: x\n .\n\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 1\n\n"
    )
    (tree / "boot").mkdir()
    for version in ("6.1.0-9", "6.1.0-10", "5.10.0-30"):
        (tree / "boot" / f"vmlinuz-{version}").write_text(version)
    modules = tree / "usr" / "lib" / "modules" / "6.1.0-10" / "kernel" / "fs" / "ext4"
    modules.mkdir(parents=True)
    (modules / "ext4.ko").write_text("module")
    return tree


def file_system(folder: Path, tree: Path, size: int = 32 * MIB) -> bytes:
    image = folder / "part.img"
    ext4.make(image, size, ext4_contents.entries(tree, ext4.EPOCH), journal=False)
    return image.read_bytes()


def mbr(*parts: tuple[int, int, int]) -> bytes:
    """Return a table of (kind, first sector, sectors)."""
    entries = b"".join(
        struct.pack("<B3sB3sII", 0, b"", kind, b"", first, count) for kind, first, count in parts
    )
    return bytes(446) + entries.ljust(64, b"\0") + b"\x55\xaa"


def gpt(*parts: tuple[int, int]) -> bytes:
    """Return a table of (first sector, sectors), its places 2 and up."""
    entries = bytes(128) + b"".join(
        struct.pack("<16s16sQQ", b"a kind", b"an id", first, first + count - 1).ljust(128, b"\0")
        for first, count in parts
    )
    return gpt_of(entries.ljust(128 * 128, b"\0"), max(map(sum, parts)) - 1)


def gpt_of(entries: bytes, last: int, said: int = 128) -> bytes:
    """Return a table with its sums; `last` is the last sector it covers, `said` its entries."""

    def header(checksum: int) -> bytes:
        places = struct.pack("<QQQQ16sQ", 1, last + 33, 34, last, b"a disk", 2)
        sums = struct.pack("<III", said, 128, zlib.crc32(entries))
        return struct.pack("<8sIIII", b"EFI PART", 0x10000, 92, checksum, 0) + places + sums

    whole = header(zlib.crc32(header(0)))
    return mbr((0xEE, 1, last + 33)) + whole.ljust(512, b"\0") + entries


def iso() -> bytes:
    """Return what makes a file an empty CD: its first descriptor, of a volume of some sectors."""
    name = b"A CD".ljust(32)
    said = struct.pack("<B5sBB32s32s8sII", 1, b"CD001", 1, 0, bytes(32), name, b"", 20, 20 << 24)
    return (bytes(0x8000) + said).ljust(40960, b"\0")


def disk(folder: Path, *places: tuple[int, bytes]) -> Path:
    path = folder / "disk.img"
    with path.open("wb") as file:
        for place, content in places:
            file.seek(place)
            file.write(content)
    return path


def test_a_bare_file_system_is_copied_and_padded(tmp_path: Path, cache: Cache) -> None:
    path = disk(tmp_path, (0, file_system(tmp_path, system(tmp_path))))
    before = path.read_bytes()
    image = image_file(path, cache)
    assert image.title == "Some Linux 5 of disk.img"
    assert (image.size, image.path.stat().st_size) == (GRAIN, GRAIN)
    assert image.partition is None
    assert image.packages == {"fio": "3.33-3"}
    assert path.read_bytes() == before
    assert image_file(path, cache) == image


def test_a_root_gets_a_place_for_linuxs_source(tmp_path: Path, cache: Cache) -> None:
    root = file_system(tmp_path, system(tmp_path))
    path = disk(tmp_path, (0, mbr((0x83, SECTORS, 32 * SECTORS))), (MIB, root))
    assert ext4.is_there(ext4.name_at_offset(image_file(path, cache).path, MIB), "/srv/tree")
    assert not ext4.is_there(ext4.name_at_offset(path, MIB), "/srv")


def test_an_image_that_changed_is_copied_again(tmp_path: Path, cache: Cache) -> None:
    path = disk(tmp_path, (0, file_system(tmp_path, system(tmp_path))))
    first = image_file(path, cache)
    shutil.rmtree(tmp_path / "tree")
    disk(tmp_path, (0, file_system(tmp_path, system(tmp_path, "Other Linux"))))
    assert image_file(path, cache).digest != first.digest


def test_the_root_is_found_among_the_partitions_of_an_mbr(tmp_path: Path, cache: Cache) -> None:
    root = file_system(tmp_path, system(tmp_path))
    table = mbr((0x83, SECTORS, 8 * SECTORS), (0, 0, 0), (0x83, 16 * SECTORS, 32 * SECTORS))
    image = image_file(disk(tmp_path, (0, table), (16 * MIB, root)), cache)
    assert image.partition == 3
    assert image.title == "Some Linux 5 of disk.img"


def test_the_root_is_found_in_a_logical_partition(tmp_path: Path, cache: Cache) -> None:
    root = file_system(tmp_path, system(tmp_path))
    table = mbr((0x83, SECTORS, SECTORS), (0x05, 4 * SECTORS, 60 * SECTORS))
    first = mbr((0x82, SECTORS, SECTORS), (0x05, 4 * SECTORS, 40 * SECTORS))
    second = mbr((0x83, SECTORS, 32 * SECTORS))
    parts = ((0, table), (4 * MIB, first), (8 * MIB, second), (9 * MIB, root))
    assert image_file(disk(tmp_path, *parts), cache).partition == 6


def test_the_largest_root_of_a_gpt_is_taken(tmp_path: Path, cache: Cache) -> None:
    small = file_system(tmp_path, system(tmp_path, "Rescue"))
    shutil.rmtree(tmp_path / "tree")
    large = file_system(tmp_path, system(tmp_path), 48 * MIB)
    table = gpt((MIB // 512, 32 * SECTORS), (40 * SECTORS, 48 * SECTORS))
    image = image_file(disk(tmp_path, (0, table), (MIB, small), (40 * MIB, large)), cache)
    assert (image.partition, image.title) == (3, "Some Linux 5 of disk.img")


def test_a_disk_without_a_root_is_reported_with_what_it_holds(tmp_path: Path, cache: Cache) -> None:
    table = mbr((0x83, SECTORS, 8 * SECTORS), (0x83, 9 * SECTORS, SECTORS))
    path = disk(tmp_path, (0, table), (MIB, b"LUKS\xba\xbe\0\1"), (9 * MIB, bytes(MIB)))
    with pytest.raises(
        InputError, match=r"1: an encrypted volume \(LUKS\), 8 MiB; 2: unknown content, 1 MiB"
    ):
        image_file(path, cache)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is unknown"),
        (b"hello\n", "is unknown"),
        (b"\x1f\x8b\x08", "is compressed by gzip"),
        (b"KDMV", "is a VMDK image"),
        (iso(), "is an ISO 9660 image"),
        (bytes(510) + b"\x55\xaa", "is unknown"),
        (bytes(510) + b"\x55\xaaEFI PART", "is unknown"),
    ],
)
def test_a_file_that_is_no_image_is_reported_what_it_is(
    content: bytes, said: str, tmp_path: Path, cache: Cache
) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError, match=f"file {said}.*a guest can't boot it"):
        image_file(tmp_path / "file", cache)
    assert cache.entries() == ()


def test_a_file_system_without_a_system_is_refused(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "data").mkdir()
    path = disk(tmp_path, (0, file_system(tmp_path, tmp_path / "data")))
    with pytest.raises(InputError, match="holds no Linux root"):
        image_file(path, cache)


def test_a_damaged_file_system_is_reported(tmp_path: Path, cache: Cache) -> None:
    content = bytearray(file_system(tmp_path, system(tmp_path)))
    path = disk(tmp_path, (0, bytes(content)))
    subprocess.run(["debugfs", "-w", "-R", "clri /var", str(path)], check=True, capture_output=True)
    with pytest.raises(MachineError, match="is damaged"):
        image_file(path, cache)
    assert cache.entries() == ()


def test_a_missing_file_and_a_folder_are_reported(tmp_path: Path, cache: Cache) -> None:
    with pytest.raises(InputError, match="No such file"):
        image_file(tmp_path / "none", cache)
    with pytest.raises(InputError, match="is not a file") as raised:
        image_file(tmp_path, cache)
    assert "--rootfs" in str(raised.value.problems[0].hint)


def test_a_folder_with_a_system_becomes_an_image(tmp_path: Path, cache: Cache) -> None:
    tree = system(tmp_path)
    image = rootfs_dir(tree, cache)
    assert image.title == "Some Linux 5 of tree"
    assert image.size % GRAIN == 0
    assert ext4.text_of(str(image.path), "/boot/vmlinuz-6.1.0-9") == "6.1.0-9"
    assert rootfs_dir(tree, cache).path == image.path
    (tree / "etc" / "new").touch()
    assert rootfs_dir(tree, cache).path != image.path


def test_a_folder_without_a_system_is_refused(tmp_path: Path, cache: Cache) -> None:
    with pytest.raises(InputError, match="holds no Linux system"):
        rootfs_dir(tmp_path, cache)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is not a folder"):
        rootfs_dir(tmp_path / "file", cache)


def test_the_newest_kernel_comes_out_with_its_modules(tmp_path: Path, cache: Cache) -> None:
    found = own_kernel(rootfs_dir(system(tmp_path), cache), cache)
    assert found is not None
    assert found.image.read_text() == "6.1.0-10"
    assert [path.read_text() for path in found.modules.glob("6.1.0-10/**/*.ko")] == ["module"]


def test_a_kernel_comes_out_of_a_partition_too(tmp_path: Path, cache: Cache) -> None:
    root = file_system(tmp_path, system(tmp_path))
    path = disk(tmp_path, (0, mbr((0x83, SECTORS, 32 * SECTORS))), (MIB, root))
    found = own_kernel(image_file(path, cache), cache)
    assert found is not None
    assert found.image.read_text() == "6.1.0-10"


def test_a_system_without_a_kernel_has_none(tmp_path: Path, cache: Cache) -> None:
    tree = system(tmp_path)
    shutil.rmtree(tree / "boot")
    assert own_kernel(rootfs_dir(tree, cache), cache) is None


def test_a_qcow2_image_without_its_tool_names_the_package(
    tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk.qcow2").write_bytes(b"QFI\xfb" + bytes(600))
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setattr("hardcost.host.process._SYSTEM_PROGRAMS", os.fspath(tools))
    monkeypatch.setenv("PATH", os.fspath(tools))
    with pytest.raises(MachineError, match="qemu-img is not installed") as raised:
        image_file(tmp_path / "disk.qcow2", cache)
    assert "qemu-utils" in str(raised.value.problems[0].hint)


@pytest.mark.parametrize(
    "header",
    [
        b"QFI\xfb\0\0\0\2" + (104).to_bytes(8, "big") + bytes(600),
        b"QFI\xfb\0\0\0\3" + bytes(64) + (4).to_bytes(8, "big") + bytes(600),
    ],
    ids=["a backing file", "data in a file of its own"],
)
def test_a_qcow2_image_that_names_another_file_is_refused(
    tmp_path: Path, cache: Cache, header: bytes
) -> None:
    (tmp_path / "disk.qcow2").write_bytes(header)
    with pytest.raises(InputError, match="part of its content in another file"):
        image_file(tmp_path / "disk.qcow2", cache)


def test_no_link_among_a_roots_modules_leads_a_write_out_of_the_cache(
    tmp_path: Path, cache: Cache
) -> None:
    tree, outside = system(tmp_path), tmp_path / "outside"
    outside.write_text("as it was")
    modules = tree / "usr" / "lib" / "modules" / "6.1.0-10" / "kernel"
    (modules / "fs" / "ext4" / "bad.ko").symlink_to(outside)
    (modules / "fs" / "ext4" / "bad.ko.xz").write_bytes(lzma.compress(b"\x7fELF unpacked"))
    (modules / "fs" / "mbcache.ko").symlink_to(outside)
    other = tree / "lib" / "modules" / "6.1.0-10" / "kernel" / "fs"
    other.mkdir(parents=True)
    (other / "mbcache.ko").write_text("a module")
    found = own_kernel(rootfs_dir(tree, cache), cache)
    assert found is not None
    assert outside.read_text() == "as it was"
    texts = {path.name: path.read_text() for path in found.modules.rglob("*.ko")}
    assert texts == {"ext4.ko": "module", "bad.ko": "\x7fELF unpacked", "mbcache.ko": "a module"}
