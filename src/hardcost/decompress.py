"""Compressed data unpacked in parts, so that whoever takes them can give up early.

libarchive unpacks the same, but reads untrusted data in C, and so runs in a confined process only
(`supply/packages/unpack.py`); kernels and lists of packages are unpacked in ours.
"""

from __future__ import annotations

import bz2
import itertools
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeAlias

import zstandard

ERRORS = (OSError, EOFError, MemoryError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
"""The exceptions of unpacking damaged data."""

TOO_EARLY = "it ends too early"
_AT_ONCE = 1 << 20  # bytes that are unpacked before it is looked at what they are
_WINDOW = 1 << 27  # bytes that an unpacker may look back; what the kernel's own build uses at most
_PACKED_AT_ONCE = 1 << 16  # packed bytes, of which an unpacker keeps a copy
_ZSTD_AT_ONCE = 1 << 10  # packed bytes, which may become as many thousands
_LONGEST_MAGIC = 6  # bytes: xz's


class _Stream(Protocol):
    """The part of an unpacker's interface that is the same for all formats."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


_Begun: TypeAlias = "tuple[_Stream, Callable[[bytes], Iterator[bytes]]]"
"""A stream, and what yields the parts that another piece of it holds."""


class DamagedError(Exception):
    """Packed data can't be used; the message says why, and begins with "it" or "its"."""


def parts(packed: Iterable[bytes], *, alone: bool = False) -> Iterator[bytes] | None:
    """Return the unpacked data in parts of bounded size; None if the form is unknown.

    What follows a stream is unpacked as the next one, as the packing programs themselves do;
    `alone` ends with the first, whatever follows. The iterator raises one of `ERRORS` where the
    data are damaged, or what follows is no stream.
    """
    return _parts(*_read_begin(packed), alone=alone)


def unpack_if_packed(packed: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of unpacked data, or `packed` itself if its form is unknown."""
    first, rest = _read_begin(packed)
    yield from _parts(first, rest) or itertools.chain([first], rest)


def unpack_whole(packed: bytes, most: int) -> bytes:
    """Return the unpacked data, or `packed` itself if its form is unknown.

    Raises:
        DamagedError: It is damaged, or has more than `most` bytes.
    """
    found = bytearray()
    try:
        for part in unpack_if_packed([packed]):
            found += part
            if len(found) > most:
                raise DamagedError(f"it is larger than {most >> 20} MiB, unpacked")
    except ERRORS as error:
        raise DamagedError(str(error) or TOO_EARLY) from error
    return bytes(found)


def _read_begin(packed: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the begin of packed data, enough to know its form, and the rest."""
    pieces = iter(packed)
    first = b""
    while len(first) < _LONGEST_MAGIC and (piece := next(pieces, None)) is not None:
        first += piece
    return first, pieces


def _parts(first: bytes, rest: Iterator[bytes], *, alone: bool = False) -> Iterator[bytes] | None:
    for magic, (begin, size) in _UNPACKERS.items():
        if first.startswith(magic):
            pieces = _split_pieces(itertools.chain([first], rest), size)
            return filter(None, _streams(pieces, begin, alone=alone))
    return None


def _streams(
    pieces: Iterator[bytes], begin: Callable[[], _Begun], *, alone: bool
) -> Iterator[bytes]:
    """Yield the content of all streams in the pieces; zeros may fill up between and after them."""
    begun: _Begun | None = None
    for piece in pieces:
        left = piece
        while left := (left if begun else left.lstrip(b"\0")):
            begun = begun or begin()
            stream, fed = begun
            yield from fed(left)
            if not stream.eof:
                break
            if alone:
                return
            left, begun = stream.unused_data, None
    if begun:
        raise EOFError(TOO_EARLY)


def _split_pieces(packed: Iterable[bytes], size: int) -> Iterator[bytes]:
    for piece in packed:
        for at in range(0, len(piece), size):
            yield piece[at : at + size]


def _lzma(form: int) -> _Begun:
    return _bounded_stream(lzma.LZMADecompressor(form, memlimit=2 * _WINDOW))


def _bounded_stream(stream: lzma.LZMADecompressor | bz2.BZ2Decompressor) -> _Begun:
    def fed(piece: bytes) -> Iterator[bytes]:
        yield stream.decompress(piece, _AT_ONCE)
        while not stream.eof and not stream.needs_input:
            yield stream.decompress(b"", _AT_ONCE)

    return stream, fed


def _gzip() -> _Begun:
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    def fed(piece: bytes) -> Iterator[bytes]:
        part = stream.decompress(piece, _AT_ONCE)
        yield part
        # A full part may leave more behind, also where the whole piece was taken.
        while not stream.eof and (stream.unconsumed_tail or len(part) == _AT_ONCE):
            part = stream.decompress(stream.unconsumed_tail, _AT_ONCE)
            yield part

    return stream, fed


def _zstd() -> _Begun:
    stream = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()

    def fed(piece: bytes) -> Iterator[bytes]:
        yield stream.decompress(piece)

    return stream, fed


_UNPACKERS: dict[bytes, tuple[Callable[[], _Begun], int]] = {
    b"\xfd7zXZ\x00": (lambda: _lzma(lzma.FORMAT_XZ), _PACKED_AT_ONCE),
    # Automatic, since only that looks closely at the begin of what follows.
    b"\x5d\x00\x00": (lambda: _lzma(lzma.FORMAT_AUTO), _PACKED_AT_ONCE),
    b"\x1f\x8b": (_gzip, _PACKED_AT_ONCE),
    b"BZh": (lambda: _bounded_stream(bz2.BZ2Decompressor()), _PACKED_AT_ONCE),
    b"\x28\xb5\x2f\xfd": (_zstd, _ZSTD_AT_ONCE),
}
