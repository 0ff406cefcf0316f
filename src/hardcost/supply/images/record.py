"""The facts about an image that the cache records beside its bytes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from hardcost.errors import MachineError
from hardcost.files import json_value
from hardcost.supply.images import ext4
from hardcost.supply.images.root_image import RootImage

_ABOUT = "image.json"


def keep(folder: Path, image: RootImage) -> None:
    """Record the properties of an image in its folder of the cache, for `load_image`."""
    record = dataclasses.asdict(image) | {"path": image.path.name}
    (folder / _ABOUT).write_text(json.dumps(record, indent=1), encoding="utf-8")


def load_image(place: Path) -> RootImage:
    """Return an image of the cache, with the properties recorded when it was made.

    Raises:
        MachineError: The record can't be read.
    """
    try:
        record: dict[str, Any] = json_value((place / _ABOUT).read_text(encoding="utf-8"))
        return RootImage(**(record | {"path": place / record["path"]}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MachineError(
            f"the image in {place} can't be read: {error}",
            hint=f"`hardcost image remove {place.name}`: the next run makes it again",
        ) from error


def is_known(place: Path) -> bool:
    """Say whether an image that an older hardcost kept, without hashes, matches its record.

    An image that is not named after its content (`grown`) does not.
    """
    try:
        image = load_image(place)
        return image.digest == ext4.content_digest(image.path)
    except (MachineError, OSError):
        return False
