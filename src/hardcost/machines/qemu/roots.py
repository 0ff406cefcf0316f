"""Where a Debian guest's disks come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hardcost.machines.images import debian, tree

if TYPE_CHECKING:
    from hardcost.machines.cache import Cache
    from hardcost.machines.images.image import RootImage


class Roots(Protocol):
    """What gives the images that guests have for disks, made on first use."""

    def root(self, cache: Cache) -> RootImage:
        """Return the root.

        Raises:
            MachineError: It can't be made.
        """
        ...

    def tree(self, cache: Cache, files: int) -> RootImage:
        """Return Linux's source, so many files of it.

        Raises:
            MachineError: It can't be made.
        """
        ...


class DebianRoots:
    """Debian with the services that workloads drive, and Linux's source, both made here."""

    def root(self, cache: Cache) -> RootImage:
        """Return the root."""
        return debian.debian_image(cache)

    def tree(self, cache: Cache, files: int) -> RootImage:
        """Return Linux's source."""
        return tree.tree_image(cache, files)
