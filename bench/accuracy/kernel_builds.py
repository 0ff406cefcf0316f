"""Whether kernel builds are reproducible.

Run as `python -m bench.accuracy.kernel_builds [OPTION=VALUE …]`.

Builds the lean kernel, the same with the patches of the series `flat`, and one with the options
given (by default RANDSTRUCT_FULL=y and GCC_PLUGIN_LATENT_ENTROPY=y, which both draw random
numbers). Then it builds each again after another kernel, and finally the last two from nothing.
Prints seconds, steps and hashes; status 1 if two kernels of one recipe differ. Debian's source
comes from the user's cache, all else is built.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

from hardcost.mechanisms.kconfig import KernelOption
from hardcost.protocol.boot import KernelRecipe
from hardcost.supply.cache.built_kernels import Built
from hardcost.supply.cache.cache import Cache
from hardcost.supply.cache.location import default_root
from hardcost.supply.kernels.builder import Kernels

RANDOM = ("RANDSTRUCT_FULL=y", "GCC_PLUGIN_LATENT_ENTROPY=y")


def main() -> int:
    """Build, compare, and return the exit status."""
    options = [KernelOption.of(text) for text in sys.argv[1:] or RANDOM]
    lean = KernelRecipe("lean")
    patched = KernelRecipe("lean", patches=("flat",))
    treated = KernelRecipe("lean", tuple((one.option, one.value) for one in options))
    base = default_root()
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=base, prefix="bench-") as folder:
        root = Path(folder)
        for kind in ("sources", "packages"):
            (base / kind).mkdir(exist_ok=True)
            shutil.copytree(base / kind, root / kind, copy_function=os.link, symlinks=True)
        seen: dict[KernelRecipe, set[str]] = {lean: set(), patched: set(), treated: set()}
        for how in ("first", "after another"):
            for recipe, hashes in seen.items():
                hashes.add(shown(how, build(root, recipe)))
                shutil.rmtree(root / "kernels")
        for recipe in (patched, treated):
            shutil.rmtree(root / "builds")  # with all of ccache's contents
            seen[recipe].add(shown("from nothing", build(root, recipe)))
            shutil.rmtree(root / "kernels")
    differ = any(len(hashes) > 1 for hashes in seen.values())
    print("kernels of one recipe differ" if differ else "kernels of one recipe are the same")
    return int(differ)


def build(root: Path, recipe: KernelRecipe) -> Built:
    """Build a kernel with a cache of its own."""
    return asyncio.run(Kernels(Cache(root)).build(recipe))


def shown(how: str, kernel: Built) -> str:
    """Print the cost of a build, and return the hash of its result."""
    about = kernel.about
    what = about["options"] or ("lean, flat" if kernel.patches else "lean")
    print(
        f"{what:50} {how:32} {about['seconds']:>5} s {about['steps']:>5} steps  {about['sha256']}"
    )
    return about["sha256"]


if __name__ == "__main__":
    sys.exit(main())
