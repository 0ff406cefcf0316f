"""Making the Debian image: what is missing is reported first, and what is made is kept."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.host.process import run
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.images import debian, ext4, record, user_namespace
from hardcost.supply.images.root_image import RootImage
from hardcost.supply.packages.host_release import release


def test_missing_programs_are_named_with_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hardcost.host.process._SYSTEM_PROGRAMS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match="mmdebstrap, mke2fs, debugfs, unshare") as raised:
        debian.debian_image(Cache(tmp_path))
    hint = raised.value.problems[0].hint
    assert hint == "apt-get install e2fsprogs mmdebstrap util-linux"


@pytest.mark.parametrize("of", [None, "bookworm", "trixie"])
def test_an_image_that_is_kept_needs_nothing_to_be_installed(
    of: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = digest(debian._parts(of or release().codename))
    made: list[RootImage] = []

    def fill(folder: Path) -> None:
        (folder / "root.img").write_bytes(b"a root")
        made.append(RootImage(folder / "root.img", "abc", "Debian", debian.SIZE))
        record.keep(folder, made[0])

    place = Cache(tmp_path).make("images", name, "Debian", fill)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = debian.debian_image(Cache(tmp_path), release=of)
    assert found == replace(made[0], path=place / "root.img")


def test_an_image_has_the_title_of_its_release() -> None:
    assert debian.image_title() == release().title
    assert debian.image_title("trixie") == "Debian GNU/Linux 13 (trixie)"


def test_an_image_of_before_there_were_hashes_is_known_by_its_content(tmp_path: Path) -> None:
    for content, known in ((b"a root", True), (b"a r00t", False)):
        place = tmp_path / content.decode()
        place.mkdir()
        (place / "root.img").write_bytes(b"a root")
        said = ext4.content_digest(place / "root.img")
        record.keep(place, RootImage(place / "root.img", said, "Debian", debian.SIZE))
        (place / "root.img").write_bytes(content)
        assert record.is_known(place) == known


def test_another_list_of_packages_is_another_image(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(debian._parts("bookworm"))
    monkeypatch.setattr(debian, "PACKAGES", (*debian.PACKAGES, "more"))
    assert digest(debian._parts("bookworm")) != before


def test_a_tree_of_several_users_is_removed_whole(tmp_path: Path) -> None:
    if (why := user_namespace.why_not()) is not None:
        pytest.skip(why)
    tree = tmp_path / "tree"
    script = 'mkdir -p "$0/a/b" && chown -R 33:33 "$0/a" && chmod 0 "$0/a" && hostname'
    said = run(user_namespace.as_root(["sh", "-c", script, tree]))
    assert said == "hardcost\n"
    user_namespace.remove(tree)
    assert not tree.exists()
    user_namespace.remove(tree)


def test_the_setup_leaves_what_mmdebstrap_keeps_in_the_root() -> None:
    """Its settings of apt lie in the root's /tmp; without them it would work on the host's."""
    clears = re.compile(r"\s/(run|tmp)(/\*|/?\s)")
    assert clears.search("rm -rf /run/* /var/tmp/*")
    commands = [line for line in debian._setup().splitlines() if not line.startswith("#")]
    assert not any(clears.search(f"{line}\n") for line in commands)
