"""Files out of packages are those that were asked for, and a missing one is an error."""

from __future__ import annotations

import functools
import platform
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.machines.vm.content import cpio
from hardcost.machines.vm.content.packages import Packages
from hardcost.supply.cache.cache import Cache, digest


def _unpack(name: str, files: tuple[str, ...], folder: Path) -> None:
    root = folder / "files"
    (root / "usr/bin").mkdir(parents=True)
    for path in files:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(path)
    if name == "two":
        (root / "usr/bin/as").symlink_to("x-as")
    (folder / "version").write_text("1")


@pytest.fixture
def packages(tmp_path: Path) -> Packages:
    """Return two packages that lie unpacked in a cache."""
    cache = Cache(tmp_path)
    for name, files in {"one": ("usr/bin/x-as", "usr/include/a.h"), "two": ()}.items():
        title = digest({"package": name, "architecture": platform.machine()})
        cache.make("packages", title, name, functools.partial(_unpack, name, files))
    return Packages(cache, ("one", "two"))


def test_what_matches_comes_with_its_permissions(packages: Packages) -> None:
    (header,) = packages.files(["usr/include/*.h"])
    assert header == cpio.regular("usr/include/a.h", b"usr/include/a.h", header.mode & 0o777)


def test_a_link_counts_even_if_it_leads_to_another_package(packages: Packages) -> None:
    assert packages.files(["usr/bin/as"]) == [cpio.link("usr/bin/as", "x-as")]


@pytest.mark.parametrize("pattern", ["bin/x-as", "include/*.h"])
def test_what_is_packed_below_usr_keeps_the_path_that_was_asked_for(
    packages: Packages, pattern: str
) -> None:
    (file,) = packages.files([pattern])
    assert file.path == pattern.replace("*", "a")


@pytest.mark.parametrize("pattern", ["usr/bin/ld", "usr/lib/*.a"])
def test_what_is_in_no_package_is_an_error_that_names_it(packages: Packages, pattern: str) -> None:
    with pytest.raises(MachineError, match="in none of the packages one, two") as error:
        packages.files([pattern])
    assert pattern in str(error.value)
