"""Files that travel to another host: by pieces, without holes, and only as what they were."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.transfer import Arriving, Supply, find_supply, piece_of, supply_of

HOLE = 64 << 20


@pytest.fixture
def sparse(tmp_path: Path) -> Path:
    """A file with data at its beginning and its end, and a hole between that no memory holds."""
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.write(b"begin" * 5000)
        file.seek(HOLE)
        file.write(os.urandom(5 << 20))
    return path


def moved(path: Path, supply: Supply, cache: Cache) -> int:
    """Move a file piece by piece into a cache; return how many pieces it had."""

    async def whole() -> int:
        pieces, start = 0, 0
        with cache.scratch() as folder:
            arriving = Arriving(supply, folder)
            while (piece := piece_of(path, start)) is not None:
                arriving.take(piece)
                pieces, start = pieces + 1, piece.end
            await arriving.into(cache)
        return pieces

    return asyncio.run(whole())


def test_a_file_comes_with_its_content_and_without_its_holes(sparse: Path, tmp_path: Path) -> None:
    supply = supply_of(sparse, "a disk", tmp_path / "cache")
    cache = Cache(tmp_path / "elsewhere")
    assert find_supply(supply, cache) is None
    assert moved(sparse, supply, cache) < 6
    place = find_supply(supply, cache)
    assert place is not None
    assert place.read_bytes() == sparse.read_bytes()
    assert place.stat().st_blocks * 512 < HOLE


def test_an_empty_file_comes_too(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    cache = Cache(tmp_path / "elsewhere")
    supply = supply_of(path, "nothing", tmp_path)
    assert moved(path, supply, cache) == 0
    assert find_supply(supply, cache) is not None


def test_what_arrives_as_something_else_is_not_kept(sparse: Path, tmp_path: Path) -> None:
    supply = supply_of(sparse, "a disk", tmp_path / "cache")
    other = tmp_path / "other"
    other.write_bytes(b"another content")
    cache = Cache(tmp_path / "elsewhere")
    with pytest.raises(MachineError, match="a disk arrived damaged"):
        moved(other, replace(supply, size=other.stat().st_size), cache)
    assert find_supply(supply, cache) is None


def test_a_supply_that_was_damaged_later_is_lacking(sparse: Path, tmp_path: Path) -> None:
    supply = supply_of(sparse, "a disk", tmp_path / "cache")
    root = tmp_path / "elsewhere"
    moved(sparse, supply, Cache(root))
    place = find_supply(supply, Cache(root))
    assert place is not None
    with place.open("r+b") as file:
        file.write(b"X")
    assert find_supply(supply, Cache(root)) is None


def filled(text: str) -> Callable[[Path], None]:
    def fill(folder: Path) -> None:
        (folder / "vmlinux").write_text(text)

    return fill


def test_a_host_that_made_the_same_entry_itself_lacks_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    made = cache.make("kernels", "one", "a kernel", filled("same"))
    supply = supply_of(made / "vmlinux", "a kernel", cache.root)
    there = Cache(tmp_path / "elsewhere")
    there.make("kernels", "one", "a kernel", filled("same"))
    assert find_supply(supply, there) == there.root / "kernels/one/vmlinux"
    differs = Cache(tmp_path / "third")
    differs.make("kernels", "one", "a kernel", filled("else"))
    assert find_supply(supply, differs) is None


def test_a_place_outside_the_cache_is_never_looked_at(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    secret = tmp_path / "secret"
    secret.write_text("content")
    supply = replace(supply_of(secret, "", cache.root), place="../a/../secret")
    assert find_supply(supply, cache) is None
