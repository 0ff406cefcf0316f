"""The members of an archive, read by libarchive within limits, and written below a folder.

It runs in the process that `supply/packages/unpack.py` starts. libarchive bounds what precedes a
member: 32 headers, and 1 MiB for names and attributes. The rest is bounded here.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import os
from dataclasses import dataclass
from typing import Literal

from hardcost import decompress
from hardcost.decompress import DamagedError

os.environ.setdefault("LIBARCHIVE", "libarchive.so.13")  # else programs run to look for it
import re
from collections.abc import Callable, Iterable, Iterator
from ctypes import Array, c_char
from pathlib import Path

import libarchive
from libarchive.exception import ArchiveError

ArchiveForm = Literal["ar", "cpio", "tar"]
MemberKind = Literal["file", "folder", "link", "hard link", "other"]

MOST_BYTES = 8 << 30
"""Bytes of an archive, unpacked; Debian's kernel with its debug data has 5.8 billion."""
MOST_MEMBERS = 1 << 16
"""Members of an archive, and folders above them that are none; kernels have some 5,000."""
DEEPEST = 32
"""Folders above a member; a kernel's modules have some ten."""
LONGEST_NAME = 4096
"""Bytes of a path; Linux takes no longer one."""

_AT_ONCE = 1 << 18
_SHOWN = 80  # characters of a name in a message


@dataclass(frozen=True)
class Member:
    """One member: `target` is what a link leads to, `blocks` yields the content."""

    name: str
    kind: MemberKind
    permissions: int
    target: str
    blocks: Callable[[], Iterator[bytes]]


class _Warned(logging.Handler):
    """Refuses what libarchive only warns of: skipped bytes and ignored attributes."""

    def emit(self, record: logging.LogRecord) -> None:
        raise DamagedError(f"its archive is damaged: {record.getMessage()}")


_log = logging.getLogger("libarchive")
_log.propagate = False
_log.handlers = [_Warned()]


class _Stream(io.RawIOBase):
    """Parts as a stream that libarchive reads.

    `count` is how many bytes they had so far, `given` how many came out as content of members,
    `error` is what ended them.
    """

    def __init__(self, parts: Iterator[bytes]) -> None:
        super().__init__()
        self._parts, self._held = parts, memoryview(b"")
        self.count = self.given = 0
        self.error: BaseException | None = None

    def readinto(self, buffer: Array[c_char]) -> int:  # type: ignore[override]
        """Fill a buffer, as far as there is something; -1 where the data are damaged.

        libarchive calls it, and no exception gets through that.
        """
        try:
            if not self._held:
                self._held = memoryview(next(self._parts, b""))
                self.count += len(self._held)
                if self.count > MOST_BYTES:
                    raise DamagedError(f"it has more than {MOST_BYTES >> 30} GiB, unpacked")  # noqa: TRY301  (as any other)
        except BaseException as error:  # noqa: BLE001  (`_raise_stream_error` raises it again)
            self.error = error
            return -1
        size = min(len(buffer), len(self._held))
        memoryview(buffer).cast("B")[:size] = self._held[:size]
        self._held = self._held[size:]
        return size


def members(parts: Iterator[bytes], form: ArchiveForm) -> Iterator[Member]:
    """Yield an archive's members in their order; the content of one is read before the next.

    Raises:
        DamagedError: It is damaged, or runs over a limit.
    """
    stream = _Stream(parts)
    with (
        _raise_stream_error(stream),
        libarchive.stream_reader(stream, form, "none", _AT_ONCE) as archive,
    ):
        for count, entry in enumerate(archive, start=1):
            if count > MOST_MEMBERS:
                raise DamagedError(f"it has more than {MOST_MEMBERS:,} members")
            yield _member(entry, stream)


@contextlib.contextmanager
def _raise_stream_error(stream: _Stream) -> Iterator[None]:
    """Raise what ended a stream instead of what libarchive made of that."""
    try:
        yield
    except ArchiveError as error:
        if stream.error is None:
            why = error.msg or decompress.TOO_EARLY
            raise DamagedError(f"its archive is damaged: {why}") from None
        if isinstance(stream.error, MemoryError) or not isinstance(stream.error, decompress.ERRORS):
            raise stream.error from None
        raise DamagedError(str(stream.error) or decompress.TOO_EARLY) from None


