"""The roots of guests that hardcost makes itself, by name: there is one, `debian`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.errors import InputError
from hardcost.machines.images import debianimage

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardcost.machines.cache import Cache
    from hardcost.machines.images.rootimage import RootImage
    from hardcost.machines.progress import ImageProgress

_KINDS = {"debian": (debianimage.debian_image, debianimage.PACKAGES)}


def make(
    name: str, cache: Cache, report: Callable[[ImageProgress | None], None] | None = None
) -> tuple[RootImage, tuple[str, ...]]:
    """Return a root, made on first use, and the packages that it was made to hold.

    It holds what these need, too. `report` is called about each second with the current step, and
    finally with None.

    Raises:
        InputError: There is none of that name.
        MachineError: It can't be made.
    """
    if name not in _KINDS:
        raise InputError(f"there is no image '{name}'", hint=f"there are: {', '.join(_KINDS)}")
    made, packages = _KINDS[name]
    return made(cache, report), packages
