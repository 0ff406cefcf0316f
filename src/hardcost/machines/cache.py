"""The cache: packages, sources, kernels, guests, snapshots, each in a folder named by its content.

A folder is filled beside its place and renamed into it whole, so that what is there is complete,
whatever interrupted hardcost. A lock file for each folder keeps two runs from making one thing.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from hardcost.errors import InputError, MachineError
from hardcost.machines.place import default_root

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

KINDS = (
    "packages",
    "sources",
    "builds",
    "kernels",
    "guests",
    "images",
    "snapshots",
    "constants",
    "boots",
)
_TELLING_SECONDS = 1.0  # of waiting, before it is worth a word
_POLL_SECONDS = 0.05  # between two looks whether another run has ended what it makes
_KEPT_SECONDS = 3600.0  # since its last use, in which nothing is removed to make room
_DIGEST_LENGTH = 16  # hex digits: 64 bits, plenty for a cache of thousands


@dataclass(frozen=True)
class Entry:
    """One thing in the cache; `size` in bytes as it lies on disk."""

    kind: str
    name: str
    title: str
    size: int
    path: Path


def digest(parts: Mapping[str, str]) -> str:
    """Return the name of something that is defined by `parts`."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Cache:
    """What was fetched and built, kept by content under one folder."""

    def __init__(self, root: Path | None = None) -> None:
        """Use `root`, else the default place."""
        self.root = root or default_root()

    def make(self, kind: str, name: str, title: str, fill: Callable[[Path], None]) -> Path:
        """Return the folder `name` of `kind`, filled by `fill` if it is not there yet."""
        place = self.root / kind / name
        if place.is_dir():
            return place
        with self.building(kind, name, title) as folder:
            if folder is not None:
                fill(folder)
        return place

    @contextlib.contextmanager
    def building(self, kind: str, name: str, title: str) -> Iterator[Path | None]:
        """Give an empty folder that becomes `name` of `kind` when the block ends well.

        Waits for another run that makes the same thing; gives None where that one has made it.
        """
        with self._lock_file(kind, name) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with _filling(self.root / kind / name, title) as folder:
                yield folder

    @contextlib.asynccontextmanager
    async def building_beside(
        self, kind: str, name: str, title: str, waiting: Callable[[float], None] | None = None
    ) -> AsyncIterator[Path | None]:
        """Do as `building` does, and let other tasks go on while this one waits for another run.

        If they stood still, two runs could wait for each other, each for what the other makes.
        `waiting` is told of the seconds that it waits.
        """
        async with self.locked(kind, name, waiting):
            with _filling(self.root / kind / name, title) as folder:
                yield folder

    @contextlib.asynccontextmanager
    async def locked(
        self, kind: str, name: str, waiting: Callable[[float], None] | None = None
    ) -> AsyncIterator[int]:
        """Hold the lock of an entry, which keeps it from being removed; gives its descriptor.

        `waiting` is told of the seconds that this waits for others.
        """
        with self._lock_file(kind, name) as file:
            since = time.monotonic()
            while not _locked(file):
                if waiting is not None and time.monotonic() - since > _TELLING_SECONDS:
                    waiting(time.monotonic() - since)
                await asyncio.sleep(_POLL_SECONDS)
            yield file.fileno()

    def entries(self, kinds: Sequence[str] = KINDS) -> tuple[Entry, ...]:
        """Return all that is kept of `kinds`, by kind and name."""
        return tuple(
            Entry(kind, place.name, _title(place), _size(place), place)
            for kind in kinds
            for place in sorted((self.root / kind).glob("*"))
            if place.is_dir() and not place.name.startswith(".")
        )

    def remove(self, names: tuple[str, ...]) -> tuple[Entry, ...]:
        """Remove the entries that `names` name (a beginning that is unique will do).

        Raises:
            InputError: A name fits none or several; nothing is removed then.
            MachineError: One is in use; those before it are removed.
        """
        self.sweep()
        entries = self.entries()
        chosen = []
        for name in names:
            fits = [entry for entry in entries if entry.name.startswith(name)]
            if len(fits) != 1:
                what = "nothing" if not fits else f"{len(fits)} entries"
                raise InputError(
                    f"'{name}' names {what} in the cache {self.root}",
                    hint="`hardcost image list` shows the names",
                )
            chosen.append(fits[0])
        for entry in chosen:
            with self._lock_file(entry.kind, entry.name) as file:
                if not _locked(file):
                    raise MachineError(
                        f"{entry.kind} {entry.name} ({entry.title}) is in use",
                        hint="wait until what uses it has ended",
                    )
                shutil.rmtree(entry.path)
        return tuple(chosen)

    def used(self, kind: str, name: str) -> None:
        """Remember that an entry was used just now, for `make_room`."""
        with contextlib.suppress(OSError):
            os.utime(self.root / kind / name)

    def make_room(self, kind: str, most_bytes: int) -> tuple[Entry, ...]:
        """Remove what was not used for longest, until the entries of `kind` take `most_bytes`.

        What somebody used within the last hour, or is making, stays. Returns what was removed.
        """
        entries = self.entries([kind])
        total, now, removed = sum(entry.size for entry in entries), time.time(), []
        for entry in sorted(entries, key=lambda entry: _used(entry.path)):
            if total <= most_bytes or now - _used(entry.path) < _KEPT_SECONDS:
                break
            with self._lock_file(kind, entry.name) as file:
                if _locked(file):
                    shutil.rmtree(entry.path, ignore_errors=True)
                    removed.append(entry)
                    total -= entry.size
        return tuple(removed)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """Give a folder for one trial's files, gone when the block ends.

        Each has a lock that its owner holds and that goes with the owner, however it dies. Folders
        whose lock nobody holds are swept away on the way.
        """
        base = self._folder("scratch")
        for lock in base.glob("*.lock"):
            if _sweep(lock, lock.with_suffix("")):
                lock.unlink(missing_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f"{os.getpid()}-", suffix=".lock", dir=base)
        lock, folder = Path(name), Path(name).with_suffix("")
        with os.fdopen(descriptor) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            folder.mkdir()
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
                lock.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what killed runs left half made."""
        for kind in KINDS:
            for folder in (self.root / kind).glob(".*-*"):
                name = folder.name[1:].rpartition("-")[0]
                _sweep(self.root / "locks" / f"{kind}-{name}", folder)

    @contextlib.contextmanager
    def _lock_file(self, kind: str, name: str) -> Iterator[IO[str]]:
        self._folder(kind)
        with (self._folder("locks") / f"{kind}-{name}").open("w") as file:
            yield file

    def _folder(self, name: str) -> Path:
        folder = self.root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MachineError(
                f"the cache folder {folder} can't be made: {error.strerror}",
                hint="set HARDCOST_CACHE to a folder that you can write to",
            ) from error
        return folder


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _filling(place: Path, title: str) -> Iterator[Path | None]:
    """Give an empty folder that becomes `place` when the block ends well, None if that exists."""
    if place.is_dir():
        yield None
        return
    for left_over in place.parent.glob(f".{place.name}-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        yield folder
        (folder / "title").write_text(title + "\n")
        folder.rename(place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _used(place: Path) -> float:
    """Return when an entry was used last, in seconds of the epoch; now, if it has gone."""
    with contextlib.suppress(OSError):
        return place.stat().st_mtime
    return time.time()


def _title(place: Path) -> str:
    with contextlib.suppress(OSError):
        return (place / "title").read_text(errors="replace").strip()
    return ""


def _size(place: Path) -> int:
    blocks = 0
    for path in place.rglob("*"):
        with contextlib.suppress(OSError):
            status = path.lstat()
            # What other entries link to as well is shared between them.
            shares = 1 if stat.S_ISDIR(status.st_mode) else status.st_nlink
            blocks += status.st_blocks // shares
    return blocks * 512


def _sweep(lock: Path, folder: Path) -> bool:
    """Remove a folder unless somebody holds its lock; say whether it is gone."""
    with contextlib.suppress(OSError), lock.open() as file:
        if _locked(file):
            shutil.rmtree(folder, ignore_errors=True)
            return True
    return False
