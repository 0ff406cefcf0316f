"""Controls whose cost an instruction count does not show, with reasons and valid values.

The table is `blind_spots.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

_FILE = "blind_spots.toml"


@dataclass(frozen=True)
class Uncounted:
    """Why a count shows less than a control's cost; its valid `values`, empty if any is valid."""

    reason: str
    values: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()


def blind_spot_of(kind: Literal["boot", "option"], name: str) -> Uncounted | None:
    """Return the table's text on a boot parameter or a kernel option; None if it has none."""
    return _table()[kind].get(name)


@cache
def _table() -> Mapping[str, Mapping[str, Uncounted]]:
    """Return the table's entries for boot parameters and kernel options, by name."""
    text = resources.files("hardcost.controls").joinpath(_FILE).read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return {
        kind: {
            name: Uncounted(
                data["reasons"][entry["reason"]],
                tuple(entry.get("values", ())),
                tuple(entry.get("prefixes", ())),
            )
            for entry in data[kind]
            for name in entry["names"]
        }
        for kind in ("boot", "option")
    }
