"""A kernel's modules as files, which distributions may compress."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from auditrules.files import bounded
from hardcost import decompress
from hardcost.errors import MachineError

ENDINGS = ("", ".xz", ".zst")
"""The possible suffixes after `.ko`."""

_ELF = b"\x7fELF"
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
    if path.suffix not in {".ko", *ENDINGS}:
        raise MachineError(
            f"the module {path.name} is compressed in a way that hardcost can't read"
        )
    try:
        found = decompress.unpack_whole(bounded.content(path, _MOST_BYTES), _MOST_BYTES)
    except (decompress.DamagedError, bounded.UnreadableError) as error:
        raise MachineError(f"the module {path.name} can't be unpacked: {error}") from error
    if not found.startswith(_ELF):
        raise MachineError(f"the module {path.name} can't be unpacked: it is no ELF file")
    return found
