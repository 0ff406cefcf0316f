from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "dir-for-file"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/etc/shadow", "/usr/bin/su", "/sbin/init", "/var/log/lastlog"]
)
def test_what_is_a_file_everywhere_needs_no_tree(lint: Lint, path: str) -> None:
    (found,) = lint(CODE, f"-a always,exit -F dir={path} -F perm=wa -k x")
    assert (found.spot.column, f"-F path={path}" in found.remedy) == (19, True)
    assert found.cost is not None
    assert lint(CODE, f"-w {path}/ -p wa -k x")


@pytest.mark.parametrize("path", ["/etc", "/etc/sudoers.d", "/usr/bin", "/usr/bin/X11", "/srv/x"])
def test_what_may_be_a_directory_is_left_alone(lint: Lint, path: str) -> None:
    assert not lint(CODE, f"-a always,exit -F dir={path} -F perm=wa -k x")


def test_a_watched_file_is_watched_as_a_file(lint: Lint) -> None:
    assert not lint(CODE, "-w /etc/passwd -p wa -k x")


def test_what_lies_there_decides_where_it_can_be_looked_at(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "srv").mkdir()
    (tmp_path / "srv" / "x").write_text("")
    (tmp_path / "etc" / "passwd").mkdir(parents=True)
    assert lint(CODE, "-a always,exit -F dir=/srv/x -F perm=wa -k x", root=tmp_path)
    assert not lint(CODE, "-a always,exit -F dir=/srv -F perm=wa -k x", root=tmp_path)
    assert not lint(CODE, "-a always,exit -F dir=/etc/passwd -F perm=wa -k x", root=tmp_path)
