from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "wildcard-path"


@pytest.mark.parametrize(
    "rule",
    [
        "-w /home/*/.ssh/ -p wa -k x",
        "-a always,exit -F arch=b64 -S all -F path=/etc/ssh/*.pub -k x",
        "-a always,exit -F dir=/srv/? -F perm=wa -k x",
        "-a never,exit -F exe=/usr/lib/jvm/*/bin/java",
    ],
)
def test_a_wildcard_in_a_path_is_found(lint: Lint, rule: str) -> None:
    (found,) = lint(CODE, rule)
    assert "taken literally" in found.message


def test_a_key_with_one_and_plain_paths_are_none(lint: Lint) -> None:
    assert not lint(CODE, "-w /etc/shadow -p wa -k a*b?")


def test_a_file_of_that_very_name_is_none(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "a*").touch()
    assert not lint(CODE, "-w /a* -p wa -k x", root=tmp_path)
    assert lint(CODE, "-w /b* -p wa -k x", root=tmp_path)
