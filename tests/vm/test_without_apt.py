"""A host without apt and dpkg: packages come straight from Debian's archive, and count the same."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian, host_release, signatures
from hardcost.supply.packages.apt_sources import debian_sources
from hardcost.supply.packages.mirror import own_keys
from tests.vm.conftest import Command

pytestmark = [pytest.mark.vm, pytest.mark.slow]

PACKAGE = "libcap-ng0"
JSON = ("--workload", "syscalls calls=null+open", "--format", "json")
RULE = "-a always,exit -F arch=b64 -S chmod -F auid>=1000 -k perm\n"


@pytest.fixture
def path_without_apt() -> Iterator[str]:
    """Give a PATH with all programs but apt's and dpkg's, where QEMU's own user finds it, too."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for place in map(Path, os.environ["PATH"].split(":")):
            for one in place.iterdir() if place.is_dir() else ():
                link = folder / one.name
                if not one.name.startswith(("apt", "dpkg")) and not link.is_symlink():
                    link.symlink_to(one)
        yield name


def todays_lists(folder: Path) -> dict[str, str]:
    """Return the environment in which apt has lists of today, as the archive has.

    The host's own may be older; they stay as they are.
    """
    (folder / "lists/partial").mkdir(parents=True)
    (folder / "cache/archives/partial").mkdir(parents=True)
    config = folder / "apt.conf"
    config.write_text(
        f'Dir::State::Lists "{folder}/lists";\n'
        f'Dir::Cache "{folder}/cache";\n'
        'APT::Sandbox::User "root";\n'  # no other user opens a test's folder
    )
    own = {"APT_CONFIG": str(config)}
    subprocess.run(["apt-get", "update", "-qq"], env={**os.environ, **own}, check=True)
    return own


def test_the_keys_that_come_with_hardcost_are_debian_s(hardcost: Command) -> None:
    folder = debian.package_folder(Cache(hardcost.cache), "debian-archive-keyring")
    theirs = {one.read_bytes() for one in folder.rglob("*.gpg")}
    ours = [signatures.binary(one) for one in own_keys()]
    assert len(ours) == 6
    assert all(one in theirs for one in ours)


@pytest.mark.lengthy
def test_a_bill_without_apt_has_the_counts_of_one_with_it(
    hardcost: Command, path_without_apt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both with a cache of their own, so that both take today's packages."""
    rules = hardcost.write("my.rules", RULE)
    own = replace(hardcost, cache=tmp_path / "with", extra=todays_lists(tmp_path / "apt"))
    mirror = re.search(r"https?://\S+", debian_sources(host_release.release().codename))
    assert mirror
    extra = {"PATH": path_without_apt, "HARDCOST_DEBIAN_MIRROR": mirror[0]}
    without = replace(hardcost, cache=tmp_path / "without", extra=extra)
    usual, alone = own("bill", rules, *JSON).data(), without("bill", rules, *JSON, "--fresh").data()
    for part in ("environment", "totals", "items", "rest", "interaction"):
        assert alone[part] == usual[part]
    assert list((tmp_path / "without").glob("archive-*-amd64/packages.json"))
    monkeypatch.setenv("PATH", path_without_apt)
    assert not host_release.check().has_apt
