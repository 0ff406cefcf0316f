"""Data are unpacked in parts, however they come, and given up where they end too early."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable

import pytest
import zstandard

from hardcost import decompress
from hardcost.decompress import DamagedError

PACKINGS = [
    gzip.compress,
    bz2.compress,
    lzma.compress,
    lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    zstandard.compress,
]
CONTENT = bytes(3 << 20) + os.urandom(100_000)


@pytest.mark.parametrize("pack", PACKINGS)
@pytest.mark.parametrize("size", [1, 1000, 1 << 30])
def test_it_does_not_matter_how_packed_data_are_cut(
    pack: Callable[[bytes], bytes], size: int
) -> None:
    packed = pack(CONTENT)
    pieces = (packed[at : at + size] for at in range(0, len(packed), size))
    parts = list(decompress.parts(pieces) or ())
    assert b"".join(parts) == CONTENT
    assert all(0 < len(part) <= 8 << 20 for part in parts)


@pytest.mark.parametrize("pack", PACKINGS)
def test_what_ends_too_early_or_is_too_large_is_refused(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(CONTENT)
    for kept in (8, len(packed) // 2, len(packed) - 9):
        with pytest.raises(DamagedError):
            decompress.unpack_whole(packed[:kept], 8 << 20)
    with pytest.raises(DamagedError, match="larger than 2 MiB"):
        decompress.unpack_whole(packed, 2 << 20)
    assert decompress.unpack_whole(packed, 4 << 20) == CONTENT


def test_what_is_not_packed_is_itself() -> None:
    assert decompress.parts([b"plain"]) is None
    assert decompress.unpack_whole(b"plain", 10) == b"plain"
    assert b"".join(decompress.unpack_if_packed([b"p", b"", b"lain and more"])) == b"plain and more"
    assert list(decompress.unpack_if_packed([])) == [b""]


def test_more_memory_than_what_kernels_are_packed_with_is_not_taken() -> None:
    far = zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=far).compressobj()
    packed = packer.compress(CONTENT) + packer.flush()
    with pytest.raises(DamagedError):
        decompress.unpack_whole(packed, 8 << 20)
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    with pytest.raises(DamagedError, match=r"[Mm]emory"):
        decompress.unpack_whole(lzma.compress(CONTENT[:9], filters=filters), 8 << 20)


@pytest.mark.parametrize("pack", PACKINGS)
@pytest.mark.parametrize("size", [1, 1 << 30])
def test_streams_one_after_another_are_unpacked_as_one(
    pack: Callable[[bytes], bytes], size: int
) -> None:
    ends = CONTENT[-50_000:]
    packed = pack(ends[:1024]) + pack(b"") + bytes(8) + pack(ends[1024:]) + bytes(4)
    pieces = (packed[at : at + size] for at in range(0, len(packed), size))
    assert b"".join(decompress.parts(pieces) or ()) == ends
    with pytest.raises(DamagedError):
        decompress.unpack_whole(packed[:-30], 8 << 20)


@pytest.mark.parametrize("pack", PACKINGS)
def test_what_follows_and_is_no_stream_is_refused_unless_the_first_is_wanted_alone(
    pack: Callable[[bytes], bytes],
) -> None:
    packed = pack(CONTENT) + b"no stream" * 9
    with pytest.raises(DamagedError):
        decompress.unpack_whole(packed, 8 << 20)
    assert b"".join(decompress.parts([packed], alone=True) or ()) == CONTENT
