"""Where a Debian guest's disks come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hardcost.supply.cache.cache import Cache
from hardcost.supply.images.debian import debian_image
from hardcost.supply.images.root_image import RootImage
from hardcost.supply.images.source_tree import tree_image
from hardcost.supply.images.user_root_kernel import OwnKernel, own_kernel
from hardcost.supply.progress import ImageProgress


class Roots(Protocol):
    """The images of guests' disks, made on first use."""

    def root(self, cache: Cache) -> RootImage:
        """Return the root.

        Raises:
            InputError: It is one of the user's, and can't be one.
            MachineError: It can't be made.
        """
        ...

    def kernel(self, cache: Cache) -> OwnKernel | None:
        """Return the kernel that the root has for itself; None where Debian's is to be booted.

        Raises:
            MachineError: It can't be taken out.
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

    def __init__(
        self,
        report: Callable[[ImageProgress | None], None] | None = None,
        release: str | None = None,
    ) -> None:
        """Have `report` called with how far the making of the root is.

        It is that of a release of Debian, by default of the host's.
        """
        self._report = report
        self._release = release
        self._made: RootImage | None = None

    def root(self, cache: Cache) -> RootImage:
        """Return the root, the same for as long as this lives."""
        if self._made is None:
            self._made = debian_image(cache, self._report, self._release)
        return self._made

    def kernel(self, cache: Cache) -> OwnKernel | None:  # noqa: ARG002  (the protocol's)
        """Return None: the root has no kernel."""
        return None

    def tree(self, cache: Cache, files: int) -> RootImage:
        """Return Linux's source."""
        return tree_image(cache, files)


class OwnRoots:
    """A root of the user's, made an image by `make`, with its own kernel where it has one."""

    def __init__(self, make: Callable[[Cache], RootImage]) -> None:
        self._make = make
        self._made: RootImage | None = None

    def root(self, cache: Cache) -> RootImage:
        """Return the root, looked at once."""
        if self._made is None:
            self._made = self._make(cache)
        return self._made

    def kernel(self, cache: Cache) -> OwnKernel | None:
        """Return the root's own kernel."""
        return own_kernel(self.root(cache), cache)

    def tree(self, cache: Cache, files: int) -> RootImage:
        """Return Linux's source."""
        return tree_image(cache, files)
