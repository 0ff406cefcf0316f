"""Initramfs archives: the cpio format "newc", the same bytes for the same content.

Trials' counts depend on these bytes, so no library's version may change them.

Source of the format: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True)
class ArchiveFile:
    """One entry: `mode` holds type and permissions, `content` a file's bytes or a link's target."""

    path: str
    mode: int
    content: bytes = b""


def regular(path: str, content: bytes, permissions: int = 0o644) -> ArchiveFile:
    """Return an entry for a regular file."""
    return ArchiveFile(path, stat.S_IFREG | permissions, content)


def link(path: str, target: str) -> ArchiveFile:
    """Return an entry for a symbolic link."""
    return ArchiveFile(path, stat.S_IFLNK | 0o777, target.encode())


def archive(files: list[ArchiveFile]) -> bytes:
    """Return the archive of `files`, owned by root, with every folder above them."""
    entries = {folder: ArchiveFile(folder, stat.S_IFDIR | 0o755) for folder in _folders(files)}
    entries |= {file.path: file for file in files}
    ordered = [entries[path] for path in sorted(entries)]
    body = b"".join(_entry(number, file) for number, file in enumerate(ordered, start=1))
    return body + _entry(0, ArchiveFile("TRAILER!!!", 0))


def _folders(files: list[ArchiveFile]) -> set[str]:
    return {
        str(parent)
        for file in files
        for parent in PurePosixPath(file.path).parents
        if str(parent) != "."
    }


def _entry(number: int, file: ArchiveFile) -> bytes:
    name = file.path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(file.mode) else 1
    fields = (number, file.mode, 0, 0, links, 0, len(file.content), 0, 0, 0, 0, len(name), 0)
    header = b"070701" + b"".join(b"%08x" % field for field in fields)
    return _pad_to_four(header + name) + _pad_to_four(file.content)


def _pad_to_four(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)
