"""Compressed data unpacked in parts, so that whoever takes them can give up early."""

from __future__ import annotations

import bz2
import itertools
import lzma
import zlib
from typing import TYPE_CHECKING

import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ERRORS = (OSError, EOFError, MemoryError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
"""What unpacking raises where the data are damaged."""

TOO_EARLY = "it ends too early"
_AT_ONCE = 1 << 20  # bytes that are unpacked before it is looked at what they are
_WINDOW = 1 << 27  # bytes that an unpacker may look back; what the kernel's own build uses at most
_PACKED_AT_ONCE = 1 << 16  # packed bytes, of which an unpacker keeps a copy
_ZSTD_AT_ONCE = 1 << 10  # packed bytes, which may become as many thousands
_LONGEST_MAGIC = 6


class DamagedError(Exception):
    """What is packed can't be used; the message says why, and begins with "it" or "its"."""


def parts(packed: Iterable[bytes]) -> Iterator[bytes] | None:
    """Return the parts of what was packed, each of bounded size; None if it is unknown how.

    The iterator raises one of `ERRORS` where the data are damaged.
    """
    return _parts(*_begun(packed))


def unpacked(packed: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what `parts` does, or `packed` itself if it is not known to be packed."""
    first, rest = _begun(packed)
    yield from _parts(first, rest) or itertools.chain([first], rest)


def whole(packed: bytes, most: int) -> bytes:
    """Return what was packed, or `packed` itself if it is not known to be packed.

    Raises:
        DamagedError: It is damaged, or has more than `most` bytes.
    """
    found = bytearray()
    try:
        for part in unpacked([packed]):
            found += part
            if len(found) > most:
                raise DamagedError(f"it is larger than {most >> 20} MiB, unpacked")
    except ERRORS as error:
        raise DamagedError(str(error) or TOO_EARLY) from error
    return bytes(found)


def _begun(packed: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the begin of what is packed, enough to know how, and the rest."""
    pieces = iter(packed)
    first = b""
    while len(first) < _LONGEST_MAGIC and (piece := next(pieces, None)) is not None:
        first += piece
    return first, pieces


def _parts(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes] | None:
    for magic, unpack in _UNPACKERS.items():
        if first.startswith(magic):
            return filter(None, unpack(itertools.chain([first], rest)))
    return None


def _cut(packed: Iterable[bytes], size: int) -> Iterator[bytes]:
    for piece in packed:
        for at in range(0, len(piece), size):
            yield piece[at : at + size]


def _by(
    stream: lzma.LZMADecompressor | bz2.BZ2Decompressor, packed: Iterable[bytes]
) -> Iterator[bytes]:
    for piece in _cut(packed, _PACKED_AT_ONCE):
        yield stream.decompress(piece, _AT_ONCE)
        while not stream.eof and not stream.needs_input:
            yield stream.decompress(b"", _AT_ONCE)
        if stream.eof:
            return
    raise EOFError(TOO_EARLY)


def _xz(packed: Iterable[bytes]) -> Iterator[bytes]:
    return _by(lzma.LZMADecompressor(memlimit=2 * _WINDOW), packed)


def _bzip2(packed: Iterable[bytes]) -> Iterator[bytes]:
    return _by(bz2.BZ2Decompressor(), packed)


def _gzip(packed: Iterable[bytes]) -> Iterator[bytes]:
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    for piece in _cut(packed, _PACKED_AT_ONCE):
        yield stream.decompress(piece, _AT_ONCE)
        while stream.unconsumed_tail:
            yield stream.decompress(stream.unconsumed_tail, _AT_ONCE)
        if stream.eof:
            return
    while not stream.eof:  # it may hold back a part without needing more
        part = stream.decompress(b"", _AT_ONCE)
        if not part:
            raise EOFError(TOO_EARLY)
        yield part


def _zstd(packed: Iterable[bytes]) -> Iterator[bytes]:
    stream = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
    for piece in _cut(packed, _ZSTD_AT_ONCE):
        yield stream.decompress(piece)
        if stream.eof:
            return
    raise EOFError(TOO_EARLY)


_UNPACKERS: dict[bytes, Callable[[Iterable[bytes]], Iterator[bytes]]] = {
    b"\xfd7zXZ\x00": _xz,
    b"\x5d\x00\x00": _xz,
    b"\x1f\x8b": _gzip,
    b"BZh": _bzip2,
    b"\x28\xb5\x2f\xfd": _zstd,
}
