"""Debian's QEMU: the version that was tried, or the one that the user names, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators import debian
from hardcost.supply.emulators.releases import releases
from hardcost.supply.packages import mirror

TRIED = debian.debian_qemu("13")
RELEASE = TRIED.release
NEWER = "1:10.0.99+ds-0+deb13u2+b1"
OFFERED = {
    **{name: (one.version,) for name, one in RELEASE.packages.items()},
    **dict.fromkeys(RELEASE.libraries, ("2-1", "1-1")),
}
"""What a release offers on the day on which it was tried."""
LATER = OFFERED | {
    "qemu-system-x86": (NEWER,),
    "qemu-system-common": (NEWER,),
    "qemu-system-data": (NEWER.removesuffix("+b1"),),
    "seabios": ("1.16.3-3",),
}
"""The same after an update."""


def test_every_package_that_decides_counts_has_a_version_and_a_hash() -> None:
    for release in releases().values():
        assert "qemu-system-x86" in release.packages
        assert all(len(one.sha256) == 64 for one in release.packages.values())
        assert not {*release.packages} & {*release.libraries}


def test_what_was_tried_is_taken_and_the_newest_of_libraries() -> None:
    chosen = debian.choose_versions(TRIED, OFFERED)
    assert chosen["qemu-system-x86"] == RELEASE.version
    assert chosen["libc6"] == "2-1"
    assert chosen.keys() == OFFERED.keys()


def test_where_that_is_gone_the_newest_is_named_and_not_taken() -> None:
    with pytest.raises(MachineError, match=r"Debian 13 no longer has qemu-system-x86 1:10\.0\.13"):
        debian.choose_versions(TRIED, LATER)
    with pytest.raises(MachineError) as raised:
        debian.choose_versions(TRIED, LATER | {"qemu-system-x86": (NEWER, RELEASE.version)})
    assert f"`--qemu debian:13={NEWER}`" in str(raised.value.problems[0].hint)


def test_a_version_that_the_user_names_is_taken_with_what_belongs_to_it() -> None:
    chosen = debian.choose_versions(debian.debian_qemu(f"13={NEWER}"), LATER)
    own = {name: chosen[name] for name in RELEASE.packages}
    assert own == {name: versions[0] for name, versions in LATER.items() if name in own}


def test_a_version_that_the_release_lacks_is_refused_with_one_that_it_has() -> None:
    with pytest.raises(InputError, match=r"has no qemu-system-x86 1:9\.0-1") as raised:
        debian.choose_versions(debian.debian_qemu("13=1:9.0-1"), LATER)
    assert raised.value.problems[0].hint == f"it has {NEWER}"


def test_lists_that_lack_a_package_are_no_offer() -> None:
    with pytest.raises(MachineError, match="offers no qemu-system-x86 here"):
        debian.choose_versions(TRIED, {})
    with pytest.raises(MachineError, match="offers no package zlib1g"):
        debian.choose_versions(TRIED, {name: OFFERED[name] for name in OFFERED if name != "zlib1g"})


@pytest.mark.parametrize("text", ["12", "", "trixie", "13 ", "host"])
def test_a_release_that_has_none_is_refused_with_those_that_have(text: str) -> None:
    with pytest.raises(InputError, match=f"there is no QEMU 'debian:{text}'") as raised:
        debian.debian_qemu(text)
    assert raised.value.problems[0].hint == "there is debian:13"


@pytest.mark.parametrize("version", ["", "-oAPT::x=y", "1;id", "1 2", "x", "1\n", "../1"])
def test_what_is_no_version_is_refused_before_apt_sees_it(version: str) -> None:
    with pytest.raises(InputError, match="is no version of a Debian package"):
        debian.debian_qemu(f"13={version}")


def test_a_package_with_another_hash_is_refused(tmp_path: Path) -> None:
    (tmp_path / "seabios_1.deb").write_bytes(b"something else")
    archive = debian._archive(tmp_path, "seabios")
    with pytest.raises(MachineError, match="the package seabios that came has the SHA-256"):
        debian._check_digest(archive, "seabios", RELEASE.packages["seabios"].sha256)


def test_what_was_not_downloaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="nothing was downloaded for the package seabios"):
        debian._archive(tmp_path, "seabios")


def test_what_another_hardcost_tried_is_another_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    before = debian._name(TRIED), debian._name(debian.debian_qemu(f"13={NEWER}"))
    seabios = RELEASE.packages["seabios"].model_copy(update={"sha256": "0" * 64})
    packages = {**RELEASE.packages, "seabios": seabios}
    other = {"13": RELEASE.model_copy(update={"packages": packages})}
    monkeypatch.setattr(debian, "releases", lambda: other)
    assert debian._name(TRIED) != before[0]
    assert debian._name(debian.debian_qemu(f"13={NEWER}")) == before[1]


def test_only_what_qemu_needs_stays_and_its_own_user_can_read_it(tmp_path: Path) -> None:
    whole, kept = tmp_path / "whole", tmp_path / "kept"
    libraries = "usr/lib/x86_64-linux-gnu"
    needed = {
        "usr/bin/qemu-system-x86_64",
        f"{libraries}/libc.so.6",
        f"{libraries}/qemu/one.so",
        "usr/share/qemu/keymaps/de",
        "usr/share/seabios/bios.bin",
    }
    for path in (*needed, "usr/bin/qemu-system-i386", f"{libraries}/perl/x.pm", "etc/passwd"):
        (whole / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (whole / path).touch()
    (whole / libraries / "libm.so").symlink_to("libm.so.6")
    debian._keep(whole, kept)
    found = {str(one.relative_to(kept)) for one in kept.rglob("*") if not one.is_dir()}
    assert found == needed | {f"{libraries}/libm.so"}
    folders = [kept, *(one for one in kept.rglob("*") if one.is_dir())]
    assert {one.stat().st_mode & 0o777 for one in folders} == {0o755}


def test_where_nothing_can_be_fetched_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in apt's place, which reaches no mirror."""
    for name in ("apt-get", "apt-cache"):
        (tmp_path / name).write_text("#!/bin/sh\necho no mirror >&2\nexit 100\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv(mirror.MIRROR, raising=False)
    cache, heard = Cache(tmp_path / "cache"), list[str]()
    with pytest.raises(MachineError):
        debian.emulator(cache, TRIED, heard.append)
    assert heard == [f"fetching {TRIED.title}; this happens once …"]
    assert not debian.is_here(cache, TRIED)
    assert cache.entries() == ()
