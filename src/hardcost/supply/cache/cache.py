"""The cache: packages, sources, kernels, emulators, guests, each in a folder named by its content.

A folder is filled elsewhere and renamed into its place, so that it is always complete, whatever
interrupts hardcost; it is renamed away before it is removed. A lock file for each folder keeps two
runs from making the same thing; another keeps entries in use from being removed.

An entry in use is compared with the hashes in its manifest, once a run. A damaged one is thrown
away and made again. Changes between that check and the use are not detected: QEMU maps the files,
and a change during a run is noticed only by the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hardcost.errors import FULL_DISK, InputError, MachineError
from hardcost.files import own_content
from hardcost.supply.cache import folders, leftovers, manifest
from hardcost.supply.cache.location import default_root

KINDS = (
    "packages",
    "sources",
    "builds",
    "kernels",
    "emulators",
    "guests",
    "images",
    "snapshots",
    "constants",
    "boots",
    "supplies",
    "listings",
)
_USED = ".used"  # suffix of the lock that the users of an entry share
_TELLING_SECONDS = 1.0  # of waiting, before it is reported
_POLL_SECONDS = 0.05  # between two checks whether another run has finished its work
_KEPT_SECONDS = 3600.0  # after its last use, during which an entry is not removed for space
_USE_SECONDS = 3600.0  # between two records of an entry's use, but where `used` is called
_LONGEST_TITLE = 1 << 16  # bytes
_DIGEST_LENGTH = 16  # hex digits: 64 bits, plenty for a cache of thousands
_ATTEMPTS = 3  # to make something and find it complete
_CHANGING = frozenset({"builds"})  # kinds whose entries change constantly: they have no manifest

log = logging.getLogger(__name__)
"""Logs what was damaged; `cli/` shows it."""


@dataclass(frozen=True)
class CacheEntry:
    """One entry of the cache; `size` in bytes as allocated on disk.

    `used` is when it was last used, in seconds of the epoch, to within an hour.
    """

    kind: str
    name: str
    title: str
    size: int
    path: Path
    used: float


def digest(parts: Mapping[str, str]) -> str:
    """Return the name of an entry that is defined by `parts`."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class _Held:
    """The lock that keeps an entry from being removed, and the entry's identity."""

    lock: int | None
    node: int | None


def _let_go(held: dict[tuple[str, str], _Held]) -> None:
    for one in held.values():
        if one.lock is not None:
            os.close(one.lock)
    held.clear()


