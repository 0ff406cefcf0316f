"""Results of builds: kernels in the cache, and texts beside them that are kept with a hash."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from auditrules.library.files import LARGEST_TEXT
from hardcost.files import own_text, put_own
from hardcost.supply.cache.cache import Cache, digest, file_digest
from hardcost.supply.cache.manifest import WHOLE

ABOUT = "about.json"
"""The record of a build, beside the kernel."""


@dataclass(frozen=True)
class Built:
    """A kernel in the cache: the bootable image, its symbols, configuration and build record."""

    name: str
    image: Path
    symbols: Path
    config: Path
    release: str
    about: dict[str, str]

    @property
    def patches(self) -> tuple[str, ...]:
        """The names of the patches to its source, in order of application."""
        return tuple(self.about.get("patches", "").splitlines())


def kernel_in_folder(folder: Path) -> Built:
    """Return the kernel in a folder of the cache."""
    about = json.loads(own_text(folder / ABOUT))
    return Built(
        name=folder.name,
        image=folder / "vmlinux",
        symbols=folder / "System.map",
        config=folder / "config",
        release=own_text(folder / "release"),
        about=about,
    )


def kept_kernels(cache: Cache, parts: Sequence[str] = WHOLE) -> Iterator[Built]:
    """Return every kernel in the cache that hardcost has built, with these parts undamaged."""
    for about in sorted((cache.root / "kernels").glob(f"*/{ABOUT}")):
        name = about.parent.name
        if not name.startswith("."):
            folder = cache.find("kernels", name, parts, known=is_known)
            if folder is not None:
                yield kernel_in_folder(folder)


def is_known(folder: Path) -> bool:
    """Say whether a kernel that an older hardcost built, without a manifest, is undamaged."""
    try:
        return bool(kernel_in_folder(folder).about["sha256"] == file_digest(folder / "vmlinux"))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_sealed(path: Path, text: str) -> None:
    """Write a text with its hash, so that an incomplete or damaged one is never read."""
    put_own(path, f"{digest({'text': text})}\n{text}".encode())


def read_sealed(path: Path, most: int = LARGEST_TEXT) -> str | None:
    """Return a text of at most so many bytes from `write_sealed`; None: missing or damaged."""
    try:
        seal, _, text = own_text(path, most).partition("\n")
    except (OSError, ValueError):
        return None
    return text if seal == digest({"text": text}) else None
