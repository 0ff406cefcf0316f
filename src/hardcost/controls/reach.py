"""What a control acts on, and which measured calls reach it; the table is `exercised.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from hardcost.controls.control import BootParameter, Sysctl

if TYPE_CHECKING:
    from hardcost.controls.control import Control

_FILE = "exercised.toml"


@dataclass(frozen=True)
class Reach:
    """What a control acts on, in words, and the calls that reach it; `by` () where none does."""

    names: tuple[str, ...]
    acts_on: str
    by: tuple[str, ...]


def reach(control: Control) -> Reach | None:
    """Return what a control acts on; None where that is not known, or is anything."""
    if isinstance(control, Sysctl):
        name = control.key.replace("/", ".")
    elif isinstance(control, BootParameter):
        name = control.text.partition("=")[0].replace("-", "_")
    else:
        return None
    return next(
        (one for one in table() if any(fnmatchcase(name, each) for each in one.names)), None
    )


@cache
def table() -> tuple[Reach, ...]:
    """Return all that is known of what controls act on."""
    text = resources.files("hardcost.controls").joinpath(_FILE).read_text(encoding="utf-8")
    return tuple(
        Reach(tuple(entry["names"]), entry["acts_on"], tuple(entry["by"]))
        for entry in tomllib.loads(text)["control"]
    )
