"""The cache: what is there is complete, and what is asked for by name is what goes."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.cache.location import default_root

DIGEST = "0123456789abcdef"


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
    (tmp_path / "kernels" / ".aa-left_abc").mkdir(parents=True)
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
        Cache(tmp_path).make("kernels", name, name, fill)
    cache.remove(cache.entries_named(("cd", "ab1")))
    assert [entry.name for entry in cache.entries()] == ["ab2"]


@pytest.mark.parametrize("name", ["ab", "zz", "../ab1"])
def test_remove_of_an_unclear_name_removes_nothing(name: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for made in ("ab1", "ab2"):
        cache.make("kernels", made, made, fill)
    with pytest.raises(InputError):
        cache.remove(cache.entries_named(("ab1", name)))
    assert len(cache.entries()) == 2


def test_what_the_cache_has_is_closed_to_others_whatever_the_umask(tmp_path: Path) -> None:
    (tmp_path / "cache" / "kernels").mkdir(parents=True)
    (tmp_path / "cache" / "kernels").chmod(0o777)  # as an older hardcost may have left it
    was = os.umask(0)
    try:
        cache = Cache(tmp_path / "cache")
        entries = [cache.make(kind, "x", "t", lambda _: None) for kind in ("kernels", "guests")]
        with cache.scratch() as scratch:
            modes = {
                folder: stat.S_IMODE(folder.stat().st_mode)
                for entry in (*entries, scratch)
                for folder in (entry, entry.parent)
            }
            locks = stat.S_IMODE((tmp_path / "cache" / "locks").stat().st_mode)
    finally:
        os.umask(was)
    assert set(modes.values()) == {0o700}
    assert locks == 0o700


def test_scratch_is_gone_afterwards(tmp_path: Path) -> None:
    with Cache(tmp_path).scratch() as folder:
        assert folder.is_dir()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_scratch_of_the_dead_is_swept_away_and_that_of_the_living_is_not(tmp_path: Path) -> None:
    """A killed process leaves folder and lock file; what it held of the lock is gone with it."""
    dead = tmp_path / "scratch" / "1-deadbeef"
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
    Cache(tmp_path).make("kernels", "aa", "a kernel", fill)
    left_over = tmp_path / "kernels" / f".{DIGEST}-x1_abcde"
    left_over.mkdir()
    (tmp_path / "locks" / f"kernels-{DIGEST}").touch()
    with cache.building("kernels", "cc", "being made") as folder:
        assert folder is not None
        cache.remove(cache.entries_named(("aa",)))
        assert not left_over.exists()
        assert folder.is_dir()


def test_room_is_made_by_what_was_not_used_for_longest(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for name, age in (("aa", 9000), ("bb", 8000), ("cc", 7000), ("dd", 60)):
        then = time.time() - age
        os.utime(Cache(tmp_path).make("snapshots", name, "a snapshot", fill), (then, then))
    cache.note_use("snapshots", "aa")
    size = cache.entries()[0].size
    removed = cache.make_room("snapshots", 3 * size)
    assert [entry.name for entry in removed] == ["bb"]
    assert [entry.name for entry in cache.entries()] == ["aa", "cc", "dd"]


def test_any_use_of_an_entry_is_recorded_to_within_an_hour(tmp_path: Path) -> None:
    then = time.time() - 9000
    for name in ("aa", "bb"):
        os.utime(Cache(tmp_path).make("kernels", name, name, fill), (then, then))
    Cache(tmp_path).find("kernels", "aa")
    used = {entry.name: entry.used for entry in Cache(tmp_path).entries()}
    assert used["bb"] == pytest.approx(then)
    assert time.time() - used["aa"] < 3600


def test_what_is_in_use_stays_however_little_room_there_is(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    Cache(tmp_path).make("snapshots", "aa", "used just now", fill)
    old = Cache(tmp_path).make("snapshots", "bb", "being looked at", fill)
    os.utime(old, (0, 0))

    async def locked() -> None:
        async with cache.hold_lock("snapshots", "bb"):
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


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a byte flipped": lambda place: flip(place / "content"),
    "a file cut": lambda place: os.truncate(place / "content", 5000),
    "a file grown": lambda place: os.truncate(place / "content", 20_000),
    "a file missing": lambda place: (place / "below/more").unlink(),
    "a file added": lambda place: (place / "below/another").write_text(""),
    "two files swapped": lambda place: swap(place / "content", place / "below/more"),
    "a file made a program": lambda place: (place / "content").chmod(0o755),
    "a link led elsewhere": lambda place: relink(place / "link"),
    "a folder for a file": lambda place: refolder(place / "content"),
    "no manifest": lambda place: (place / "manifest").unlink(),
    "the manifest damaged": lambda place: flip(place / "manifest"),
    "the manifest cut": lambda place: os.truncate(place / "manifest", 100),
    "a folder missing": lambda place: (place / "empty").rmdir(),
}


def fill_much(folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "empty").mkdir()
    (folder / "content").write_text("x" * 10_000)
    (folder / "below/more").write_text("y" * 10_000)
    (folder / "link").symlink_to("below/more")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def swap(one: Path, other: Path) -> None:
    between = one.with_name("between")
    one.rename(between)
    other.rename(one)
    between.rename(other)


def relink(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def refolder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_damaged_is_made_again_and_told(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = Cache(tmp_path).make("kernels", "aa", "a kernel", fill_much)
    before = {path: path.lstat().st_mtime_ns for path in place.rglob("*")}
    assert Cache(tmp_path).find("kernels", "aa") == place
    assert not caplog.messages
    DAMAGE[kind](place)
    assert Cache(tmp_path).make("kernels", "aa", "a kernel", fill_much) == place
    (said,) = caplog.messages
    assert "cache" in said
    assert "kernels aa (a kernel)" in said
    assert Cache(tmp_path).find("kernels", "aa") == place
    assert set(place.rglob("*")) == before.keys()
    assert len(caplog.messages) == 1


def test_two_entries_that_changed_places_are_both_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    places = [Cache(tmp_path).make("guests", name, name, fill) for name in ("aa", "bb")]
    swap(*places)
    assert [Cache(tmp_path).find("guests", name) for name in ("aa", "bb")] == [None, None]
    assert "its manifest belongs to guests/bb" in caplog.messages[0]


def test_only_the_parts_that_are_used_are_looked_at(tmp_path: Path) -> None:
    place = Cache(tmp_path).make("packages", "aa", "a package", fill_much)
    flip(place / "below/more")
    assert Cache(tmp_path).find("packages", "aa", ("content",)) == place
    assert Cache(tmp_path).find("packages", "aa", ("content", "bel*")) is None


def test_a_part_that_an_entry_does_not_have_is_damage(tmp_path: Path) -> None:
    Cache(tmp_path).make("packages", "aa", "a package", fill)
    assert Cache(tmp_path).find("packages", "aa", ("nothing",)) is None


def test_zeros_that_are_written_are_the_holes_that_they_were(tmp_path: Path) -> None:
    """A copy of a cache may keep holes or not, and is the same cache."""

    def sparse(folder: Path) -> None:
        with (folder / "ram").open("wb") as file:
            file.truncate(5 << 20)
            file.seek(3_000_001)
            file.write(b"x" * 5000)

    place = Cache(tmp_path).make("snapshots", "aa", "a snapshot", sparse)
    (place / "ram").write_bytes((place / "ram").read_bytes())
    assert Cache(tmp_path).find("snapshots", "aa") == place
    with (place / "ram").open("r+b") as file:
        file.seek(1 << 20)
        file.write(b"\1")
    assert Cache(tmp_path).find("snapshots", "aa") is None


def test_one_of_an_older_hardcost_is_kept_where_it_is_known_to_be_whole(tmp_path: Path) -> None:
    place = Cache(tmp_path).make("images", "aa", "an image", fill)
    (place / "manifest").unlink()
    assert Cache(tmp_path).find("images", "aa", known=lambda _: True) == place
    assert Cache(tmp_path).find("images", "aa") == place  # it has a manifest now
    (place / "manifest").unlink()
    assert Cache(tmp_path).find("images", "aa", known=lambda _: False) is None


def test_what_a_run_uses_is_not_removed_before_it_ends(tmp_path: Path) -> None:
    for name in ("aa", "bb"):
        Cache(tmp_path).make("kernels", name, name, fill)
    use = (
        "import sys; from pathlib import Path; from hardcost.supply.cache.cache import Cache;"
        "cache = Cache(Path(sys.argv[1])); print(cache.find('kernels', 'aa')); sys.stdout.flush();"
        "sys.stdin.read()"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", use, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with run:
        assert run.stdout is not None
        assert run.stdout.readline().strip() == bytes(tmp_path / "kernels/aa")
        cache = Cache(tmp_path)
        assert [one.name for one in cache.remove(cache.entries_named(("aa",)))[1]] == ["aa"]
        gone, stays = cache.remove(cache.entries())
        assert [entry.name for entry in (*gone, *stays)] == ["bb", "aa"]
        run.kill()
    assert cache.remove(cache.entries())[1] == ()
    assert not any((tmp_path / "kernels").iterdir())


def test_a_removal_that_is_cut_short_leaves_nothing_that_counts_as_whole(tmp_path: Path) -> None:
    def fill_thousands(folder: Path) -> None:
        for number in range(3000):
            (folder / f"{number}").write_text("")

    place = Cache(tmp_path).make("packages", DIGEST, "a package", fill_thousands)
    remove = (
        "import sys; from pathlib import Path; from hardcost.supply.cache.cache import Cache;"
        "cache = Cache(Path(sys.argv[1])); cache.remove(cache.entries_named(sys.argv[2:]))"
    )
    run = subprocess.Popen([sys.executable, "-c", remove, tmp_path, DIGEST])
    with run:
        while place.exists() and run.poll() is None:
            time.sleep(0.0005)
        run.send_signal(signal.SIGKILL)
    assert not place.exists()
    assert Cache(tmp_path).find("packages", DIGEST) is None
    assert not any((tmp_path / "packages").iterdir())  # the rest was swept


def test_a_list_sweeps_what_the_dead_left_half_made(tmp_path: Path) -> None:
    left = tmp_path / "snapshots" / f".{DIGEST}-x1_abcde"
    left.mkdir(parents=True)
    with Cache(tmp_path).building("snapshots", "bb", "") as made:
        assert made is not None
        assert Cache(tmp_path).entries() == ()
        assert made.is_dir()
    assert not left.exists()


def test_what_only_looks_like_something_that_the_dead_left_stays(tmp_path: Path) -> None:
    """A user may name a folder that holds other things."""
    others = (
        "images/.cover-2024",
        "sources/.git-hooks",
        f"kernels/.{DIGEST}-mine",
        "builds/.ccache-mynotes",
        "scratch/a",
        "images/holiday",
        "sources/work",
        "snapshots/mine",
    )
    for name in others:
        (tmp_path / name).mkdir(parents=True)
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "scratch" / "a.lock").touch()
    Cache(tmp_path).find("kernels", "bb")
    Cache(tmp_path).make("builds", "ccache", "compiled", fill)
    assert Cache(tmp_path).make_room("snapshots", 0) == ()
    Cache(tmp_path).remove(Cache(tmp_path).entries())
    assert all((tmp_path / name).is_dir() for name in others)
    assert (tmp_path / "scratch" / "a.lock").exists()


@pytest.mark.parametrize("kind", ["scratch", "kernels"])
def test_no_removal_sweeps_through_a_link(tmp_path: Path, kind: str) -> None:
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "cache"
    theirs = [elsewhere / "77-abcdefgh", elsewhere / f".{DIGEST}-abcdefgh"]
    for one in theirs:
        one.mkdir(parents=True)
    (elsewhere / "77-abcdefgh.lock").touch()
    root.mkdir()
    (root / kind).symlink_to(elsewhere)
    cache = Cache(root)
    for _ in range(2):  # once refused, it is refused again
        with pytest.raises(MachineError, match="is a link"):
            cache.remove(cache.entries())
        with pytest.raises(MachineError, match="is a link"):
            cache.entries_named((DIGEST,))
    assert all(one.is_dir() for one in theirs)


def test_any_use_of_the_cache_sweeps_what_the_dead_left(tmp_path: Path) -> None:
    dead = tmp_path / "scratch" / "1-deadbeef"
    dead.mkdir(parents=True)
    dead.with_suffix(".lock").touch()
    (tmp_path / "kernels" / f".{DIGEST}-1.23").mkdir(parents=True)
    Cache(tmp_path).find("kernels", "bb")
    assert not any((tmp_path / "scratch").iterdir())
    assert not any((tmp_path / "kernels").iterdir())


FULL_DISK = """
import sys
from pathlib import Path
from hardcost.errors import MachineError
from hardcost.supply.cache.cache import Cache

