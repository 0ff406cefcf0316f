from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hardcost.cli.command import hardcost
from hardcost.errors import InputError
from hardcost.profiles import catalogue

REPORT = [
    ["CONFIG_KEXEC", "kconfig", "is not set", "kspp", "cut_attack_surface", 'FAIL: "y"'],
    ["nokaslr", "cmdline", "is not set", "defconfig", "self_protection", 'FAIL: ""'],
    ["kernel.kptr_restrict", "sysctl", "2", "kspp", "cut_attack_surface", 'FAIL: "0"'],
]
BROKEN = "[\n["


def run(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(hardcost, ["import", "khc", *words], input=stdin)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(REPORT))
    return path


def test_a_report_becomes_a_profile_that_can_be_loaded(report: Path, tmp_path: Path) -> None:
    output = tmp_path / "failing.toml"
    result = run(str(report), "-o", str(output))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"2 settings in {output}; 1 left out\n"
    profile = catalogue.load(str(output))
    assert [one.name for one in profile.controls] == [
        "kernel.kptr_restrict=2",
        "kernel lean",
        "KEXEC=n",
    ]
    assert len(profile.notes) == 1
    assert sorted(tmp_path.iterdir()) == [output, report]


def test_stdin_goes_to_stdout(tmp_path: Path) -> None:
    result = run("-", stdin=json.dumps(REPORT))
    assert result.exit_code == 0
    assert "2 settings; 1 left out" in result.stderr
    path = tmp_path / "x.toml"
    path.write_text(result.stdout)
    assert (
        catalogue.load(str(path)).title == "Checks of kernel-hardening-checker that fail in stdin"
    )


def test_a_file_is_replaced_and_a_link_stays_one(report: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "target.toml", tmp_path / "link.toml"
    target.write_text("old")
    link.symlink_to(target)
    assert run(str(report), "-o", str(link)).exit_code == 0
    assert link.is_symlink()
    assert target.read_text().startswith("title = ")


def test_what_is_no_file_is_written_to(report: Path) -> None:
    assert run(str(report), "-o", "/dev/null").exit_code == 0


def test_nothing_is_written_where_the_report_is_broken(tmp_path: Path) -> None:
    output = tmp_path / "failing.toml"
    output.write_text("old")
    result = run("-", "-o", str(output), stdin=BROKEN)
    assert isinstance(result.exception, InputError)
    assert str(result.exception.problems[0].place) == "stdin:2:2"
    assert (result.stdout, output.read_text()) == ("", "old")
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize("name", ["/nonexistent/report.json", "x" * 5000])
def test_a_report_that_cant_be_read_is_reported(name: str) -> None:
    result = run(name)
    assert isinstance(result.exception, InputError)
    assert "can't be read: " in str(result.exception)


def test_a_report_that_is_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, why in ((str(tmp_path / "pipe"), "it is a pipe"), ("/dev/zero", "it is a device")):
        result = run(name)
        assert isinstance(result.exception, InputError)
        assert why in str(result.exception)


@pytest.mark.parametrize("name", ["/nonexistent/x.toml", "x" * 5000])
def test_a_profile_that_cant_be_written_is_reported(report: Path, name: str) -> None:
    result = run(str(report), "-o", name)
    assert isinstance(result.exception, InputError)
    assert "can't be written: " in str(result.exception)


@pytest.mark.parametrize("words", [(), ("a", "b"), ("/",), ("-", "-o", "/")])
def test_bad_usage_is_reported(words: tuple[str, ...]) -> None:
    assert run(*words).exit_code == 2


@pytest.mark.parametrize("words", [["import"], ["import", "khc"]])
def test_the_verb_says_how_to_use_it(words: list[str]) -> None:
    result = CliRunner().invoke(hardcost, [*words, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output