class Cache:
    """Everything fetched and built, kept by content under one folder."""

    def __init__(self, root: Path | None = None) -> None:
        """Use `root`, else the default place."""
        self.root = (root or default_root()).absolute()
        self._held: dict[tuple[str, str], _Held] = {}
        weakref.finalize(self, _let_go, self._held)
        self._found_whole: set[tuple[str, str, int | None, tuple[str, ...]]] = set()
        self._swept = False

    def make(  # noqa: PLR0913  (each is a thing of its own)
        self,
        kind: str,
        name: str,
        title: str,
        fill: Callable[[Path], None],
        *,
        parts: Sequence[str] = manifest.WHOLE,
        known: Callable[[Path], bool] | None = None,
    ) -> Path:
        """Return the folder `name` of `kind`, filled by `fill` unless it is complete.

        `parts` and `known` are those of `find`.

        Raises:
            MachineError: The disk is full, or the new entry is damaged already.
        """
        for _ in range(_ATTEMPTS):  # others may remove it before we hold it
            place = self.find(kind, name, parts, known=known)
            if place is not None:
                return place
            with self.building(kind, name, title) as folder:
                if folder is not None:
                    fill(folder)
        place = self.find(kind, name, parts)
        if place is None:
            raise _gone_error(self.root / kind / name)
        return place

    def find(
        self,
        kind: str,
        name: str,
        parts: Sequence[str] = manifest.WHOLE,
        *,
        known: Callable[[Path], bool] | None = None,
    ) -> Path | None:
        """Return the folder `name` of `kind`, None if it is missing or damaged.

        The content of `parts` (shell patterns of paths in it) is compared with the record, once for
        each `Cache`. A damaged entry is thrown away, with a message in the log. For an entry that
        an older hardcost made without a manifest, `known` says whether it is undamaged all the
        same; without `known` such entries are thrown away as well.

        An entry found stays as long as this `Cache`: no other process's `remove` takes it.
        """
        self._sweep_once()
        place = self.root / kind / name
        if not self._hold(kind, name):
            return None
        node = self._held[kind, name].node
        looked_at = (kind, name, node, tuple(parts))
        if kind in _CHANGING or {looked_at, (kind, name, node, manifest.WHOLE)} & self._found_whole:
            return place
        entry = f"{kind}/{name}"
        if not manifest.is_there(place) and known is not None and known(place):
            manifest.write(place, entry)
        damage = manifest.damage(place, entry, parts)
        if damage is None:
            self._found_whole.add(looked_at)
            return place
        if not manifest.is_there(place):
            damage = "it has no hashes to be compared with (an older hardcost kept none)"
        log.warning("cache: %s %s (%s) is made again, since %s", kind, name, _title(place), damage)
        # Another run may be making it again at this moment: a complete entry stays.
        self.throw_away(kind, name, lambda: manifest.damage(place, entry, parts) is not None)
        return None

    def check(self, folder: Path) -> None:
        """Check all below a folder in an entry; a folder elsewhere is ignored.

        Raises:
            MachineError: It is damaged; the entry is thrown away.
        """
        try:
            kind, name, *path = folder.relative_to(self.root).parts
        except ValueError:
            return
        if self.find(kind, name, ["/".join([*path, "*"])]) is None:
            raise MachineError(
                f"{folder} was damaged, and its entry in the cache was removed",
                hint="run the command again: it is made again",
            )

    def is_there(self, kind: str, name: str) -> bool:
        """Say whether an entry exists, complete or not."""
        return folders.is_folder(self.root / kind / name)

    def throw_away(self, kind: str, name: str, only_if: Callable[[], bool] = lambda: True) -> None:
        """Remove an entry even if it is in use: files that are open stay unchanged.

        It stays if `only_if` says no, once no other process makes it.
        """
        self._found_whole = {one for one in self._found_whole if one[:2] != (kind, name)}
        held = self._held.pop((kind, name), None)
        if held is not None:
            _let_go({(kind, name): held})
        with self._lock_file(kind, name) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if only_if():
                folders.remove_entry(self.root / kind / name)

    def _hold(self, kind: str, name: str) -> bool:
        """Keep an entry from being removed while this process lives; say whether it exists."""
        place = self.root / kind / name
        node = folders.node(place)
        if node is None:
            if os.path.lexists(place):  # not an entry that hardcost made
                log.warning("cache: %s %s is made again, since it is a link", kind, name)
                folders.remove_entry(place)
            return False
        held = self._held.pop((kind, name), None)
        if held is not None:
            if held.node == node:
                self._held[kind, name] = held
                return True
            _let_go({(kind, name): held})
        lock: int | None = None
        # A read-only cache has no locks, and nothing removes anything.
        with contextlib.suppress(OSError, MachineError):
            with self._open_lock(kind, name, _USED) as file:
                lock = os.dup(file)
            fcntl.flock(lock, fcntl.LOCK_SH)
        if time.time() - _last_use(place) > _USE_SECONDS:
            self.note_use(kind, name)
        self._held[kind, name] = _Held(lock, folders.node(place))
        return self._held[kind, name].node is not None

    @contextlib.contextmanager
    def building(self, kind: str, name: str, title: str) -> Iterator[Path | None]:
        """Give an empty folder that becomes `name` of `kind` if the block succeeds.

        Waits for another run that makes the same thing; gives None if that run made it.

        Raises:
            MachineError: The disk is full.
        """
        self._sweep_once()
        with self._lock_file(kind, name) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with _filling(self.root, kind, name, title) as folder:
                yield folder
                if folder is not None:
                    self._found_whole.add((kind, name, folder.stat().st_ino, manifest.WHOLE))

    @contextlib.asynccontextmanager
    async def building_beside(
        self, kind: str, name: str, title: str, waiting: Callable[[float], None] | None = None
    ) -> AsyncIterator[Path | None]:
        """Do as `building` does, but let other tasks run while this one waits for another run.

        Otherwise two runs could wait for each other, each for what the other makes. `waiting` is
        called with the seconds waited.
        """
        self._sweep_once()
        async with self.hold_lock(kind, name, waiting):
            with _filling(self.root, kind, name, title) as folder:
                yield folder
                if folder is not None:
                    self._found_whole.add((kind, name, folder.stat().st_ino, manifest.WHOLE))

    @contextlib.asynccontextmanager
    async def hold_lock(
        self, kind: str, name: str, waiting: Callable[[float], None] | None = None
    ) -> AsyncIterator[int]:
        """Hold the lock of an entry, which keeps it from being removed; gives its descriptor.

        `waiting` is called with the seconds waited for others.
        """
        with self._lock_file(kind, name) as file:
            since = time.monotonic()
            while not folders.try_lock(file):
                if waiting is not None and time.monotonic() - since > _TELLING_SECONDS:
                    waiting(time.monotonic() - since)
                await asyncio.sleep(_POLL_SECONDS)
            yield file

    def entries(self, kinds: Sequence[str] = KINDS) -> tuple[CacheEntry, ...]:
        """Return all entries of `kinds`, by kind and name; what killed runs left is removed."""
        self._sweep_once()
        return tuple(
            CacheEntry(
                kind, place.name, _title(place), folders.size(place), place, _last_use(place)
            )
            for kind in kinds
            for place in sorted((self.root / kind).glob("*"))
            if folders.is_folder(place)
            and (leftovers.ENTRY_NAME.fullmatch(place.name) or os.path.lexists(place / "title"))
        )

    def entries_named(self, names: tuple[str, ...]) -> tuple[CacheEntry, ...]:
        """Return the entries that `names` name (a unique prefix is enough).

        Raises:
            InputError: A name matches none or several.
        """
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
        return tuple(dict.fromkeys(chosen))

    def remove(
        self, entries: Iterable[CacheEntry]
    ) -> tuple[tuple[CacheEntry, ...], tuple[CacheEntry, ...]]:
        """Remove those of the entries that are not in use; return these, and the others."""
        gone: list[CacheEntry] = []
        stays: list[CacheEntry] = []
        for entry in entries:
            (gone if self._remove_unused(entry) else stays).append(entry)
        return tuple(gone), tuple(stays)

    def _remove_unused(self, entry: CacheEntry) -> bool:
        """Remove an entry unless it is being made or used; say whether it is gone."""
        place = self.root / entry.kind / entry.name
        gone = None
        with contextlib.ExitStack() as locks:
            for suffix in ("", _USED):
                try:
                    file = locks.enter_context(self._open_lock(entry.kind, entry.name, suffix))
                except OSError as error:
                    if error.errno not in FULL_DISK:
                        raise
                    continue  # no process holds a lock that does not exist
                if not folders.try_lock(file):
                    return False
            gone = folders.put_aside(place)
        if gone is not None:
            folders.delete(gone)
        return True

    def note_use(self, kind: str, name: str) -> None:
        """Record the use of an entry, for `make_room` and for removals by age."""
        with contextlib.suppress(OSError):
            os.utime(self.root / kind / name)

    def make_room(self, kind: str, most_bytes: int) -> tuple[CacheEntry, ...]:
        """Remove the least recently used entries until those of `kind` take `most_bytes`.

        Entries used within the last hour, or being made, stay. Returns what was removed.
        """
        entries = self.entries([kind])
        total, now, removed = sum(entry.size for entry in entries), time.time(), []
        for entry in sorted(entries, key=lambda entry: _last_use(entry.path)):
            if total <= most_bytes or now - _last_use(entry.path) < _KEPT_SECONDS:
                break
            if self._remove_unused(entry):
                removed.append(entry)
                total -= entry.size
        return tuple(removed)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """Give a folder for one trial's files, removed when the block ends.

        Each has a lock that its owner holds and that ends with the owner, however it dies.
        """
        self._sweep_once()
        base = self._folder("scratch")
        while True:
            descriptor, name = tempfile.mkstemp(prefix=f"{os.getpid()}-", suffix=".lock", dir=base)
            lock, folder = Path(name), Path(name).with_suffix("")
            with os.fdopen(descriptor) as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                if folders.node(lock) != os.fstat(descriptor).st_ino:
                    continue  # swept away before it was locked
                folder.mkdir(mode=folders.OURS)
                try:
                    yield folder
                finally:
                    folders.delete(folder)
                    lock.unlink(missing_ok=True)
            return

    def _sweep_once(self) -> None:
        if not self._swept:
            remark = folders.check(self.root)  # first: nothing is swept through a link
            self._swept = True
            if remark is not None:
                log.warning("%s", remark)
            with contextlib.suppress(OSError):  # where the cache can only be read
                leftovers.remove(self.root, KINDS)

    @contextlib.contextmanager
    def _lock_file(self, kind: str, name: str) -> Iterator[int]:
        self._folder(kind)
        with self._open_lock(kind, name) as file:
            yield file

    def _open_lock(
        self, kind: str, name: str, suffix: str = ""
    ) -> contextlib.AbstractContextManager[int]:
        return folders.open_lock(self._folder("locks") / f"{kind}-{name}{suffix}")

    def _folder(self, name: str) -> Path:
        folder = self.root / name
        try:
            self.root.mkdir(mode=folders.OURS, parents=True, exist_ok=True)
            folder.mkdir(mode=folders.OURS, exist_ok=True)
        except OSError as error:
            if error.errno in FULL_DISK:
                raise folders.no_space(self.root) from error
            raise MachineError(
                f"the cache folder {folder} can't be made: {error.strerror}",
                hint="set HARDCOST_CACHE to a folder that you can write to",
            ) from error
        folders.close(folder)
        return folder


@contextlib.contextmanager
def _filling(root: Path, kind: str, name: str, title: str) -> Iterator[Path | None]:
    """Give an empty folder that becomes an entry if the block succeeds; None if that exists."""
    place = root / kind / name
    if folders.is_folder(place):
        yield None
        return
    leftovers.remove_of_entry(place)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=place.parent))
        try:
            yield folder
            (folder / "title").write_text(title + "\n")
            if kind not in _CHANGING:
                manifest.write(folder, f"{kind}/{name}")
            folder.rename(place)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        if error.errno in FULL_DISK:
            raise folders.no_space(place.parent) from error
        raise


def _gone_error(place: Path) -> MachineError:
    return MachineError(
        f"{place} is missing or damaged right after it was made",
        hint="stop other programs that write to the cache, and check its disk (`dmesg`)",
    )


def _last_use(place: Path) -> float:
    """Return when an entry was last used, in seconds of the epoch; now, if it is gone."""
    with contextlib.suppress(OSError):
        return place.stat().st_mtime
    return time.time()


def _title(place: Path) -> str:
    with contextlib.suppress(OSError):
        return own_content(place / "title", _LONGEST_TITLE).decode(errors="replace").strip()
    return ""
