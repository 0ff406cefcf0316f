"""A host on which hardcost can't measure is named at once, with what to do."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from hardcost.cli.main import main
from hardcost.errors import MachineError
from hardcost.supply.packages import host_release

DEBIAN = {"ID": "debian", "VERSION_ID": "13", "PRETTY_NAME": "Debian GNU/Linux 13 (trixie)"}
OTHERS = {
    "not Debian": {"ID": "fedora", "VERSION_ID": "42", "PRETTY_NAME": "Fedora Linux 42"},
    "not Debian's own": {"ID": "ubuntu", "ID_LIKE": "debian", "PRETTY_NAME": "Ubuntu 24.04 LTS"},
    "not tested with it": {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux forky/sid"},
    "an unknown system": {},
}


@pytest.mark.parametrize(("number", "codename"), [("12", "bookworm"), ("13", "trixie")])
def test_a_supported_debian_is_known_by_its_number(number: str, codename: str) -> None:
    found = host_release.release(DEBIAN | {"VERSION_ID": number})
    assert found == host_release.HostRelease(codename, "Debian GNU/Linux 13 (trixie)")


@pytest.mark.parametrize(("why", "said"), OTHERS.items())
def test_another_host_is_refused_with_its_name_and_the_reason(
    why: str, said: Mapping[str, str]
) -> None:
    with pytest.raises(MachineError, match="Debian 12 or 13") as raised:
        host_release.release(said)
    problem = raised.value.problems[0]
    assert why in problem.message
    assert said.get("PRETTY_NAME", "") in problem.message
    assert problem.hint is not None
    assert "container" in problem.hint


@pytest.mark.parametrize("said", [DEBIAN, *OTHERS.values()])
def test_a_host_without_debian_s_apt_and_gpgv_is_refused(
    said: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_programs(tmp_path, monkeypatch)
    with pytest.raises(MachineError, match=r"has no apt of Debian 12 or 13, .* and no gpgv") as no:
        host_release.check(said)
    assert no.value.problems[0].hint == "apt-get install gpgv"


@pytest.mark.parametrize("said", OTHERS.values())
def test_a_host_that_is_not_debian_has_debian_12_s_packages_from_its_archive(
    said: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_programs(tmp_path, monkeypatch, "gpgv", "apt-get", "apt-cache")
    found = host_release.check(said)
    assert (found.codename, found.has_apt) == ("bookworm", False)
    assert found.title == (
        f"{said.get('PRETTY_NAME', 'an unknown system')}, with packages of Debian's bookworm from"
        " its archive"
    )


def test_a_debian_without_apt_has_its_own_release_s_packages_from_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_programs(tmp_path, monkeypatch, "gpgv")
    found = host_release.check(DEBIAN)
    assert (found.codename, found.has_apt) == ("trixie", False)
    with_programs(tmp_path, monkeypatch, "apt-get", "apt-cache")
    assert host_release.check(DEBIAN).has_apt


def with_programs(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have no programs but these."""
    for name in names:
        (folder / name).symlink_to("/bin/false")
    monkeypatch.setattr("hardcost.host.process._SYSTEM_PROGRAMS", str(folder))
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["bill", "audit-samples"], "and no gpgv"),
        (["run", "audit-rules", "--dry-run"], "and no gpgv"),
        (["image", "build", "debian"], "it is not Debian"),
        (["kernel", "build"], "and no gpgv"),
        (["rules", "cost", "some.rules", "--measure"], "and no gpgv"),
    ],
)
def test_a_verb_that_needs_packages_says_so_before_all_else(
    words: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_programs(tmp_path, monkeypatch)
    status = _run(words, tmp_path, monkeypatch)
    said = capsys.readouterr().err
    assert status == 3
    assert said.count("error:") == 1
    assert "Fedora Linux 42" in said
    assert why in said
    assert not list(tmp_path.rglob("*.deb"))


def test_doctor_names_nothing_but_the_host_where_nothing_can_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_programs(tmp_path, monkeypatch)
    assert _run(["doctor", "--format", "json"], tmp_path, monkeypatch) == 1
    (check,) = json.loads(capsys.readouterr().out)
    assert check["name"] == "host"
    assert not check["ok"]
    assert "Fedora Linux 42" in check["found"]
    assert check["remedy"]


def _run(words: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Run the command on a host that says it is another, and return its status."""
    (folder / "some.rules").write_text("-a always,exit -S open -k k\n")
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: OTHERS["not Debian"])
    monkeypatch.setenv("HARDCOST_CACHE", str(folder / "cache"))
    monkeypatch.setenv("HARDCOST_STORE", str(folder / "store.sqlite"))
    monkeypatch.setattr(sys, "argv", ["hardcost", *words])
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code
