"""Kernels that another host orders: its configuration and patches, on a source that came along."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.protocol.boot import KernelRecipe
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels import source
from hardcost.supply.kernels.builder import Kernels
from hardcost.supply.kernels.identity import KernelParts, Patched
from hardcost.supply.kernels.source import KernelSource
from hardcost.supply.transfer import Order


class OrderedKernels(Kernels):
    """The kernel of one order; no file that its recipe names is read here."""

    def __init__(
        self, order: Order, files: Mapping[str, Path], cache: Cache, jobs: int | None = None
    ) -> None:
        """Unpack the source, unless it is in the cache; `files` are the supplies, by digest.

        Raises:
            InputError: make can't work in the cache.
            MachineError: The source is another, or this host would build another kernel of it.
        """
        parts, recipe = order.about, order.boot.kernel
        if not isinstance(parts, KernelParts) or recipe is None:
            raise TypeError("an order for a kernel says what it is made of")
        self.recipe = recipe
        self._parts = parts
        source.fit_for_cache(cache)
        (archive,) = (files[one.digest] for one in order.supplies)
        self._unpacked = source.unpack_source(cache, parts.source, archive)
        own = None if parts.source.is_debians else self._unpacked.folder
        super().__init__(cache, own, jobs=jobs)
        name = self.name(recipe)
        if name != parts.name:
            raise MachineError(
                f"the kernel {parts.title} would be another one on this host ({name}, not"
                f" {parts.name})",
                hint="the same compiler and linker are needed on all hosts that build kernels",
            )

    @cached_property
    def source(self) -> KernelSource:
        """The source that came."""
        return self._unpacked

    def title(self, recipe: KernelRecipe) -> str:  # noqa: ARG002  (the order's recipe alone)
        """Return the name that the order gives it."""
        return self._parts.title

    def _read_patches(self, recipe: KernelRecipe) -> Patched:  # noqa: ARG002  (as above)
        """Return the result of patches, as it came."""
        parts = self._parts
        return Patched(
            parts.names, parts.foreign, (), parts.overlay, *self._source_for_kconfig(parts.overlay)
        )

    def _request_record(self, recipe: KernelRecipe) -> dict[str, str]:  # noqa: ARG002  (as above)
        return dict(self._parts.asked)

    def _resolved_config(self, recipe: KernelRecipe) -> str:  # noqa: ARG002  (as above)
        return self._parts.config
