"""Fifty hostile roots: nothing outside is read, nothing is executed, and all text prints clean."""

from __future__ import annotations

import itertools
import json
import os
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from hardcost.cli.command import hardcost

OUTSIDE = """\
-w /outside/file -p wa -k outside
kernel.outside = 1
SELINUX=enforcing
GRUB_CMDLINE_LINUX="outside=1"
CONFIG_SLUB_DEBUG_ON=y
/dev/outside /outside ext4 noexec 0 0
options outside=1
"""
FILES = (
    "etc/audit/rules.d/a.rules",
    "etc/audit/audit.rules",
    "etc/sysctl.conf",
    "etc/sysctl.d/a.conf",
    "usr/lib/sysctl.d/a.conf",
    "etc/default/grub",
    "etc/default/grub.d/a.cfg",
    "etc/kernel/cmdline",
    "etc/selinux/config",
    "etc/fstab",
    "boot/config-6.1.0-1-amd64",
    "boot/loader/entries/a.conf",
)
FOLDERS = (
    *("etc/audit/rules.d", "etc/sysctl.d", "etc/default/grub.d", "boot", "boot/loader/entries"),
    *("etc/systemd/system/multi-user.target.wants", "usr/lib/modules"),
)
NAMES = (
    "\x1b[2Ja",
    "\x1b]0;title\x07",
    "new\nline",
    "back\rover",
    "tab\tand\x08back",
    "\u202eright-to-left",
    "\u200bnothing\ufeff",
    "$(touch canary)",
    "`touch canary`",
    "; touch canary #",
    "'\"quoted\\",
    "{{ 7 * 7 }}",
    "<script>alert(1)</script>",
    "]]> --> {# %",
    "| pipe | table |",
    "[link](javascript:x)",
    "-rf",
    "*",
    os.fsdecode(b"bytes\xff\xfe"),
    "a" * 200,
)
"""Names of files, keys and units."""


def place(root: Path, name: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def linked(name: str, to: Callable[[Path], str]) -> Callable[[Path, Path], None]:
    """Return what makes a file or folder of a root lead outside."""

    def make(root: Path, outside: Path) -> None:
        place(root, name).symlink_to(to(outside))

    return make


def named(name: str) -> Callable[[Path, Path], None]:
    """Return what puts a name wherever a root may have one of its own."""
    word = name.replace("\n", " ").encode(errors="surrogateescape")

    def make(root: Path, _outside: Path) -> None:
        file = name.replace("/", "_")
        place(root, f"etc/audit/rules.d/{file}.rules").write_bytes(
            b"-w /srv/%b -p wa -k %b\n-w %b\n%b\n" % (word, word, word, word)
        )
        place(root, f"etc/sysctl.d/{file}.conf").write_bytes(
            b"kernel.%b = %b\nkernel.kptr_restrict = %b\n" % (word, word, word)
        )
        place(root, "etc/default/grub").write_bytes(b'GRUB_CMDLINE_LINUX="%b=%b"\n' % (word, word))
        place(root, "etc/fstab").write_bytes(b"/dev/b /%b ext4 noexec,%b 0 0\n" % (word, word))
        place(root, f"etc/systemd/system/multi-user.target.wants/{file}.service").touch()

    return make


def fifo(root: Path, _outside: Path) -> None:
    for name in FILES:
        os.mkfifo(place(root, name))


def listening(root: Path, _outside: Path) -> None:
    place(root, "etc/sysctl.d/x").parent.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    os.chdir(root / "etc/sysctl.d")
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("a.conf")
    finally:
        os.chdir(before)


def loops(root: Path, _outside: Path) -> None:
    for name in FILES:
        place(root, name).symlink_to(name.rpartition("/")[2])


def folders_for_files(root: Path, _outside: Path) -> None:
    for name in FILES:
        (place(root, name) / "inner").mkdir(parents=True)


def programs(root: Path, outside: Path) -> None:
    """Put programs of the names that are started on a live machine, which leave a mark."""
    for name in ("auditctl", "bpftool", "perf", "sh", "strace", "sysctl"):
        file = place(root, f"usr/sbin/{name}")
        file.write_text(f"#!/bin/sh\ntouch {outside}/canary\n")
        file.chmod(0o755)


def odd_bytes(root: Path, _outside: Path) -> None:
    for name in FILES:
        place(root, name).write_bytes(bytes(range(256)) * 40)


ABSOLUTE = [linked(name, lambda outside: f"{outside}/secret") for name in FILES]
UPWARD = [linked(FOLDERS[0], lambda outside: "../" * 40 + str(outside).lstrip("/"))]
INTO = [linked(name, str) for name in FOLDERS]
ROOTS = (
    *ABSOLUTE,
    *INTO,
    *UPWARD,
    *map(named, NAMES),
    *(fifo, listening, loops, folders_for_files, programs, odd_bytes),
    *(
        linked("etc/sysctl.d/a.conf", partial(str.format, to))
        for to in ("/proc/self/environ", "/dev/zero", "/dev/stdin", "../../../../../etc/passwd")
    ),
)


def tree(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what is in a folder, with what plain files hold."""
    for path in sorted(folder.rglob("*")):
        plain = path.is_file() and not path.is_symlink()
        yield str(path), path.read_bytes() if plain else b""


@pytest.mark.parametrize("at", range(len(ROOTS)))
def test_a_hostile_root_is_only_looked_at(
    tmp_path: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "etc").mkdir(parents=True)
    outside.mkdir()
    for name in ("secret", "a.rules", "a.conf", "a.cfg", "auditd.service", "config-6.1.0-1-amd64"):
        (outside / name).write_text(OUTSIDE)
    ROOTS[at](root, outside)
    monkeypatch.chdir(outside)
    before = list(itertools.chain(tree(root), tree(outside)))
    for form in ("text", "json", "markdown", "prometheus"):
        ended = CliRunner().invoke(hardcost, ["here", "--root", str(root), "--format", form])
        assert ended.exit_code == 0, ended.output
        said = ended.stdout + ended.stderr
        assert "outside" not in said.replace(str(outside), "")
        assert "SLUB_DEBUG_ON" not in said
        assert "enforcing" not in said
        assert "PATH=" not in said
        assert "root:x:0" not in said
        assert said.replace("\n", "").isprintable()
        if form == "json":
            json.loads(ended.stdout)
    assert list(itertools.chain(tree(root), tree(outside))) == before


def test_there_are_fifty() -> None:
    assert len(ROOTS) == 50
