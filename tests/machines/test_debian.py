"""Packages in the cache: which of several names was taken, and where the examples lie."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import pytest

from hardcost.errors import MachineError
from hardcost.machines import debian
from hardcost.machines.cache import Cache, digest

if TYPE_CHECKING:
    from pathlib import Path


def kept(cache: Cache, package: str, name: str, text: str) -> Path:
    """Put a file of a package's entry into the cache."""
    key = digest({"package": package, "architecture": platform.machine()})
    path = cache.root / "packages" / key / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path.parent


def test_what_was_chosen_of_alternatives_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    kept(cache, "old", "version", "1")
    new = kept(cache, "new", "version", "2")
    kept(cache, "new | old", "package", "new")
    assert debian.unpacked(cache, "new | old") == new / "files"
    assert debian.version(cache, "new | old") == "2"


@pytest.mark.parametrize("folder", ["rules", "audit-rules"])
def test_the_examples_of_rules_are_found_in_either_folder(tmp_path: Path, folder: str) -> None:
    cache = Cache(tmp_path)
    package = kept(cache, "auditd", "version", "1")
    place = package / "files/usr/share/doc/auditd/examples" / folder
    place.mkdir(parents=True)
    assert debian.sample_rules(cache) == place


def test_a_package_without_examples_is_an_error(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    kept(cache, "auditd", "version", "1")
    with pytest.raises(MachineError, match="the package auditd has no"):
        debian.sample_rules(cache)
