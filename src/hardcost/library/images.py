"""Roots of guests, and the entries of the cache that boot them."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from hardcost.measure.monitor import Monitor
from hardcost.supply.cache.cache import Cache, CacheEntry
from hardcost.supply.images.names import make
from hardcost.supply.packages.guest_release import codename


class BuiltImage(BaseModel):
    """The root image of guests with services, the seconds it took, and its packages' versions.

    `bytes` is the room in the guest. `asked` says which packages were asked for.
    """

    model_config = ConfigDict(frozen=True)

    path: Path
    title: str
    digest: str
    bytes: int
    bytes_on_disk: int
    seconds: float
    packages: dict[str, str]
    asked: str = Field(exclude=True)


class KeptEntry(BaseModel):
    """Something that the cache keeps; `used` is when, last, as ISO 8601 in UTC."""

    model_config = ConfigDict(frozen=True)

    kind: str
    name: str
    title: str
    bytes: int
    used: str
    path: Path


def build(what: str, monitor: Monitor, guest: str | None = None) -> BuiltImage:
    """Build the root image of guests with services, unless it is kept.

    It is of the release of Debian that `guest` names, as for `MachineOptions`.

    Raises:
        InputError: There is no such image or release.
        MachineError: It can't be built.
    """
    since = time.monotonic()
    made, packages = make(what, Cache(), monitor.underway, codename(guest))
    return BuiltImage(
        path=made.path,
        title=made.title,
        digest=made.digest,
        bytes=made.size,
        bytes_on_disk=made.path.stat().st_blocks * 512,
        seconds=round(time.monotonic() - since, 1),
        packages=dict(made.packages),
        asked=", ".join(f"{name} {made.packages[name]}" for name in packages),
    )


def root() -> Path:
    """Return the folder of the cache."""
    return Cache().root


def cache_entries() -> tuple[KeptEntry, ...]:
    """Return the packages, kernels, emulators, guests, images and snapshots in the cache."""
    return tuple(
        KeptEntry(
            kind=entry.kind,
            name=entry.name,
            title=entry.title,
            bytes=entry.size,
            used=datetime.fromtimestamp(entry.used, UTC).isoformat(timespec="seconds"),
            path=entry.path,
        )
        for entry in Cache().entries()
    )


def remove_entries(
    names: tuple[str, ...],
    older_than: timedelta | None,
    *,
    snapshots: bool,
    dry_run: bool,
) -> tuple[tuple[CacheEntry, ...], tuple[CacheEntry, ...]]:
    """Remove the named entries, or all old ones; return those removed, and those in use.

    With `dry_run` nothing is removed.

    Raises:
        InputError: Nothing has a name, or several things do.
    """
    cache = Cache()
    if names:
        chosen = cache.entries_named(names)
    else:
        chosen = cache.entries(["snapshots"]) if snapshots else cache.entries()
        if older_than is not None:
            since = (datetime.now(UTC) - older_than).timestamp()
            chosen = tuple(entry for entry in chosen if entry.used < since)
    return (chosen, ()) if dry_run else cache.remove(chosen)
