"""A kernel's modules as files, which distributions may compress."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING

import zstandard

from hardcost.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENDINGS = ("", ".xz", ".zst")
"""The possible suffixes after `.ko`."""

_MOST_BYTES = 64 << 20


def modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules below a folder, each with its name as the kernel spells it."""
    for ending in ENDINGS:
        for path in folder.rglob(f"*.ko{ending}"):
            yield path.name.removesuffix(f".ko{ending}").replace("-", "_"), path


def content(path: Path) -> bytes:
    """Return a module as the kernel loads it.

    Raises:
        MachineError: It is damaged, or compressed in an unknown way.
    """
    packed = path.read_bytes()
    try:
        if path.suffix == ".ko":
            return packed
        if path.suffix == ".zst":
            return zstandard.ZstdDecompressor().decompress(packed, _MOST_BYTES)
        if path.suffix == ".xz":
            return _from_xz(packed)
    except (lzma.LZMAError, zstandard.ZstdError, EOFError) as error:
        raise MachineError(f"the module {path.name} can't be unpacked: {error}") from error
    raise MachineError(f"the module {path.name} is compressed in a way that hardcost can't read")


def _from_xz(packed: bytes) -> bytes:
    stream = lzma.LZMADecompressor(memlimit=_MOST_BYTES)
    unpacked = stream.decompress(packed, _MOST_BYTES)
    if not stream.eof:
        raise EOFError("it is too large, or ends too early")
    return unpacked
