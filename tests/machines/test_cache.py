"""The cache: what is there is complete, and what is asked for by name is what goes."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.machines.cache import Cache, digest
from hardcost.machines.place import default_root


def fill(folder: Path) -> None:
    (folder / "content").write_text("x" * 10_000)


def test_a_thing_is_made_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    made: list[Path] = []
    for _ in range(2):
        place = cache.make("kernels", "aa", "a kernel", made.append)
    assert len(made) == 1
    assert place.is_dir()


def test_what_failed_half_way_is_not_there(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def fail(folder: Path) -> None:
        fill(folder)
        raise MachineError("no")

    with pytest.raises(MachineError):
        cache.make("kernels", "aa", "a kernel", fail)
    assert cache.entries() == ()
    assert list((tmp_path / "kernels").iterdir()) == []


def test_left_overs_of_a_killed_run_are_swept_away(tmp_path: Path) -> None:
    (tmp_path / "kernels" / ".aa-left").mkdir(parents=True)
    Cache(tmp_path).make("kernels", "aa", "a kernel", fill)
    assert [path.name for path in (tmp_path / "kernels").iterdir()] == ["aa"]


def test_entries_tell_what_they_are_and_how_large(tmp_path: Path) -> None:
    Cache(tmp_path).make("guests", "bb", "a guest", fill)
    (entry,) = Cache(tmp_path).entries()
    assert (entry.kind, entry.name, entry.title) == ("guests", "bb", "a guest")
    assert entry.size >= 10_000


def test_remove_takes_a_unique_beginning(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for name in ("ab1", "ab2", "cd"):
        cache.make("kernels", name, name, fill)
    cache.remove(("cd", "ab1"))
    assert [entry.name for entry in cache.entries()] == ["ab2"]


@pytest.mark.parametrize("name", ["ab", "zz", "../ab1"])
def test_remove_of_an_unclear_name_removes_nothing(name: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for made in ("ab1", "ab2"):
        cache.make("kernels", made, made, fill)
    with pytest.raises(InputError):
        cache.remove(("ab1", name))
    assert len(cache.entries()) == 2


def test_scratch_is_gone_afterwards(tmp_path: Path) -> None:
    with Cache(tmp_path).scratch() as folder:
        assert folder.is_dir()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_scratch_of_the_dead_is_swept_away_and_that_of_the_living_is_not(tmp_path: Path) -> None:
    """A killed process leaves folder and lock file; what it held of the lock is gone with it."""
    dead = tmp_path / "scratch" / "dead"
    dead.mkdir(parents=True)
    dead.with_suffix(".lock").touch()
    with Cache(tmp_path).scratch() as living, Cache(tmp_path).scratch():
        assert living.is_dir()
    assert not dead.exists()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_remove_sweeps_what_killed_runs_left_half_made_but_not_what_is_being_made(
    tmp_path: Path,
) -> None:
    cache = Cache(tmp_path)
    cache.make("kernels", "aa", "a kernel", fill)
    left_over = tmp_path / "kernels" / ".bb-x1"
    left_over.mkdir()
    (tmp_path / "locks" / "kernels-bb").touch()
    with cache.building("kernels", "cc", "being made") as folder:
        assert folder is not None
        cache.remove(("aa",))
        assert not left_over.exists()
        assert folder.is_dir()


def test_room_is_made_by_what_was_not_used_for_longest(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for name, age in (("aa", 9000), ("bb", 8000), ("cc", 7000), ("dd", 60)):
        then = time.time() - age
        os.utime(cache.make("snapshots", name, "a snapshot", fill), (then, then))
    cache.used("snapshots", "aa")
    size = cache.entries()[0].size
    removed = cache.make_room("snapshots", 3 * size)
    assert [entry.name for entry in removed] == ["bb"]
    assert [entry.name for entry in cache.entries()] == ["aa", "cc", "dd"]


def test_what_is_in_use_stays_however_little_room_there_is(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.make("snapshots", "aa", "used just now", fill)
    old = cache.make("snapshots", "bb", "being looked at", fill)
    os.utime(old, (0, 0))

    async def locked() -> None:
        async with cache.locked("snapshots", "bb"):
            assert cache.make_room("snapshots", 0) == ()

    asyncio.run(locked())
    assert [entry.name for entry in cache.make_room("snapshots", 0)] == ["bb"]
    assert [entry.name for entry in cache.entries()] == ["aa"]


def test_a_digest_depends_on_every_part_and_not_on_their_order() -> None:
    assert digest({"a": "1", "b": "2"}) == digest({"b": "2", "a": "1"})
    assert digest({"a": "1"}) != digest({"a": "2"})


def test_the_cache_can_be_put_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDCOST_CACHE", "/somewhere")
    assert default_root() == Path("/somewhere")


def test_a_place_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="can't be made"):
        Cache(tmp_path / "file").make("kernels", "aa", "a kernel", fill)


def test_other_tasks_go_on_while_one_waits_for_what_another_run_makes(tmp_path: Path) -> None:
    ours, theirs = Cache(tmp_path), Cache(tmp_path)
    happened = []

    async def wait() -> None:
        async with ours.building_beside("snapshots", "aa", "ours") as folder:
            happened.append("made" if folder else "found")

    async def both() -> None:
        with theirs.building("snapshots", "aa", "theirs"):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0.2)
            happened.append("went on")
        await waiting

    asyncio.run(asyncio.wait_for(both(), 20))
    assert happened == ["went on", "found"]


def test_what_two_entries_link_to_is_counted_once_in_all(tmp_path: Path) -> None:
    def fill(place: Path) -> None:
        (place / "x").write_bytes(b"x" * (1 << 20))

    cache = Cache(tmp_path)
    folder = cache.make("sources", "a", "", fill)
    before = sum(entry.size for entry in cache.entries())
    cache.make("builds", "b", "", lambda place: os.link(folder / "x", place / "x"))
    assert before >= 1 << 20
    assert sum(entry.size for entry in cache.entries()) - before < 1 << 16
