"""`hardcost bill` before anything is fetched or booted."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from hardcost.cli import process
from hardcost.cli.command import hardcost
from hardcost.errors import InputError
from hardcost.library.profiles import check
from hardcost.profiles import catalogue

FAULTY = """\
-a always,exit -F arch=b33 -S chmod -k a
-a always,exit -F arch=b64 -S nosuch -k a
-w /etc/passwd -p wa
-w /etc/passwd -p wa
"""


def bill(*words: str) -> None:
    hardcost.main(["bill", *words], standalone_mode=False)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "x.sqlite"))
    return tmp_path / "cache"


def test_rules_that_auditctl_refuses_are_reported_before_anything_is_fetched(
    tmp_path: Path, cache: Path
) -> None:
    rules = tmp_path / "my.rules"
    rules.write_text(FAULTY)
    with pytest.raises(InputError) as raised:
        bill(str(rules))
    assert [str(one.place) for one in raised.value.problems] == [
        f"{rules}:1:19",
        f"{rules}:2:31",
        f"{rules}:4",
    ]
    assert all(one.hint for one in raised.value.problems)
    assert not cache.exists()


def test_below_a_line_that_asks_to_go_on_the_guest_decides(tmp_path: Path) -> None:
    rules = tmp_path / "my.rules"
    rules.write_text(f"-i\n{FAULTY}")
    check(catalogue.load(str(rules)))


def test_rules_that_load_are_not_refused(tmp_path: Path) -> None:
    rules = tmp_path / "my.rules"
    rules.write_text("-w /etc/passwd -p wa\n-a always,exit -F arch=b64 -S chmod -F auid=nobody\n")
    check(catalogue.load(str(rules)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a=1"], "not a sysctl"),
        (["--sysctl", "x"], "--sysctl"),
        (["kernel.x=1", "kernel.x=1"], "named twice"),
        (["kernel.x=1", "--budget", "nul=1%"], "no metric 'nul'"),
        (["kernel.x=1", "kernel.x=2", "--method", "search"], "one profile at a time"),
    ],
)
@pytest.mark.usefixtures("cache")
def test_what_cannot_be_billed_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        bill(*words)


@pytest.mark.usefixtures("cache")
def test_without_a_profile_or_a_setting_it_says_what_is_missing() -> None:
    with pytest.raises(click.UsageError, match="--sysctl, --boot or --lsm"):
        bill()


@pytest.mark.parametrize(("word", "remedy"), [("fresh", "cold"), ("snapshot", "snapshot")])
@pytest.mark.parametrize("verb", ["run", "bill", "gate", "advise", "hotspots", "trace"])
def test_boot_takes_words_of_the_kernel_and_start_how_trials_start(
    verb: str, word: str, remedy: str
) -> None:
    with pytest.raises(InputError, match=f"'{word}' is no word of the kernel") as raised:
        hardcost.main([verb, "x", "--boot", word], standalone_mode=False)
    assert f"--start {remedy}" in str(raised.value.problems[0].hint)


def test_what_was_typed_is_kept_with_the_folder_if_a_path_begins_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["/x/bin/hardcost", "run", "my study.toml", "--format=json"])
    assert process.words() == ("hardcost", "run", "my study.toml", "--format=json")
    assert not process.folder()
    (tmp_path / "my study.toml").touch()
    assert process.folder() == str(tmp_path)
