"""Debug files: what was stripped from a program's symbols, found by the program's build ID.

Debian's packages `-dbgsym` and `-dbg` install them under /usr/lib/debug. The command
`debuginfod-find debuginfo FILE` fetches one, and leaves it in the user's cache.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from hardcost.machines.vm.plugin import elf_symbols
from hardcost.machines.vm.plugin.elf_symbols import Function

INSTALLED = Path("/usr/lib/debug/.build-id")
_BUILD_ID = re.compile(r"[0-9a-f]{8,128}")


def functions(build_id: str) -> list[Function]:
    """Return the functions of the program with this build ID, in hexadecimal, by their addresses.

    Empty if no debug file of it is on this host.
    """
    if not _BUILD_ID.fullmatch(build_id):
        return []
    for path in _places(build_id):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        if elf_symbols.build_id(content) == build_id:
            return elf_symbols.functions(content)
    return []


def _places(build_id: str) -> Iterator[Path]:
    yield INSTALLED / build_id[:2] / f"{build_id[2:]}.debug"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    fetched = os.environ.get("DEBUGINFOD_CACHE_PATH") or Path(cache) / "debuginfod_client"
    yield Path(fetched) / build_id / "debuginfo"
