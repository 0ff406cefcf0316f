"""Extracts the vmlinux, which boots by PVH, from a kernel image as distributions ship it (bzImage).

Booting vmlinux skips the decompressor: 4.5 of the 6.2 billion instructions of a Debian boot.

Source of the layout: the kernel's Documentation/x86/boot.rst (setup_sects, header, payload_offset,
payload_length) and include/xen/interface/elfnote.h (XEN_ELFNOTE_PHYS32_ENTRY). pyelftools would
find the note, but reads a note's name byte by byte, however long a hostile file makes it (0.3 s of
processor time for each MiB).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from auditrules.library import files
from hardcost import decompress
from hardcost.decompress import DamagedError
from hardcost.errors import InputError

LARGEST = 1 << 30
"""Bytes that a kernel may have; Debian's has 70 million, with its debug data 630 million."""

HINT = "--kernel takes a bzImage (such as /boot/vmlinuz-*), a vmlinux, or 'host'"

_LARGEST_UNPACKED = 512 << 20  # bytes; what is packed to be booted has no debug data
_ELF = b"\x7fELF"
# Offsets of the kernel's Documentation/arch/x86/boot.rst.
_BZIMAGE_MAGIC_AT = 0x202
_SETUP_SECTORS_AT = 0x1F1
_PAYLOAD_AT = 0x248
_HEADER_END = 0x250
_SECTOR = 512
_NOTE_PHYS32_ENTRY = 18  # XEN_ELFNOTE_PHYS32_ENTRY: where PVH enters the kernel
_PT_NOTE = 4  # elf.h
_TOO_EARLY = "it ends too early"
_MOST_HEADERS = 128  # program headers; a kernel has some five
_MOST_NOTES = 1 << 20  # bytes of notes; a kernel has some hundred


def extract(image: Path) -> bytes:
    """Return the vmlinux in `image`, which is a bzImage or a vmlinux already.

    Raises:
        InputError: The file can't be read, is neither, is packed in a way we can't unpack, or has
            no PVH entry point (a kernel built without CONFIG_PVH).
    """
    content = files.content(image, "the kernel", LARGEST, HINT)
    vmlinux = content if content.startswith(_ELF) else _unpack(image, content)
    try:
        bootable = _has_pvh_entry(vmlinux)
    except (struct.error, OverflowError):  # a place beyond the end, or beyond any memory
        raise InputError(f"the kernel {image} is damaged: {_TOO_EARLY}") from None
    except DamagedError as error:
        raise InputError(f"the kernel {image} is damaged: {error}") from None
    if not bootable:
        raise InputError(
            f"the kernel {image} has no PVH entry point",
            hint="build it with CONFIG_PVH=y; Debian's kernels have it",
        )
    return vmlinux


def _unpack(image: Path, content: bytes) -> bytes:
    is_bzimage = content[_BZIMAGE_MAGIC_AT : _BZIMAGE_MAGIC_AT + 4] == b"HdrS"
    if not is_bzimage or len(content) < _HEADER_END:
        raise InputError(
            f"{image} is not a Linux kernel for x86",
            hint=HINT,
        )
    setup_sectors = content[_SETUP_SECTORS_AT] or 4  # 0 means 4, for old boot loaders
    offset, length = struct.unpack_from("<II", content, _PAYLOAD_AT)
    start = (setup_sectors + 1) * _SECTOR + offset
    payload = content[start : start + length]
    parts = decompress.parts([payload], alone=True)  # the kernel's size may follow
    if parts is None:
        raise InputError(
            f"the kernel {image} is packed in a way that hardcost can't unpack",
            hint="give it as vmlinux (the kernel's scripts/extract-vmlinux makes one)",
        )
    try:
        return _join_elf(parts)
    except (*decompress.ERRORS, DamagedError) as error:
        raise InputError(f"the kernel {image} is damaged: {error}") from error


def _join_elf(parts: Iterator[bytes]) -> bytes:
    """Return an ELF file that comes in parts; what is none, or too large, is given up early."""
    found = bytearray()
    for part in parts:
        found += part
        if not found.startswith(_ELF[: len(found)]):
            break
        if len(found) > _LARGEST_UNPACKED:
            raise DamagedError(f"unpacked it is larger than {_LARGEST_UNPACKED >> 20} MiB")
    if not found.startswith(_ELF):
        raise DamagedError("no ELF file inside")
    return bytes(found)


def _has_pvh_entry(vmlinux: bytes) -> bool:
    """Say whether an ELF64 file has a note of the type XEN_ELFNOTE_PHYS32_ENTRY."""
    (header_at,) = struct.unpack_from("<Q", vmlinux, 0x20)
    size, count = struct.unpack_from("<HH", vmlinux, 0x36)
    if count > _MOST_HEADERS:
        raise DamagedError(f"it has {count} program headers, more than {_MOST_HEADERS}")
    notes = 0
    for index in range(count):
        at = header_at + index * size
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", vmlinux, at)
        if kind != _PT_NOTE:
            continue
        notes += length
        if notes > _MOST_NOTES:
            raise DamagedError(f"it has more than {_MOST_NOTES >> 20} MiB of notes")
        if _notes_hold(_part(vmlinux, offset, length)):
            return True
    return False


def _part(content: bytes, offset: int, length: int) -> bytes:
    if offset + length > len(content):
        raise struct.error(_TOO_EARLY)
    return content[offset : offset + length]


def _notes_hold(notes: bytes) -> bool:
    at = 0
    while at + 12 <= len(notes):
        name_size, description_size, kind = struct.unpack_from("<III", notes, at)
        name = notes[at + 12 : at + 12 + name_size]
        if kind == _NOTE_PHYS32_ENTRY and name == b"Xen\0":
            return True
        at += 12 + -(-name_size // 4) * 4 + -(-description_size // 4) * 4
    return False
