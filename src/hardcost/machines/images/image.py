"""What a guest's disk is, wherever it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GRAIN = 128 << 20  # bytes: sizes are multiples of it, since that is how memory devices are mapped


@dataclass(frozen=True)
class RootImage:
    """A raw disk, or a file system without one around it, that guests only ever write copies of.

    `digest` names what is in it, `title` says it to a reader. `size` is in bytes, a multiple of
    128 MiB. `packages` are the versions of the Debian packages in it, by name, where they are
    known. `partition` is the number of the partition that holds the file system, as Linux counts
    them; None where the whole image is the file system.
    """

    path: Path
    digest: str
    title: str
    size: int
    packages: dict[str, str] = field(default_factory=dict, hash=False)
    file_system: str = "ext4"
    partition: int | None = None
