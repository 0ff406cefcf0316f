"""Names of packages: what is none reaches no program."""

from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.machines import debian
from hardcost.machines.cache import Cache


@pytest.mark.parametrize(
    "name",
    ["-oAPT::Update::Pre-Invoke::=id", "--help", "a", "Libc6", "libc6=1", "a b", "x/../y", ""],
)
def test_what_is_no_name_of_a_package_is_refused_before_apt_sees_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match="is no name of a Debian package"):
        debian.unpacked(Cache(tmp_path), name)


def test_apt_takes_no_name_for_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second guard, without the first: a program in apt's place notes what it is given."""
    (tmp_path / "apt").mkdir()
    log, apt = tmp_path / "log", tmp_path / "apt/apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >>{log}\nexit 1\n')
    apt.chmod(0o755)
    (tmp_path / "apt/apt-cache").symlink_to(apt)
    monkeypatch.setenv("PATH", f"{tmp_path / 'apt'}:/usr/bin:/bin")
    monkeypatch.setattr(debian, "_checked", lambda name: name)
    cache = Cache(tmp_path / "cache")
    with pytest.raises(MachineError):
        debian.unpacked(cache, "-oAPT::Update::Pre-Invoke::=id")
    assert "download -- -oAPT" in log.read_text()


def test_a_version_is_known_where_it_is_what_was_recorded(tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "version").write_text("2.36-9+deb12u9")

    place = Cache(tmp_path).make("packages", "aa", "a package", fill)
    assert debian._recorded_version(Cache(tmp_path), "aa") == "2.36-9+deb12u9"
    (place / "version").write_text("2.36-9+deb12u8")
    assert debian._recorded_version(Cache(tmp_path), "aa") is None
    (place / "manifest").unlink()
    assert debian._recorded_version(Cache(tmp_path), "aa") == "2.36-9+deb12u8"
    (place / "version").write_text("-o1")
    assert debian._recorded_version(Cache(tmp_path), "aa") is None