def _member(entry: libarchive.ArchiveEntry, stream: _Stream) -> Member:
    name = _text(entry.pathname)
    size = len(os.fsencode(name))
    if not 0 < size < LONGEST_NAME:
        raise DamagedError(f"a name in its archive has {size} bytes")
    if name.count("/") > DEEPEST:
        raise DamagedError(f"{name_in_message(name)} lies below more than {DEEPEST} folders")

    def blocks() -> Iterator[bytes]:
        with _raise_stream_error(stream):
            for block in entry.get_blocks(_AT_ONCE):
                stream.given += len(block)
                if stream.given > stream.count:
                    raise DamagedError(
                        f"{name_in_message(name)} has holes and is larger than its archive"
                    )
                yield block

    if entry.islnk:
        return Member(name, "hard link", entry.perm, _text(entry.linkname), blocks)
    if entry.issym:
        return Member(name, "link", entry.perm, _text(entry.linkname), blocks)
    kind: MemberKind = "file" if entry.isreg else "folder" if entry.isdir else "other"
    return Member(name, kind, entry.perm, "", blocks)


def _text(name: str | bytes | None) -> str:
    """Return a name, which libarchive hands over as bytes where they are no UTF-8."""
    return os.fsdecode(name or "")


def name_in_message(name: str) -> str:
    """Return a name for a message."""
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")


def write(found: Iterable[Member], folder: Path, wanted: re.Pattern[str] | None) -> None:
    """Write folders, files and links below a folder, or only the files that `wanted` matches.

    Devices are left out. Nothing is written outside of the folder, nor through a link.

    Raises:
        DamagedError: A path leads outside or is there twice, or a link leads to nothing.
        OSError: It can't be written.
    """
    linked = folders = 0
    for member in found:
        if wanted is not None and not _is_wanted(member, wanted):
            continue
        path = _path_below(member.name, folder)
        if path == folder:
            continue
        folders += _make_way(member, path)
        if folders > MOST_MEMBERS:
            raise DamagedError(f"its members lie in more than {MOST_MEMBERS:,} folders")
        match member.kind:
            case "folder":
                path.mkdir(exist_ok=True)
            case "link":
                path.symlink_to(member.target)
            case "hard link":
                linked += _link(member, path, folder)
                if linked > MOST_BYTES:
                    raise DamagedError(f"its hard links have more than {MOST_BYTES >> 30} GiB")
            case "file":
                _fill(path, member.blocks(), member.permissions)


def _make_way(member: Member, path: Path) -> int:
    """Make the folders above a path, at which nothing is yet; return how many were made."""
    made = sum(1 for _ in itertools.takewhile(lambda one: not one.exists(), path.parents))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DamagedError(f"{name_in_message(member.name)} lies below a file") from None
    if path.is_symlink() or (path.exists() and not (member.kind == "folder" and path.is_dir())):
        raise DamagedError(f"{name_in_message(member.name)} is in it twice")
    return made


def _is_wanted(member: Member, wanted: re.Pattern[str]) -> bool:
    is_file = member.kind in {"file", "hard link"}
    return is_file and wanted.match(member.name.removeprefix("./")) is not None


def _link(member: Member, path: Path, folder: Path) -> int:
    """Make a hard link, and return the size of the file.

    In a cpio archive the last link to a file has its content.
    """
    target = _path_below(member.target, folder)
    blocks = member.blocks()
    first = next(blocks, b"")
    if os.path.lexists(target):
        os.link(target, path, follow_symlinks=False)
    elif not first:
        raise DamagedError(
            f"{name_in_message(member.name)} is a link to {name_in_message(member.target)}: nothing"
        )
    if first:
        _fill(path, itertools.chain([first], blocks), member.permissions)
    return path.lstat().st_size


def _fill(path: Path, blocks: Iterator[bytes], permissions: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123  (a descriptor)
        file.writelines(blocks)
        os.fchmod(descriptor, permissions & 0o755)


def _path_below(name: str, folder: Path) -> Path:
    """Return where a path of an archive is below a folder, with no link on the way there."""
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise DamagedError(f"the path {name_in_message(name)} leads outside")
    path = folder
    for part in parts[:-1]:
        path /= part
        if path.is_symlink():
            raise DamagedError(f"the path {name_in_message(name)} leads through a link")
    return path / parts[-1] if parts else folder
