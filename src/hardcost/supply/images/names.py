"""The roots of guests that hardcost makes itself, by name: there is one, `debian`."""

from __future__ import annotations

from collections.abc import Callable

from hardcost.errors import InputError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.images import debian
from hardcost.supply.images.root_image import RootImage
from hardcost.supply.progress import ImageProgress

_KINDS = {"debian": (debian.debian_image, debian.PACKAGES)}


def make(
    name: str,
    cache: Cache,
    report: Callable[[ImageProgress | None], None] | None = None,
    release: str | None = None,
) -> tuple[RootImage, tuple[str, ...]]:
    """Return a root, made on first use, and the packages that it was made to hold.

    It is of a release of Debian, by default of the host's, and holds what these need, too. `report`
    is called about each second with the current step, and finally with None.

    Raises:
        InputError: There is none of that name.
        MachineError: It can't be made.
    """
    if name not in _KINDS:
        raise InputError(f"there is no image '{name}'", hint=f"there are: {', '.join(_KINDS)}")
    made, packages = _KINDS[name]
    return made(cache, report, release), packages
