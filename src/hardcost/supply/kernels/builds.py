"""How the user's kernels are built: from which source, how many at a time, and how confined."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host import compiler, sandbox
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.builder import FILES, Kernels
from hardcost.supply.kernels.make import Trust
from hardcost.supply.kernels.ordered_kernels import OrderedKernels
from hardcost.supply.progress import Listener
from hardcost.supply.transfer import Order, Supply, supply_of


def kernels(
    cache: Cache,
    listener: Listener,
    source: Path | None = None,
    jobs: int | None = None,
    *,
    unconfined: bool,
) -> Kernels:
    """Return the builder of kernels from a source (None: Debian's), `jobs` compilers at a time."""
    trust = Trust(unconfined=unconfined, warn=lambda text: listener.note(f"note: {text}"))
    return Kernels(cache, source, jobs=jobs, report=listener.underway, trust=trust)


def build_facts() -> dict[str, str]:
    """Return the facts about this host that decide a kernel's bytes: the compiler and linker.

    Raises:
        MachineError: Programs are missing.
    """
    found = compiler.find()
    found.need_all()
    return {"compiler": found.versions}


def check_builder() -> None:
    """Check that kernels can be built here for other hosts: confined, whoever they are from.

    Raises:
        MachineError: Programs are missing, or there is no sandbox.
    """
    compiler.find().need_all()
    reason = sandbox.why_not()
    if reason is not None:
        raise MachineError(
            f"kernels for other hosts are built in a sandbox only: {reason}", hint=sandbox.REMEDY
        )


async def built(
    order: Order, files: Mapping[str, Path], cache: Cache, jobs: int
) -> tuple[Supply, ...]:
    """Build the kernel that another host orders, unless it is in the cache; return its files.

    Raises:
        MachineError: The build fails, or the same order is another kernel here.
    """
    ordered = OrderedKernels(order, files, cache, jobs)
    folder = (await ordered.build(ordered.recipe)).image.parent
    return tuple(supply_of(folder / name, name, cache.root) for name in FILES)
