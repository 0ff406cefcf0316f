"""A guest's disk, wherever it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

GRAIN = 128 << 20  # bytes: sizes are multiples of it, since memory devices are mapped so


@dataclass(frozen=True)
class RootImage:
    """A raw disk, or a bare file system, of which guests only ever write copies.

    `digest` identifies its content, `title` describes it to a reader. `size` is in bytes, a
    multiple of 128 MiB. `packages` are the versions of the Debian packages in it, by name, if
    known. `partition` is the number of the partition with the file system, as Linux counts them;
    None if the whole image is the file system.
    """

    path: Path
    digest: str
    title: str
    size: int
    packages: dict[str, str] = field(default_factory=dict, hash=False)
    file_system: str = "ext4"
    partition: int | None = None
