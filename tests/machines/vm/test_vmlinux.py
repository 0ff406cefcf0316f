"""Kernels out of images: the packings that distributions use, and what is no kernel."""

import bz2
import gzip
import lzma
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from hardcost.errors import InputError
from hardcost.machines.vm import boot_kernel, vmlinux
from hardcost.supply.cache.cache import Cache


def elf(*, note_kind: int = 18) -> bytes:
    """Return an ELF64 file that holds a Xen note of the given type and nothing else."""
    note = struct.pack("<III", 4, 4, note_kind) + b"Xen\0" + struct.pack("<I", 0x1000000)
    header = bytearray(64)
    header[:4] = b"\x7fELF"
    struct.pack_into("<Q", header, 0x20, 64)
    struct.pack_into("<HH", header, 0x36, 56, 1)
    program = struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(note), len(note), 4)
    return bytes(header) + program + note


def bzimage(payload: bytes) -> bytes:
    """Return an image whose only parts are those that say where its payload lies."""
    setup = bytearray(1024)
    setup[0x1F1] = 1
    setup[0x202:0x206] = b"HdrS"
    struct.pack_into("<II", setup, 0x248, 16, len(payload))
    return bytes(setup) + bytes(16) + payload


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "xz": lambda content: lzma.compress(content, lzma.FORMAT_XZ),
    "lzma": lambda content: lzma.compress(content, lzma.FORMAT_ALONE),
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("packing", PACKINGS)
def test_every_packing_is_unpacked(packing: str, tmp_path: Path) -> None:
    image = tmp_path / "vmlinuz"
    size_of_the_unpacked = struct.pack("<I", len(elf()))  # the kernel's build appends it
    image.write_bytes(bzimage(PACKINGS[packing](elf()) + size_of_the_unpacked))
    assert vmlinux.extract(image) == elf()


def test_a_vmlinux_is_taken_as_it_is(tmp_path: Path) -> None:
    image = tmp_path / "vmlinux"
    image.write_bytes(elf())
    assert vmlinux.extract(image) == elf()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a Linux kernel"),
        (b"MZ" + bytes(4096), "not a Linux kernel"),
        (bzimage(b"")[:520], "not a Linux kernel"),
        (b"\x7fELF", "damaged"),
        (elf()[:-4], "damaged"),
        (elf()[:0x20] + b"\xff" * 8 + elf()[0x28:], "damaged: it ends too early"),
        (elf(note_kind=1), "no PVH entry"),
        (bzimage(b"\x02!L\x18 lz4 is not unpacked"), "packed in a way"),
        (bzimage(gzip.compress(elf())[:40]), "damaged"),
        (bzimage(b"\xfd7zXZ\x00rubbish"), "damaged"),
        (bzimage(gzip.compress(b"no kernel")), "damaged"),
        (bzimage(b""), "packed in a way"),
    ],
)
def test_what_is_no_kernel_is_an_error_that_names_the_file(
    content: bytes, message: str, tmp_path: Path
) -> None:
    image = tmp_path / "vmlinuz"
    image.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        vmlinux.extract(image)
    assert str(image) in str(error.value)


def test_a_missing_kernel_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read") as error:
        vmlinux.extract(tmp_path / "none")
    assert error.value.problems[0].hint


def zstd_bomb(first: bytes) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    parts = [packer.compress(first), *(packer.compress(bytes(1 << 24)) for _ in range(40))]
    return b"".join([*parts, packer.flush()])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bzimage(zstd_bomb(elf())), "unpacked it is larger than 512 MiB"),
        (bzimage(zstd_bomb(b"no kernel")), "no ELF file inside"),
        (bzimage(gzip.compress(b"no kernel" + bytes(64 << 20))), "no ELF file inside"),
        (elf()[:0x38] + b"\xff\xff" + elf()[0x3A:], "it has 65535 program headers, more than 128"),
    ],
)
def test_a_hostile_image_takes_neither_memory_nor_time(
    content: bytes, message: str, tmp_path: Path
) -> None:
    image = tmp_path / "vmlinuz"
    image.write_bytes(content)
    with pytest.raises(InputError, match=message):
        vmlinux.extract(image)


def test_notes_are_bounded(tmp_path: Path) -> None:
    size = 3 << 20
    content = bytearray(elf(note_kind=1)) + bytes(size)
    struct.pack_into("<Q", content, 64 + 32, size)
    (tmp_path / "vmlinux").write_bytes(content)
    with pytest.raises(InputError, match="more than 1 MiB of notes"):
        vmlinux.extract(tmp_path / "vmlinux")


@pytest.mark.parametrize(
    ("place", "why"),
    [("/dev/zero", "it is a device"), ("PIPE", "it is a pipe"), ("/", "it is a folder")],
)
def test_what_is_no_file_is_not_waited_for(place: str, why: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    image = tmp_path / "pipe" if place == "PIPE" else Path(place)
    with pytest.raises(InputError, match=why):
        boot_kernel.from_file(Cache(tmp_path / "cache"), image)
