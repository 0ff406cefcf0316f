"""The rows of `hardcost list controls`, kept in the cache: reading SCAP content takes seconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hardcost.cli.lazy import imported
from hardcost.errors import HardcostError, MachineError
from hardcost.files import json_value, own_code
from hardcost.machines.cache import Cache, digest

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]
_KIND = "listings"
_FILE = "controls.json"
_MOST_BYTES = 4 << 20  # of listings in the cache: some ten


def rows() -> list[Row]:
    """Return the controls of the catalogue; nothing is fetched for it.

    They are read once for each version of hardcost and each set of packages in the cache.
    """
    cache = Cache()
    packages = cache.root / "packages"
    if not packages.is_dir():
        return _read(cache)
    there = sorted(one.name for one in packages.iterdir())
    name = digest({"code": own_code(), "packages": " ".join(there)})

    def fill(folder: Path) -> None:
        (folder / _FILE).write_text(json.dumps(_read(cache)))

    place = cache.make(_KIND, name, "the catalogue's controls", fill)
    cache.make_room(_KIND, _MOST_BYTES)
    found: list[Row] = json_value((place / _FILE).read_bytes())
    return found


def _read(cache: Cache) -> list[Row]:
    def at_hand(package: str) -> Path:
        kept: Path | None = imported("hardcost.machines.debianpackages:kept")(cache, package)
        if kept is None:
            raise MachineError(
                f"unknown here: the Debian package {package} is fetched when the profile is billed"
            )
        return kept

    load = imported("hardcost.profiles.catalogue:load")
    found: list[Row] = []
    for name in imported("hardcost.profiles.catalogue:titles")():
        try:
            profile = load(name, at_hand)
        except HardcostError as error:
            found.append(
                {"profile": name, "mechanism": "unknown", "control": str(error), "ids": ""}
            )
            continue
        found += [
            {
                "profile": profile.name,
                "mechanism": type(control).__name__,
                "control": control.name,
                "ids": " ".join(one for one in control.ids if not one.startswith("SRG-")),
            }
            for control in profile.controls
        ]
    return found
