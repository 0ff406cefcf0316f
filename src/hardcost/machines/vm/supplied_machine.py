"""The machine `vm` for another host's trials: its guests are made of files that came from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.machines.vm import argv
from hardcost.machines.vm.machine import GuestParts, VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from hardcost.supply.images.root_image import RootImage
from hardcost.supply.transfer import Order


class SuppliedMachine(VirtualMachine):
    """Guests of one order: nothing is fetched or built for them here but their snapshots."""

    def __init__(self, order: Order, files: Mapping[str, Path], cache: Cache) -> None:
        """Take what the order says; `files` are its supplies, by their digest.

        Raises:
            MachineError: This host would count something else than the one that the order is from.
        """
        parts = order.about
        if not isinstance(parts, GuestParts):
            raise TypeError(f"an order of the machine {self.name} says what a guest is made of")
        super().__init__(cache, parts.hardware)
        self._parts = parts
        kernel, initramfs, *disks = (files[one.digest] for one in order.supplies)
        own = tuple(replace(one, path=path) for one, path in zip(parts.disks, disks, strict=True))
        self._recipe = argv.Recipe(parts.hardware, order.boot, kernel, initramfs, disks=own)
        here, there = self.identity(order.boot), dict(order.identity)
        differing = [key for key in there if here.get(key) != there[key]]
        if differing:
            said = "; ".join(f"{key}: {here.get(key)}, not {there[key]}" for key in differing)
            raise MachineError(f"the same guest is another one on this host ({said})")

    def disks(self, boot: Boot) -> tuple[RootImage, ...]:  # noqa: ARG002  (the order's boot alone)
        """Return the disks that came."""
        return self._recipe.disks

    def kernel_name(self, boot: Boot) -> str:  # noqa: ARG002  (as above)
        """Return the kernel's name in the order; its image has the hash that was asked for."""
        return self._parts.kernel

    def recipe(self, boot: Boot) -> argv.Recipe:  # noqa: ARG002  (as above)
        """Return all that the order's guest is made of."""
        return self._recipe

    async def make_ready(self, boot: Boot) -> None:
        """Take the snapshot, unless it is in the cache; a kernel has come already."""
        if not argv.boots_afresh(boot):
            await super().make_ready(boot)

    def _initramfs_digest(self, boot: Boot) -> str:  # noqa: ARG002  (as above)
        return self._parts.initramfs

    def _title(self, boot: Boot) -> str:  # noqa: ARG002  (as above)
        return self._parts.title
