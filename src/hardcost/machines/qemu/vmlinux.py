"""Out of a kernel image as distributions ship it (bzImage), the vmlinux that boots by PVH.

Booting vmlinux skips the decompressor: 4.5 of the 6.2 billion instructions of a Debian boot.

Source of the layout: the kernel's Documentation/x86/boot.rst (setup_sects, header, payload_offset,
payload_length) and include/xen/interface/elfnote.h (XEN_ELFNOTE_PHYS32_ENTRY).
"""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from typing import TYPE_CHECKING

import zstandard

from hardcost.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ELF = b"\x7fELF"
_BZIMAGE_MAGIC_AT = 0x202
_SETUP_SECTORS_AT = 0x1F1
_PAYLOAD_AT = 0x248
_HEADER_END = 0x250
_SECTOR = 512
_NOTE_PHYS32_ENTRY = 18
_PT_NOTE = 4
_MAX_VMLINUX = 1 << 30  # bytes; a hostile image must not fill the memory


def extract(image: Path) -> bytes:
    """Return the vmlinux in `image`, which is a bzImage or a vmlinux already.

    Raises:
        InputError: The file can't be read, is neither, is packed in a way we can't unpack, or has
            no PVH entry point (a kernel built without CONFIG_PVH).
    """
    try:
        content = image.read_bytes()
    except OSError as error:
        raise InputError(
            f"the kernel {image} can't be read: {error.strerror}",
            hint="--kernel takes a bzImage (such as /boot/vmlinuz-*) or a vmlinux",
        ) from error
    vmlinux = content if content.startswith(_ELF) else _unpack(image, content)
    try:
        bootable = _has_pvh_entry(vmlinux)
    except struct.error:
        raise InputError(f"the kernel {image} is damaged: it ends too early") from None
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
            hint="--kernel takes a bzImage (such as /boot/vmlinuz-*) or a vmlinux",
        )
    setup_sectors = content[_SETUP_SECTORS_AT] or 4
    offset, length = struct.unpack_from("<II", content, _PAYLOAD_AT)
    start = (setup_sectors + 1) * _SECTOR + offset
    payload = content[start : start + length]
    for magic, unpack in _UNPACKERS.items():
        if payload.startswith(magic):
            try:
                vmlinux = unpack(payload)
            except (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
                raise InputError(f"the kernel {image} is damaged: {error}") from error
            if vmlinux.startswith(_ELF):
                return vmlinux
            raise InputError(f"the kernel {image} is damaged: no ELF file inside")
    raise InputError(
        f"the kernel {image} is packed in a way that hardcost can't unpack",
        hint="give it as vmlinux (the kernel's scripts/extract-vmlinux makes one)",
    )


def _xz(payload: bytes) -> bytes:
    stream = lzma.LZMADecompressor()
    return _whole(stream.decompress(payload, _MAX_VMLINUX), ended=stream.eof)


def _gzip(payload: bytes) -> bytes:
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    return _whole(stream.decompress(payload, _MAX_VMLINUX), ended=stream.eof)


def _bzip2(payload: bytes) -> bytes:
    stream = bz2.BZ2Decompressor()
    return _whole(stream.decompress(payload, _MAX_VMLINUX), ended=stream.eof)


def _zstd(payload: bytes) -> bytes:
    stream = zstandard.ZstdDecompressor().decompressobj()
    return _whole(stream.decompress(payload), ended=stream.eof)


def _whole(content: bytes, *, ended: bool) -> bytes:
    if not ended:
        raise EOFError("it ends too early, or is larger than any kernel")
    return content


_UNPACKERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\xfd7zXZ\x00": _xz,
    b"\x5d\x00\x00": _xz,
    b"\x1f\x8b": _gzip,
    b"BZh": _bzip2,
    b"\x28\xb5\x2f\xfd": _zstd,
}


def _has_pvh_entry(vmlinux: bytes) -> bool:
    """Say whether an ELF64 file has a note of the type XEN_ELFNOTE_PHYS32_ENTRY.

    Raises:
        struct.error: The file ends too early.
    """
    (header_at,) = struct.unpack_from("<Q", vmlinux, 0x20)
    size, count = struct.unpack_from("<HH", vmlinux, 0x36)
    for index in range(count):
        at = header_at + index * size
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", vmlinux, at)
        if kind == _PT_NOTE and _notes_hold(_part(vmlinux, offset, length)):
            return True
    return False


def _part(content: bytes, offset: int, length: int) -> bytes:
    if offset + length > len(content):
        raise struct.error("a part lies beyond the end")
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
