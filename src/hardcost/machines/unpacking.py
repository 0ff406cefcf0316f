"""Compressed data unpacked in parts, so that whoever takes them can give up early."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import TYPE_CHECKING

import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ERRORS = (OSError, EOFError, MemoryError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
"""What unpacking raises where the data are damaged."""

_AT_ONCE = 1 << 20  # bytes that are unpacked before it is looked at what they are
_WINDOW = 1 << 27  # bytes that an unpacker may look back; what the kernel's own build uses at most
_ZSTD_AT_ONCE = 1 << 10  # packed bytes, which may become as many thousands
_TOO_EARLY = "it ends too early"


def parts(packed: bytes) -> Iterator[bytes] | None:
    """Return the parts of what was packed, each of bounded size; None if it is unknown how.

    The iterator raises one of `ERRORS` where the data are damaged.
    """
    for magic, unpack in _UNPACKERS.items():
        if packed.startswith(magic):
            return unpack(packed)
    return None


def _xz(packed: bytes) -> Iterator[bytes]:
    stream = lzma.LZMADecompressor(memlimit=2 * _WINDOW)
    yield stream.decompress(packed, _AT_ONCE)
    while not stream.eof:
        yield _more(stream.decompress(b"", _AT_ONCE))


def _bzip2(packed: bytes) -> Iterator[bytes]:
    stream = bz2.BZ2Decompressor()
    yield stream.decompress(packed, _AT_ONCE)
    while not stream.eof:
        yield _more(stream.decompress(b"", _AT_ONCE))


def _gzip(packed: bytes) -> Iterator[bytes]:
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    yield stream.decompress(packed, _AT_ONCE)
    while not stream.eof:
        yield _more(stream.decompress(stream.unconsumed_tail, _AT_ONCE))


def _zstd(packed: bytes) -> Iterator[bytes]:
    stream = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
    for at in range(0, len(packed), _ZSTD_AT_ONCE):
        yield stream.decompress(packed[at : at + _ZSTD_AT_ONCE])
        if stream.eof:
            return
    raise EOFError(_TOO_EARLY)


def _more(part: bytes) -> bytes:
    if not part:
        raise EOFError(_TOO_EARLY)
    return part


_UNPACKERS: dict[bytes, Callable[[bytes], Iterator[bytes]]] = {
    b"\xfd7zXZ\x00": _xz,
    b"\x5d\x00\x00": _xz,
    b"\x1f\x8b": _gzip,
    b"BZh": _bzip2,
    b"\x28\xb5\x2f\xfd": _zstd,
}
