"""Debian's packages as files: what one says of itself, and its content, without dpkg.

The format is deb(5): an ar archive of a version, a packed tar with the control file, and one with
the files. Nothing of a package is run, nothing is written outside, and sizes are bounded.
"""

from __future__ import annotations

import io
import re
import shutil
import tarfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from hardcost import files
from hardcost.machines import unpacking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LARGEST = 1 << 30
"""Bytes of a package; Debian's largest kernel has some 150 million."""

_MAGIC, _ENTRY, _ENTRY_END = b"!<arch>\n", 60, b"`\n"
_CONTROL, _DATA = "control.tar", "data.tar"
_LARGEST_CONTROL = 16 << 20
_MOST_UNPACKED = 4 << 30  # bytes; of a kernel with all modules half as many
_AT_ONCE = 1 << 20  # bytes that are read of a tar
_FIELD = re.compile(r"^([A-Za-z0-9-]+):[ \t]*(.*)$", re.MULTILINE)
_TOO_EARLY = "it ends too early"
_ERRORS = (*unpacking.ERRORS, tarfile.TarError, UnicodeError, ValueError)


class DamagedError(Exception):
    """A package can't be used; the message says why, without naming it."""


def control(package: Path) -> Mapping[str, str]:
    """Return the one-line fields of what a package says of itself, such as `Version`.

    Raises:
        InputError: The file can't be read.
        DamagedError: It is no package, or is damaged.
    """
    try:
        for member, stream in _members(_part(_content(package), _CONTROL), _LARGEST_CONTROL):
            if PurePosixPath(member.name).name == "control" and member.isreg():
                found = stream.extractfile(member)
                text = "" if found is None else found.read(_LARGEST_CONTROL).decode()
                return dict(_FIELD.findall(text))
    except _ERRORS as error:
        raise DamagedError(str(error) or _TOO_EARLY) from error
    raise DamagedError("it does not say what it is")


def unpack(package: Path, folder: Path) -> None:
    """Write a package's folders, files and links below a folder; devices are left out.

    Raises:
        InputError: The file can't be read.
        DamagedError: It is no package, is damaged, or has a path that leads outside.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for member, stream in _members(_part(_content(package), _DATA), _MOST_UNPACKED):
            _write(member, stream, folder)
    except _ERRORS as error:
        raise DamagedError(str(error) or _TOO_EARLY) from error


def _content(package: Path) -> bytes:
    content = files.content(package, "the package", LARGEST)
    if not content.startswith(_MAGIC):
        raise DamagedError("it is no package of Debian's")
    return content


def _part(content: bytes, wanted: str) -> bytes:
    """Return a part of a package by its name without what says how it is packed."""
    at = len(_MAGIC)
    while at < len(content):
        entry = content[at : at + _ENTRY]
        if len(entry) < _ENTRY or not entry.endswith(_ENTRY_END):
            raise DamagedError(_TOO_EARLY if len(entry) < _ENTRY else f"no part is at byte {at}")
        name, size = entry[:16].decode().rstrip(" /"), int(entry[48:58])
        at += _ENTRY
        if not 0 <= size <= len(content) - at:
            raise DamagedError(_TOO_EARLY)
        if name == wanted or name.startswith(f"{wanted}."):
            return content[at : at + size]
        at += size + size % 2
    raise DamagedError(f"it has no {wanted}")


def _members(packed: bytes, most: int) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
    """Yield what a packed tar holds, in its order, with the archive that it is read from."""
    parts = unpacking.parts(packed)
    stream = io.BytesIO(packed) if parts is None else _Stream(parts, most)
    with tarfile.open(fileobj=stream, mode="r|", bufsize=_AT_ONCE) as archive:
        for member in archive:
            yield member, archive


class _Stream(io.RawIOBase):
    """Unpacked data as a file that is read from begin to end, up to a bound."""

    def __init__(self, parts: Iterator[bytes], most: int) -> None:
        super().__init__()
        self._parts, self._held, self._left = parts, b"", most

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes, fewer only at the end."""
        taken = [self._held]
        length = len(self._held)
        while size < 0 or length < size:
            part = next(self._parts, None)
            if part is None:
                break
            self._left -= len(part)
            if self._left < 0:
                raise ValueError("unpacked it is too large")
            taken.append(part)
            length += len(part)
        whole = b"".join(taken)
        end = len(whole) if size < 0 else size
        self._held = whole[end:]
        return whole[:end]


def _write(member: tarfile.TarInfo, archive: tarfile.TarFile, folder: Path) -> None:
    path = _inside(member.name, folder)
    if path == folder:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() or (path.exists() and not (member.isdir() and path.is_dir())):
        raise DamagedError(f"{member.name!r} is in it twice")
    if member.isdir():
        path.mkdir(exist_ok=True)
    elif member.issym():
        path.symlink_to(member.linkname)
    elif member.islnk():
        shutil.copy(_inside(member.linkname, folder), path, follow_symlinks=False)
    elif member.isreg():
        content = archive.extractfile(member)
        if content is not None:
            with path.open("wb") as file:
                shutil.copyfileobj(content, file, _AT_ONCE)
            path.chmod(member.mode & 0o755)


def _inside(name: str, folder: Path) -> Path:
    """Return where a path of an archive is below a folder, with no link on the way there."""
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise DamagedError(f"the path {name!r} leads outside")
    path = folder
    for part in parts[:-1]:
        path /= part
        if path.is_symlink():
            raise DamagedError(f"the path {name!r} leads through a link")
    return path / parts[-1] if parts else folder
