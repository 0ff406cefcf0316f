from __future__ import annotations

import platform
import tarfile
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.kernels import source


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a folder with what makes a source one."""
    for name, text in {
        "Makefile": "# SPDX\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 9\nNAME = x\n",
        "Kconfig": "",
        "arch/x86/Kconfig": "",
        "scripts/Makefile.build": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_source_says_which_version_it_is(tree: Path) -> None:
    assert source.from_folder(tree).version == "6.1.9"


def test_a_source_is_named_by_all_that_is_in_it(tree: Path) -> None:
    before = source.from_folder(tree).digest
    assert source.from_folder(tree).digest == before
    (tree / ".git").mkdir()
    (tree / ".git" / "index").write_text("other")
    assert source.from_folder(tree).digest == before
    (tree / "init.c").write_text("int x;")
    changed = source.from_folder(tree).digest
    assert changed != before
    (tree / "init.c").rename(tree / "main.c")
    assert source.from_folder(tree).digest not in {before, changed}


def test_a_folder_that_is_no_source_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a Linux source: it has no Makefile"):
        source.from_folder(tmp_path)
    with pytest.raises(InputError, match="not a Linux source"):
        source.from_folder(tmp_path / "missing")


def test_a_source_that_was_built_in_place_is_refused(tree: Path) -> None:
    (tree / ".config").write_text("CONFIG_A=y\n")
    with pytest.raises(InputError, match="built or configured") as caught:
        source.from_folder(tree)
    assert "mrproper" in (caught.value.problems[0].hint or "")


def test_a_later_debian_without_the_source_says_so_and_what_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"ID": "debian", "VERSION_ID": "13", "PRETTY_NAME": "Debian GNU/Linux 13 (trixie)"}
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: said)

    def take() -> None:
        raise MachineError("apt offers no package linux-source-6.1 of Debian's bookworm")

    with pytest.raises(MachineError, match=r"13 \(trixie\) has no source of Linux 6\.1") as raised:
        source._of_debian(take, source.DebianSource())
    hint = raised.value.problems[0].hint
    assert hint is not None
    assert "--source FOLDER" in hint


def debians(cache: Cache, version: str, makefile: str) -> None:
    """Put one of Debian's packages of a source into the cache, and that it was looked up."""
    package = f"linux-source-{version}"

    def fill(folder: Path) -> None:
        (folder / "version").write_text(f"{version}.4-1")
        place = folder / "files/usr/src"
        place.mkdir(parents=True)
        (folder / package).mkdir()
        (folder / package / "Makefile").write_text(makefile)
        with tarfile.open(place / f"{package}.tar.xz", "w:xz") as archive:
            archive.add(folder / package, package)

    def found(folder: Path) -> None:
        (folder / "package").write_text(package)
        (folder / "release").write_text("trixie-backports")

    for title, filled in ((package, fill), (f"the source of Linux {version}", found)):
        key = digest({"package": title, "architecture": platform.machine()})
        cache.make("packages", key, title, filled)


def test_a_source_of_debian_s_is_named_by_its_version(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    debians(cache, "7.3", "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n")
    which = source.named_debian_source(cache, Path("debian:7.3"))
    assert which == source.DebianSource("linux-source-7.3", "trixie-backports")
    assert not source.is_unpacked(cache, which)
    found = source.debian_source(cache, which)
    assert (found.title, found.version) == ("linux-source-7.3 7.3.4-1", "7.3.4")
    assert source.is_unpacked(cache, which)
    assert not source.is_unpacked(cache, source.DebianSource())


def test_a_path_names_no_source_of_debian_s_and_6_1_is_the_usual_one(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert source.named_debian_source(cache, tmp_path) is None
    assert source.named_debian_source(cache, None) == source.named_debian_source(
        cache, Path("debian:6.1")
    )
    assert source.named_debian_source(cache, None) == source.DebianSource(
        "linux-source-6.1", "bookworm"
    )


def test_a_source_without_a_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names no version of Linux"):
        source.named_debian_source(Cache(tmp_path), Path("debian:newest"))