root = Path(sys.argv[1])
Cache(root).make("kernels", "aa", "a kernel", lambda place: (place / "a").write_bytes(b"x" * 2**21))
try:
    Cache(root).make("kernels", "bb", "", lambda place: (place / "b").write_bytes(b"x" * 2**24))
except MachineError as error:
    print(error, "|", error.problems[0].hint)
try:
    (root / "rest").write_bytes(b"x" * 2**24)
except OSError:
    pass
gone, _ = Cache(root).remove(Cache(root).entries())
print(gone[0].name, [one.name for one in (root / "kernels").iterdir()])
"""


def test_a_full_disk_is_reported_and_something_can_be_removed_from_it(tmp_path: Path) -> None:
    mount = f"mount -t tmpfs -o size=8m none {tmp_path}"
    words = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh", sys.executable]
    able = subprocess.run([*words, "-c", ""], capture_output=True, check=False)
    if able.returncode:
        pytest.skip("only root can mount a small disk")
    done = subprocess.run(
        [*words, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=True
    )
    full, removed = done.stdout.splitlines()
    assert full.startswith(f"no space left on the disk of {tmp_path / 'kernels'} | free some")
    assert removed == "aa []"


HEAL = """
import sys
import time
from pathlib import Path
from hardcost.supply.cache.cache import Cache

def fill(folder):
    time.sleep(1)
    (folder / "content").write_text("whole")

place = Cache(Path(sys.argv[1])).make("kernels", "aa", "a kernel", fill)
print((place / "content").stat().st_ino, (place / "content").read_text())
"""


def test_two_runs_that_find_the_same_damage_make_it_again_once(tmp_path: Path) -> None:
    place = Cache(tmp_path).make("kernels", "aa", "a kernel", fill)
    flip(place / "content")
    words = [sys.executable, "-c", HEAL, str(tmp_path)]
    runs = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = {run.communicate()[0] for run in runs}
    assert [run.returncode for run in runs] == [0, 0]
    assert len(said) == 1
    assert "whole" in said.pop()
