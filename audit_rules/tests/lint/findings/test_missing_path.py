from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "missing-path"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "shadow").write_text("")
    return tmp_path


def test_nothing_is_looked_for_without_a_root(lint: Lint) -> None:
    assert not lint(CODE, "-w /nowhere/at/all -p wa -k x")


def test_what_lies_there_is_not_missing(lint: Lint, root: Path) -> None:
    assert not lint(
        CODE, "-w /etc/shadow -p wa -k x", "-a always,exit -F dir=/etc -F perm=wa -k y", root=root
    )


def test_a_missing_file_is_waited_for_and_a_missing_tree_refused(lint: Lint, root: Path) -> None:
    found = lint(
        CODE,
        "-w /etc/paswd -p wa -k x",
        "-a always,exit -F dir=/srv -F perm=wa -k x",
        "-w /srv/x -p wa -k x",
        "-a always,exit -F exe=/etc/vim -S all -k x",
        root=root,
    )
    assert [(one.spot.line, one.spot.column, one.level) for one in found] == [
        (1, 4, "warning"),
        (2, 19, "error"),
        (3, 4, "error"),
        (4, 19, "warning"),
    ]


def test_links_are_followed_within_the_root_alone(lint: Lint, root: Path) -> None:
    outside = root.parent / "outside"
    outside.write_text("")
    (root / "etc" / "inside").symlink_to("/etc/shadow")
    (root / "etc" / "out").symlink_to(outside)
    (root / "etc" / "up").symlink_to("../../../../../../etc/shadow")
    (root / "etc" / "loop").symlink_to("loop")
    found = lint(
        CODE,
        *(f"-w /etc/{name} -p wa -k x" for name in ("inside", "up", "out", "loop")),
        root=root,
    )
    assert [one.spot.line for one in found] == [3, 4]


def test_what_may_not_be_looked_at_is_not_called_missing(
    lint: Lint, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str | Path) -> os.stat_result:
        if "closed" in str(path):
            raise PermissionError(str(path))
        return looked(path)

    looked = os.lstat
    monkeypatch.setattr("auditrules.load.root.os.lstat", refuse)
    rules = ("-w /closed/x -p wa -k x", "-a always,exit -F dir=/closed -F perm=wa -k x")
    assert not lint(CODE, *rules, root=root)
    assert not lint("dir-for-file", *rules, root=root)
