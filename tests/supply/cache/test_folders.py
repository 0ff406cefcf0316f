"""Files of the cache's own: no link is followed, no pipe waited for, no device read."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hardcost.errors import HardcostError, MachineError, StoreError
from hardcost.supply.cache import folders, setup_times
from hardcost.supply.cache.built_kernels import read_sealed, write_sealed
from hardcost.supply.cache.cache import KINDS, Cache
from hardcost.supply.kernels.build_tree import Tree
from hardcost.supply.transfer import Supply, find_supply

PRECIOUS = "precious"
STRANGE: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda place, aim: place.symlink_to(aim),
    "dangling link": lambda place, aim: place.symlink_to(aim.with_name("made")),
    "pipe": lambda place, _: os.mkfifo(place),
    "device": lambda place, _: place.symlink_to("/dev/zero"),
    "folder": lambda place, _: place.mkdir(),
}


def fill(folder: Path) -> None:
    (folder / "content").write_text("x")


@pytest.fixture(params=STRANGE)
def strange(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Path], Path]:
    """Return what puts something strange in place of a file, and gives it back."""
    aim = tmp_path / "aim"
    aim.write_text(PRECIOUS)

    def put(place: Path) -> Path:
        place.parent.mkdir(parents=True, exist_ok=True)
        folders.delete(place)
        STRANGE[request.param](place, aim)
        return place

    return put


@pytest.fixture(autouse=True)
def _untouched(tmp_path: Path) -> object:
    """Check that nothing was done through a link."""
    yield
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "aim").exists() or (tmp_path / "aim").read_text() == PRECIOUS


def test_a_lock_is_a_file_or_refused(tmp_path: Path, strange: Callable[[Path], Path]) -> None:
    cache = Cache(tmp_path / "cache")
    strange(cache.root / "locks" / "kernels-aa")
    with pytest.raises(StoreError, match="kernels-aa can't be used: it is a"):
        cache.make("kernels", "aa", "a kernel", fill)


def test_a_lock_of_those_who_use_an_entry_is_a_file_or_refused(
    tmp_path: Path, strange: Callable[[Path], Path]
) -> None:
    root = tmp_path / "cache"
    Cache(root).make("kernels", "aa", "a kernel", fill)
    strange(root / "locks" / "kernels-aa.used")
    with pytest.raises(StoreError, match=r"kernels-aa\.used can't be used: it is a"):
        Cache(root).find("kernels", "aa")


def test_what_a_lock_holds_stays(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(PRECIOUS)
    with folders.open_lock(tmp_path / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert (tmp_path / "lock").read_text() == PRECIOUS


def test_a_lock_of_scratch_that_is_none_is_refused(
    tmp_path: Path, strange: Callable[[Path], Path]
) -> None:
    root = tmp_path / "cache"
    strange(root / "scratch" / "1-deadbeef.lock")
    with pytest.raises(StoreError, match=r"1-deadbeef\.lock can't be used"):
        Cache(root).make("kernels", "aa", "a kernel", fill)


@pytest.mark.parametrize("kind", [*KINDS, "locks", "scratch", "logs", "apt", "took.jsonl"])
def test_a_link_in_the_cache_s_folder_is_refused_and_nothing_is_swept_behind_it(
    tmp_path: Path, kind: str
) -> None:
    root, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    (elsewhere / ".config-mine").mkdir(parents=True)
    (elsewhere / "1-x").mkdir()
    (elsewhere / "1-x.lock").touch()
    root.mkdir()
    (root / kind).symlink_to(elsewhere)
    with pytest.raises(MachineError, match=f"{kind} in the cache is a link"):
        Cache(root).find("kernels", "aa")
    assert sorted(one.name for one in elsewhere.iterdir()) == [".config-mine", "1-x", "1-x.lock"]


def test_an_entry_that_is_a_link_is_no_entry(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = tmp_path / "cache"
    place = Cache(root).make("kernels", "aa", "a kernel", fill)
    place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "moved")
    assert Cache(root).entries() == ()
    assert Cache(root).find("kernels", "aa") is None
    assert caplog.messages == ["cache: kernels aa is made again, since it is a link"]
    assert folders.is_folder(Cache(root).make("kernels", "aa", "a kernel", fill))
    assert (tmp_path / "moved" / "content").read_text() == "x"


def test_a_manifest_that_is_no_file_is_damage(
    tmp_path: Path, strange: Callable[[Path], Path], caplog: pytest.LogCaptureFixture
) -> None:
    root = tmp_path / "cache"
    strange(Cache(root).make("kernels", "aa", "a kernel", fill) / "manifest")
    assert Cache(root).find("kernels", "aa") is None
    assert "its manifest can't be read" in caplog.text
    assert (Cache(root).make("kernels", "aa", "a kernel", fill) / "content").read_text() == "x"


def test_a_title_that_is_no_file_is_none(tmp_path: Path, strange: Callable[[Path], Path]) -> None:
    root = tmp_path / "cache"
    strange(Cache(root).make("kernels", "aa", "a kernel", fill) / "title")
    assert [one.title for one in Cache(root).entries()] == [""]


def test_what_took_how_long_is_a_file_or_refused(
    tmp_path: Path, strange: Callable[[Path], Path]
) -> None:
    cache = Cache(tmp_path)
    strange(tmp_path / "took.jsonl")
    for use in (
        lambda: setup_times.remember(cache, "boot", 1.0),
        lambda: setup_times.past_seconds(cache),
    ):
        with pytest.raises(HardcostError, match=r"took\.jsonl can't be used"):
            use()


def test_a_sealed_text_is_a_file_and_replaces_what_is_none(
    tmp_path: Path, strange: Callable[[Path], Path]
) -> None:
    place = tmp_path / "text"
    strange(place)
    assert read_sealed(place) is None
    if place.is_dir() and not place.is_symlink():
        place.rmdir()
    write_sealed(place, "our text")
    assert read_sealed(place) == "our text"
    assert not place.is_symlink()


@pytest.mark.parametrize("name", ["../../victim", "/victim", "a/../../../victim"])
def test_a_tree_restores_no_file_outside_itself(tmp_path: Path, name: str) -> None:
    source, place = tmp_path / "source", tmp_path / "builds" / "x"
    place.mkdir(parents=True)
    source.mkdir()
    (source / "Makefile").write_text("all:")
    (tmp_path / "victim").write_text(PRECIOUS)
    tree = Tree(place, source)
    assert tree.make()
    (place / "tree.touched").write_text(name)
    assert tree.make()  # again, since its note is not to be believed
    assert (place / "tree.touched").read_text() == ""
    assert (tmp_path / "victim").read_text() == PRECIOUS


def test_a_supply_is_sought_only_in_the_cache(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text(PRECIOUS)
    for place in (f"{victim}/file", f"{tmp_path.name}/victim/file", "../victim/file/x"):
        assert find_supply(Supply("0" * 64, 8, "", place), Cache(tmp_path)) is None
    assert (victim / "file").read_text() == PRECIOUS


def test_whose_cache_it_is_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Cache(tmp_path).find("kernels", "aa")
    assert not caplog.messages
    tmp_path.chmod(0o777)
    Cache(tmp_path).find("kernels", "aa")
    assert caplog.messages == [
        f"the cache {tmp_path} can be written to by every user, who then decides what runs here"
    ]
    caplog.clear()
    tmp_path.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(tmp_path, 65534, -1)
        Cache(tmp_path).find("kernels", "aa")
        assert "belongs to the user 65534, who decides what runs here" in caplog.text
