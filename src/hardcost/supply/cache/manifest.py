"""The content of a cache entry when it was made: a hash of each file, for later comparison.

The manifest is in the entry's folder. It names its entry and has a hash of itself. Blocks of zeros
are left out of a file's hash, so that holes take no time and it does not matter whether a copy
preserves them.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hardcost.files import own_content
from hardcost.supply.cache import folders

FILE = "manifest"
"""Its name in an entry's folder."""

WHOLE = ("*",)
"""The parts that make up a whole entry."""

_VERSION = 1
_LARGEST = 128 << 20  # bytes; that of Linux's source, with its hundred thousand files, has 15 MB
_BLOCK = 4096
_CHUNK = 1 << 20
_ZEROS = bytes(_CHUNK)
_RUNS = 0o100  # the only file permission that matters: whether the owner may execute it
_WILD = re.compile(r"[*?\[]")

_Described = dict[str, list[int | str]]
"""The properties of each file: its kind, and its size and hash or its target."""


class _UnreadableError(Exception):
    """A manifest that is missing, damaged or another entry's."""


def write(folder: Path, entry: str) -> None:
    """Record the content of `folder`, which has the name `entry` in the cache."""
    files = dict(_describe_file(folder, path) for path in sorted(_paths(folder, "")))
    text = json.dumps({"version": _VERSION, "entry": entry, "files": files}, indent=0)
    (folder / FILE).write_text(f"{_hash(text)}\n{text}", encoding="ascii")


def is_there(folder: Path) -> bool:
    """Say whether an entry has a manifest; older versions of hardcost wrote none."""
    return os.path.lexists(folder / FILE)


def damage(folder: Path, entry: str, parts: Sequence[str] = WHOLE) -> str | None:
    """Return the first difference from the record; None if there is none.

    `parts` are shell patterns of paths below `folder` (`*` matches `/` as well): other files are
    not checked.
    """
    try:
        expected = _expected_files(folder, entry)
        differs = (_difference(folder, expected, part) for part in parts)
        return next((what for what in differs if what is not None), None)
    except _UnreadableError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or folder} can't be read: {error.strerror}"


def _difference(folder: Path, expected: _Described, part: str) -> str | None:
    """Return the first difference of a part."""
    fits = re.compile(fnmatch.translate(part)).match
    wanted = {path for path in expected if fits(path)}
    found = {path for path in _below(folder, part) if fits(path)}
    if missing := wanted - found:
        return f"{min(missing)} is missing"
    if added := found - wanted:
        return f"{min(added)} did not exist when it was made"
    for path in sorted(wanted):
        if not _is_as_described(folder, path, expected[path]):
            return f"{path} has changed since it was made"
    return None if wanted else f"it has no {part}"


def content_hash(path: Path) -> str:
    """Return the SHA-256 of a file's content and its offsets; zeros are left out."""
    total = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        for start, end in folders.data_ranges(file.fileno(), _CHUNK):
            for place in range(start, end, _CHUNK):
                data = os.pread(file.fileno(), min(_CHUNK, end - place), place)
                for first, last in _runs(data):
                    total.update((place + first).to_bytes(8, "big"))
                    total.update((last - first).to_bytes(8, "big"))
                    total.update(memoryview(data)[first:last])
    return total.hexdigest()


def _runs(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the ranges of `data` that are not zero, adjacent blocks merged."""
    if data == _ZEROS[: len(data)]:
        return
    begun: int | None = None
    zeros = _ZEROS[:_BLOCK]
    for place in range(0, len(data), _BLOCK):
        block = data[place : place + _BLOCK]
        if block == zeros[: len(block)]:
            if begun is not None:
                yield begun, place
            begun = None
        elif begun is None:
            begun = place
    if begun is not None:
        yield begun, len(data)


def _expected_files(folder: Path, entry: str) -> _Described:
    """Return the files in an entry's manifest."""
    path = folder / FILE
    try:
        status = path.lstat()
        kept = _read(path, status.st_ino, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise _UnreadableError(f"its manifest can't be read: {error.strerror}") from error
    if kept is None:
        raise _UnreadableError("its manifest has changed since it was made")
    if kept["version"] != _VERSION:
        raise _UnreadableError("its manifest is of another version of hardcost")
    if kept["entry"] != entry:
        raise _UnreadableError(f"its manifest belongs to {kept['entry']}")
    files: _Described = kept["files"]
    return files


@lru_cache(maxsize=16)
def _read(path: Path, _node: int, _size: int, _time: int) -> dict[str, Any] | None:
    """Return the content of a manifest, None if it is not what was written."""
    seal, _, text = own_content(path, _LARGEST).partition(b"\n")
    if hashlib.sha256(text).hexdigest().encode() != seal:
        return None
    kept: dict[str, Any] = json.loads(text)
    return kept


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _below(folder: Path, part: str) -> Iterator[str]:
    """Yield the folders where a pattern may match."""
    wild = _WILD.search(part)
    if wild is None:
        if os.path.lexists(folder / part):
            yield part
        return
    yield from _paths(folder, part[: wild.start()].rpartition("/")[0])


def _paths(folder: Path, below: str) -> Iterator[str]:
    """Yield all below a folder in `folder`, as relative paths, without the manifest."""
    with os.scandir(folder / below) as entries:
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if path == FILE:
                continue
            yield path
            if entry.is_dir(follow_symlinks=False):
                yield from _paths(folder, path)


def _is_as_described(folder: Path, path: str, expected: list[int | str]) -> bool:
    """Say whether a file has these properties; one of another size is not read."""
    status = Path(folder, path).lstat()
    if stat.S_ISREG(status.st_mode) and status.st_size not in expected:
        return False
    return _describe_file(folder, path)[1] == expected


def _describe_file(folder: Path, path: str) -> tuple[str, list[int | str]]:
    """Return a path and the properties of its file."""
    place = Path(folder, path)
    status = place.lstat()
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFREG:
        what = "program" if status.st_mode & _RUNS else "file"
        return path, [what, status.st_size, content_hash(place)]
    if kind == stat.S_IFLNK:
        return path, ["link", str(place.readlink())]
    return path, ["folder"] if kind == stat.S_IFDIR else ["special", kind]
