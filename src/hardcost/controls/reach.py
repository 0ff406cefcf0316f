"""The parts of the system that controls act on, and the calls that reach them (`reach.toml`)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources

_FILE = "reach.toml"


@dataclass(frozen=True)
class Reach:
    """The part of the system that a control acts on, and the calls that reach it, if any."""

    names: tuple[str, ...]
    acts_on: str
    by: tuple[str, ...]


def reach(name: str) -> Reach | None:
    """Return the reach of the sysctl or boot parameter `name`; None if it is unknown."""
    return next(
        (one for one in table() if any(fnmatchcase(name, each) for each in one.names)), None
    )


@cache
def table() -> tuple[Reach, ...]:
    """Return the reach of every control for which it is known."""
    text = resources.files("hardcost.controls").joinpath(_FILE).read_text(encoding="utf-8")
    return tuple(
        Reach(tuple(entry["names"]), entry["acts_on"], tuple(entry["by"]))
        for entry in tomllib.loads(text)["control"]
    )
