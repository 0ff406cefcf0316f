"""The supplies that a host needs to carry out trials for another: files by their content.

A file travels in pieces, without its holes, and enters the cache only if its content has the hash
by which it was asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import zstandard

from hardcost.errors import MachineError
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import KINDS, Cache
from hardcost.supply.cache.manifest import content_hash

_KIND = "supplies"
_CONTENT = "content"
_NAME_LENGTH = 32  # hex digits of the hash
_MOST_BYTES = 40 << 30  # of all that are kept; those that no run uses any more go first
_PIECE_BYTES = 4 << 20
_LEVEL = 1  # of compression: a network is seldom slower


@dataclass(frozen=True)
class Supply:
    """A file that a guest is made of: the hash of its content, and its size in bytes.

    `source` is its path on the host that it is from, `place` the same below the root of the cache
    there; empty if it is elsewhere.
    """

    digest: str
    size: int
    title: str
    place: str = ""
    source: str = field(default="", compare=False)


@dataclass(frozen=True)
class Order:
    """An order to a host: all that it needs to do a piece of another's work in the state of a boot.

    It carries out jobs, or builds the kernel. `identity` is what the machine `machine` says of that
    state or kernel where the order comes from; the same must come out where it is carried out.
    `about` is the machine's own.
    """

    machine: str
    boot: Boot
    identity: tuple[tuple[str, str], ...]
    about: object = None
    supplies: tuple[Supply, ...] = ()


class Builder(Protocol):
    """Builds kernels on another host."""

    async def __call__(self, order: Order, folder: Path) -> None:
        """Build the kernel that `order` asks for, and leave its files in `folder`.

        Raises:
            MachineError: The build fails.
        """
        ...


@dataclass(frozen=True)
class FilePiece:
    """Some of a file's content, packed, which begins at `start`; what follows begins at `end`."""

    start: int
    packed: bytes
    end: int


def supply_of(path: Path, title: str, root: Path) -> Supply:
    """Return a file as a supply; `root` is the cache's. Its content is read once a process."""
    status = path.stat()
    place = str(path.relative_to(root)) if path.is_relative_to(root) else ""
    digest = _hash(path, status.st_ino, status.st_size, status.st_mtime_ns)
    return Supply(digest, status.st_size, title, place, str(path))


def piece_of(path: Path, start: int) -> FilePiece | None:
    """Return the first piece of a file that has data at `start` or later; None: there is none."""
    with path.open("rb", buffering=0) as file:
        try:
            begin = os.lseek(file.fileno(), start, os.SEEK_DATA)
        except OSError:
            return None
        length = min(os.lseek(file.fileno(), begin, os.SEEK_HOLE) - begin, _PIECE_BYTES)
        data = os.pread(file.fileno(), length, begin)
    return FilePiece(begin, zstandard.compress(data, _LEVEL), begin + len(data))


class Arriving:
    """A file that arrives in a folder, piece by piece."""

    def __init__(self, supply: Supply, folder: Path, name: str = _CONTENT) -> None:
        """Begin with a file of its size and of that name that is one hole."""
        self._supply = supply
        self.path = folder / name
        self.path.touch()
        os.truncate(self.path, supply.size)

    def take(self, piece: FilePiece) -> None:
        """Write a piece."""
        data = zstandard.decompress(piece.packed, _PIECE_BYTES)
        descriptor = os.open(self.path, os.O_WRONLY)
        try:
            os.pwrite(descriptor, data, piece.start)
        finally:
            os.close(descriptor)

    async def check(self) -> None:
        """Check, once all of it is there, that the file is what was asked for.

        Raises:
            MachineError: It is not.
        """
        supply = self._supply
        found = await asyncio.to_thread(content_hash, self.path)
        if found != supply.digest or self.path.stat().st_size != supply.size:
            raise MachineError(
                f"{supply.title} arrived damaged: its hash is {found[:16]}…, and it was sent as"
                f" {supply.digest[:16]}…",
                hint="run the command again: it is sent again",
            )

    async def into(self, cache: Cache) -> None:
        """Move the file into the cache, if it is what was asked for.

        Raises:
            MachineError: It is not.
        """
        await self.check()
        name = _name(self._supply)
        async with cache.building_beside(_KIND, name, self._supply.title) as folder:
            if folder is not None:
                self.path.rename(folder / _CONTENT)
        cache.make_room(_KIND, _MOST_BYTES)


def find_supply(supply: Supply, cache: Cache) -> Path | None:
    """Return a file with a supply's content in a cache, compared with its hash; None: it lacks it.

    It was sent here, or it is where the sender's own cache has it.
    """
    sent = cache.find(_KIND, _name(supply))
    if sent is not None:
        cache.note_use(_KIND, _name(supply))
        return sent / _CONTENT
    parts = Path(supply.place).parts
    own = cache.root / supply.place
    # Kind, name and path in an entry, as another host says them.
    if len(parts) > 2 and parts[0] in KINDS and ".." not in parts and own.is_file():  # noqa: PLR2004
        there = cache.find(parts[0], parts[1], ["/".join(parts[2:])])
        with contextlib.suppress(OSError):
            if there is not None and supply_of(own, "", cache.root).digest == supply.digest:
                return own
    return None


def _name(supply: Supply) -> str:
    return supply.digest[:_NAME_LENGTH]


@functools.lru_cache(maxsize=1024)
def _hash(path: Path, _node: int, _size: int, _time: int) -> str:
    return content_hash(path)
