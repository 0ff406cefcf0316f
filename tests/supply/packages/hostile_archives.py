"""Archives that are small and ask for much: chains of headers, holes, links, long names."""

from __future__ import annotations

from collections.abc import Iterable

import zstandard

BLOCK = 512
END = bytes(2 * BLOCK)
_EXTENDED = b"13 path=abcd\n"


def header(
    name: bytes, size: int = 0, kind: bytes = b"0", link: bytes = b"", real: int | None = None
) -> bytes:
    """Return the header of a tar's member; `real` is the size of a sparse file."""
    made = bytearray(BLOCK)
    made[0 : len(name)] = name
    made[100:108] = b"0000644\0"
    made[124:136] = number(size)
    made[136:148] = b"00000000000\0"
    made[156:157] = kind
    made[157 : 157 + len(link)] = link
    made[257:265] = b"ustar  \0"
    if real is not None:
        made[386:410] = b"00000000000\x0000000000001\0"
        made[483:495] = number(real)
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made)
    return bytes(made)


def number(value: int) -> bytes:
    """Return a number as GNU tar writes those that are too large for digits."""
    return b"\x80" + value.to_bytes(11, "big")


def member(name: bytes, content: bytes, kind: bytes = b"0") -> bytes:
    """Return a member of a tar with its content."""
    return header(name, len(content), kind) + content + bytes(-len(content) % BLOCK)


def chain(kind: bytes, count: int = 3000) -> bytes:
    """Return a tar with one file after many headers: pax (x, g) or GNU's for long names (L, K)."""
    said = _EXTENDED if kind in b"xg" else b"abcd\0"
    return member(b"said", said, kind) * count + member(b"file", b"x") + END


def sparse(size: int) -> bytes:
    """Return a tar with a file of one byte and a hole."""
    return header(b"sparse", 1, b"S", real=size) + b"x" + bytes(BLOCK - 1) + END


def hard_links(count: int, size: int) -> bytes:
    """Return a tar with a file of zeros and hard links to it."""
    links = (header(b"link%d" % one, 0, b"1", b"file") for one in range(count))
    return member(b"file", bytes(size)) + b"".join(links) + END


def long_name(kind: bytes, size: int) -> bytes:
    """Return a tar, packed by zstd, with a name (L), a link's target (K) or attributes (x)."""
    return _packed(_long_name(kind, size))


def _long_name(kind: bytes, size: int) -> Iterable[bytes]:
    yield header(b"long", size, kind)
    yield from (b"a" * (1 << 20) for _ in range(size >> 20))
    yield member(b"file", b"x") + END


def zeros(size: int) -> bytes:
    """Return a tar, packed by zstd, with a file of zeros."""
    rest = (bytes(1 << 20) for _ in range(size >> 20))
    return _packed((header(b"file", size), *rest, END))


def _packed(parts: Iterable[bytes]) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return b"".join([*map(packer.compress, parts), packer.flush()])
