"""Every verb, end to end: those that measure do so on a machine that computes its answers.

What is printed is compared, word for word, with the texts beside this file. The other programs of
the host are hidden, so that `doctor` and its like find the same everywhere.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hardcost.cli.command import hardcost
from hardcost.host import sandbox
from hardcost.machines.vm import confinement, guest_user
from hardcost.supply.cache.cache import Cache
from tests.cli.verbs.conversation import check, said
from tests.cli.verbs.conversations import CONVERSATIONS, FILES
from tests.supply.kernels import linux

ABOUT = {
    "source": "linux",
    "base": "lean",
    "options": "A=y",
    "patches": "flat/1.patch\nflat/2.patch",
    "tools": "gcc",
    "seconds": "7",
    "steps": "9",
    "sha256": "0",
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder with an empty store and a small cache, on a host without programs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "store" / "x.sqlite"))
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "programs").mkdir()
    for name in ("apt-get", "apt-cache", "dpkg-deb"):
        (tmp_path / "programs" / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "programs" / name).chmod(0o755)
    linux.make(tmp_path / "linux")
    Cache().make("kernels", "0123456789abcdef", "Linux 6.1.9, lean", _fill)
    known = (confinement.sandbox_words, guest_user.ways, sandbox._start)
    for each in known:
        each.cache_clear()
    yield
    for each in known:
        each.cache_clear()


def _fill(folder: Path) -> None:
    """Put into a folder of the cache what a kernel's build leaves there."""
    texts = {
        "release": "6.1.9-hardcost",
        "config": FILES["config"],
        "about.json": json.dumps(ABOUT),
    }
    for name, text in {**texts, "vmlinux": "", "System.map": ""}.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_verb_says_what_it_always_said(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    check(name, "\n".join(said(words, capsys) for words in CONVERSATIONS[name]))


def _verbs(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command that is no group; forget what click remembers of each."""
    command._help_option = None  # it has other names where a test has called the command by itself
    if not isinstance(command, click.Group):
        yield path
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from _verbs(below, (*path, name))


def test_every_verb_has_its_conversation() -> None:
    spoken = [tuple(shlex.split(words)) for one in CONVERSATIONS.values() for words in one]
    silent = [
        verb for verb in _verbs(hardcost) if not any(one[: len(verb)] == verb for one in spoken)
    ]
    assert not silent


def test_the_help_of_every_verb_says_what_it_always_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    groups = {verb[:1] for verb in _verbs(hardcost) if len(verb) > 1}
    paths = sorted({(), *groups, *_verbs(hardcost)})
    check("help", "\n".join(said(" ".join((*path, "--help")), capsys) for path in paths))
