"""How the user's kernels are built: from which source, how many at a time, and how confined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.machines.kernels.builder import Kernels
from hardcost.machines.kernels.make import Trust

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.machines.cache import Cache
    from hardcost.machines.progress import Listener


def kernels(
    cache: Cache,
    listener: Listener,
    source: Path | None = None,
    jobs: int | None = None,
    *,
    unconfined: bool,
) -> Kernels:
    """Return what builds kernels from a source (None: Debian's), `jobs` compilers at a time."""
    trust = Trust(unconfined=unconfined, warn=lambda text: listener.note(f"note: {text}"))
    return Kernels(cache, source, jobs=jobs, report=listener.underway, trust=trust)
