"""Cleaning up what killed runs left in the cache: scratch folders, entries half made or removed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from hardcost.supply.cache import folders

ENTRY_NAME = re.compile("[0-9a-f]{16,64}|ccache")
"""The name of an entry.

Nothing is removed but entries and what has such names as below: a user may have named a folder that
holds more than a cache.
"""

_SCRATCH_LOCK = re.compile(r"\d+-\w{8}\.lock")
_HALF_DONE = re.compile(r"\.(.+)-(?:\w{8}|\d+\.\d+)")


def remove(root: Path, kinds: Sequence[str]) -> None:
    """Remove what killed runs left in the cache at `root`; what a live run locks stays."""
    for lock in (root / "scratch").glob("*.lock"):
        if _SCRATCH_LOCK.fullmatch(lock.name) and folders.sweep(lock, lock.with_suffix("")):
            lock.unlink(missing_ok=True)
    for kind in kinds:
        for folder in (root / kind).glob(".*-*"):
            entry = _entry_of(folder)
            if entry is None or not ENTRY_NAME.fullmatch(entry):
                continue
            lock = root / "locks" / f"{kind}-{entry}"
            if not lock.exists():  # a maker always locks first
                folders.delete(folder)
            folders.sweep(lock, folder)


def remove_of_entry(place: Path) -> None:
    """Remove what is half made or half removed of the entry at `place`, whose lock we hold."""
    for folder in place.parent.glob(f".{place.name}-*"):
        if _entry_of(folder) == place.name:
            shutil.rmtree(folder, ignore_errors=True)


def _entry_of(folder: Path) -> str | None:
    """Return the entry that a half made or half removed folder was of; None for other folders."""
    match = _HALF_DONE.fullmatch(folder.name)
    return None if match is None else match[1]
