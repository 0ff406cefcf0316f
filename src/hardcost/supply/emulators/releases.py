"""Which releases of Debian have a QEMU that is fetched, and in which version it was tried."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict, TypeAdapter

PACKAGE = "qemu-system-x86"
"""The package that holds the program; its version is QEMU's."""


class Pinned(BaseModel):
    """A package in the version that was tried; `sha256` is its file's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    sha256: str


class DebianRelease(BaseModel):
    """A release: what decides counts, in the versions that were tried, and libraries by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    codename: str
    libraries: tuple[str, ...]
    packages: Mapping[str, Pinned]

    @property
    def version(self) -> str:
        """The version of QEMU's package that was tried."""
        return self.packages[PACKAGE].version


@cache
def releases() -> Mapping[str, DebianRelease]:
    """Return the releases by their numbers."""
    text = (resources.files("hardcost.supply.emulators") / "releases.toml").read_text("utf-8")
    return TypeAdapter(dict[str, DebianRelease]).validate_python(tomllib.loads(text))
