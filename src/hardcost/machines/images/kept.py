"""What the cache keeps of an image beside its bytes."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from hardcost.errors import MachineError
from hardcost.machines.images import ext4
from hardcost.machines.images.image import RootImage

if TYPE_CHECKING:
    from pathlib import Path

_ABOUT = "image.json"


def keep(folder: Path, image: RootImage) -> None:
    """Record what is known of an image that lies in its folder of the cache, for `kept`."""
    said = dataclasses.asdict(image) | {"path": image.path.name}
    (folder / _ABOUT).write_text(json.dumps(said, indent=1), encoding="utf-8")


def kept(place: Path) -> RootImage:
    """Return an image of the cache, with what was recorded of it when it was made.

    Raises:
        MachineError: What was recorded can't be read.
    """
    try:
        said: dict[str, Any] = json.loads((place / _ABOUT).read_text(encoding="utf-8"))
        return RootImage(**(said | {"path": place / said["path"]}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MachineError(
            f"the image in {place} can't be read: {error}",
            hint=f"`hardcost image remove {place.name}` has it made anew",
        ) from error


def is_known(place: Path) -> bool:
    """Say whether an image that an older hardcost kept, without hashes, is what was recorded.

    What is named after something other than its content (`grown`) is not.
    """
    try:
        image = kept(place)
        return image.digest == ext4.content_digest(image.path)
    except (MachineError, OSError):
        return False
