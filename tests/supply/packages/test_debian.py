"""Packages in the cache: which of several names was taken, and what is no name of one."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.packages import debian, host_release


def kept(cache: Cache, package: str, *files: str, release: str | None = None) -> Path:
    """Put a package's entry into the cache: its `files`, each `PATH=CONTENT`."""

    def fill(folder: Path) -> None:
        for file in files:
            path, _, text = file.partition("=")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)

    of = {} if release is None else {"release": release}
    key = digest({"package": package, "architecture": platform.machine(), **of})
    return cache.make("packages", key, package, fill)


def test_what_was_chosen_of_alternatives_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    kept(cache, "old", "version=1")
    new = kept(cache, "new", "version=2")
    kept(cache, "new | old", "package=new")
    assert debian.package_folder(cache, "new | old") == new / "files"
    assert debian.version(cache, "new | old") == "2"


def test_a_package_of_another_release_is_kept_beside_the_host_s(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    kept(cache, "libc6", "version=2.36")
    other = kept(cache, "libc6", "version=2.41", release="trixie")
    kept(cache, "new | old", "package=libc6", release="trixie")
    assert debian.version(cache, "libc6") == "2.36"
    assert debian.version(cache, "libc6", release="trixie") == "2.41"
    assert debian.package_folder(cache, "new | old", release="trixie") == other / "files"


def test_a_release_that_is_named_is_asked_alone_and_without_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apt").mkdir()
    log, apt = tmp_path / "log", tmp_path / "apt/apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >>{log}\n')
    apt.chmod(0o755)
    (tmp_path / "apt/apt-cache").symlink_to(apt)
    monkeypatch.setenv("PATH", f"{tmp_path / 'apt'}:/usr/bin:/bin")
    monkeypatch.setattr("hardcost.supply.packages.apt.debian_sources", lambda _own, as_of: as_of)
    cache = Cache(tmp_path / "cache")
    with pytest.raises(MachineError, match="apt offers no package libc6 of Debian's trixie") as no:
        debian.package_folder(cache, "libc6", release="trixie")
    assert "debian-archive-keyring" in str(no.value.problems[0].hint)
    with pytest.raises(MachineError, match="apt offers no package linux-image-amd64 of Debian's"):
        debian.current_kernel(cache, "trixie")
    asked = log.read_text().splitlines()
    assert asked
    for words in asked:
        assert f"-oDir::Etc::SourceList={cache.root}/apt-trixie/debian.sources" in words
        assert "-oDir::State::Status=/dev/null" in words
        assert "-oDir::Etc::PreferencesParts=/dev/null" in words


@pytest.mark.parametrize(
    "name",
    ["-oAPT::Update::Pre-Invoke::=id", "--help", "a", "Libc6", "libc6=1", "a b", "x/../y", ""],
)
def test_what_is_no_name_of_a_package_is_refused_before_apt_sees_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match="is not a valid name of a Debian package"):
        debian.package_folder(Cache(tmp_path), name)


def test_apt_takes_no_name_for_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second guard, without the first: programs in apt's place note what they are given."""
    (tmp_path / "apt").mkdir()
    log, apt = tmp_path / "log", tmp_path / "apt/apt-get"
    name = "-oAPT::Update::Pre-Invoke::=id"
    offers = f"printf -- '{name}:\\n  Installed: (none)\\n  Candidate: 1\\n'"
    apt.write_text(
        f'#!/bin/sh\necho "$@" >>{log}\ncase "$*" in *policy*) {offers};; *) exit 1;; esac\n'
    )
    apt.chmod(0o755)
    (tmp_path / "apt/apt-cache").symlink_to(apt)
    monkeypatch.setenv("PATH", f"{tmp_path / 'apt'}:/usr/bin:/bin")
    monkeypatch.setattr(debian, "_check_name", lambda name: name)
    with pytest.raises(MachineError):
        debian.package_folder(Cache(tmp_path / "cache"), name)
    said = log.read_text()
    assert f"policy -- {name}" in said
    assert f"download -- {name}" in said


def test_a_version_is_known_where_it_is_what_was_recorded(tmp_path: Path) -> None:
    place = kept(Cache(tmp_path), "libc6", "version=2.36-9+deb12u9")
    assert debian._recorded_version(place) == "2.36-9+deb12u9"
    (place / "version").write_text("2.36-9+deb12u8")
    assert debian._recorded_version(place) is None
    (place / "manifest").unlink()
    assert debian._recorded_version(place) == "2.36-9+deb12u8"
    (place / "version").write_text("-o1")
    assert debian._recorded_version(place) is None


KERNELS = (
    "linux-image-6.1.0-56-amd64",
    "linux-image-6.1.0-9-amd64",
    "linux-image-6.12-amd64",
    "linux-image-6.12.9+deb12-amd64",
    "linux-image-6.12.117+deb12-amd64",
    "linux-image-6.12.117+deb12-cloud-amd64",
    "linux-image-6.12.117+deb12-rt-amd64",
    "linux-image-7.3.4-amd64",
)


@pytest.mark.parametrize(
    ("version", "package"),
    [
        ("6.1", KERNELS[0]),
        ("6.12", KERNELS[4]),
        ("6.12.9", KERNELS[3]),
        ("6.12.117+deb12", KERNELS[4]),
        ("7.3", KERNELS[7]),
        ("6.12.11", None),
        ("7.4", None),
    ],
)
def test_the_newest_ordinary_kernel_of_a_version_is_taken(
    version: str, package: str | None
) -> None:
    assert debian.newest_kernel(KERNELS, version) == package


@pytest.mark.parametrize("version", ["", "6", "x", "6.1;id", "-o6.1", "6.1 ", "../6.1", "6.1\n"])
def test_what_is_no_version_is_refused_before_apt_sees_it(version: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names no version of Linux"):
        debian.kernel_of(Cache(tmp_path), version)


SEARCHED = (
    "linux-source - Linux kernel source (meta-package)",
    "linux-source-6.1 - Linux kernel source for version 6.1 with Debian patches",
    "linux-source-6.12 - Linux kernel source for version 6.12 with Debian patches",
)


def apt_that_finds(folder: Path, lines: tuple[str, ...]) -> str:
    """Return a PATH with an apt that finds these packages, and counts how often it is asked."""
    folder.mkdir()
    listed = "".join(f"echo '{line}'\n" for line in lines)
    program = folder / "apt-cache"
    program.write_text(f"#!/bin/sh\necho asked >>{folder}/log\n{listed}")
    program.chmod(0o755)
    (folder / "apt-get").symlink_to("/bin/false")
    return f"{folder}:/usr/bin:/bin"


def test_a_source_is_found_by_its_version_and_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", apt_that_finds(tmp_path / "apt", SEARCHED))
    cache = Cache(tmp_path / "cache")
    found = debian.source_of(cache, "6.12")
    assert found == ("linux-source-6.12", host_release.release().codename)
    asked = (tmp_path / "apt/log").read_text()
    assert debian.source_of(cache, "6.12") == found
    assert (tmp_path / "apt/log").read_text() == asked


def test_a_source_that_debian_lacks_is_refused_with_those_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", apt_that_finds(tmp_path / "apt", SEARCHED))
    with pytest.raises(InputError, match=r"has no source of Linux 5\.10") as raised:
        debian.source_of(Cache(tmp_path / "cache"), "5.10")
    assert raised.value.problems[0].hint == "it has 6.1, 6.12"
