"""What controls act on, and which measured calls reach it; the table is `reach.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources

_FILE = "reach.toml"


@dataclass(frozen=True)
class Reach:
    """What a control acts on, in words, and the calls that reach it; `by` () where none does."""

    names: tuple[str, ...]
    acts_on: str
    by: tuple[str, ...]


def reach(name: str) -> Reach | None:
    """Return what a sysctl or boot parameter of that name acts on; None where it is not known."""
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
